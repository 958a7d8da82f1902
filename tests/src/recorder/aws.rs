//! Requests to DynamoDB and SQS, as effects of the model.

use model::trace::{Effect, Written};
use model::{Ledger, Order, OrderState, Seat};
use serde_json::Value;

use super::names::Names;

/// Key prefixes of modelled items.
const ORDER: &str = "ORDER#";
const UNIT: &str = "UNIT#";
const SLOT: &str = "SLOT#";
const PAYMENT: &str = "PAYMENT#";
const CONDITION_FAILED: &str = "ConditionalCheckFailed";
const PUT_FAILED: &str = "ConditionalCheckFailedException";

#[derive(Debug, Clone)]
pub struct Queues {
    pub orders: String,
    pub expiry: String,
}

/// A field of an item in DynamoDB's JSON: `{"S": "text"}`.
fn field<'a>(item: &'a Value, name: &str) -> &'a str {
    let value = &item[name];
    value["S"].as_str().or_else(|| value["N"].as_str()).unwrap_or_default()
}

fn small(item: &Value, name: &str) -> u8 {
    field(item, name).parse().unwrap_or_else(|_| panic!("{name} of {item}"))
}

fn seat(item: &Value, id: &str, names: &mut Names) -> Seat {
    let id = names.id_of(field(item, "user"), field(item, id));
    Seat { id, unit: small(item, "unit") - 1, slot: small(item, "slot") }
}

fn state(item: &Value) -> OrderState {
    match (field(item, "state"), field(item, "failure")) {
        ("PENDING", _) => OrderState::Pending,
        ("PAID", _) => OrderState::Paid,
        ("EXPIRED", _) => OrderState::Expired,
        ("CANCELLED", _) => OrderState::Cancelled,
        ("FAILED", "sold_out") => OrderState::SoldOut,
        ("FAILED", _) => OrderState::Failed,
        (other, _) => panic!("the model has no order in the state {other}"),
    }
}

/// The effect of a request with this answer. None for requests outside the model, and for those that failed because of a
/// concurrent transaction, which are retried.
pub(crate) fn effect(
    target: &str,
    request: &Value,
    answer: &Value,
    is_ok: bool,
    queues: &Queues,
    names: &mut Names,
) -> Option<Effect> {
    let unknown = || Some(Effect::Unknown { what: format!("{target} {request}") });
    let item = &request["Item"];
    let pk = field(if item.is_null() { &request["Key"] } else { item }, "pk");
    match (target.rsplit('.').next()?, prefix(pk)) {
        ("TransactWriteItems", _) => transaction(request, answer, is_ok, names).unwrap_or_else(unknown),
        ("PutItem", ORDER) => {
            let written = match answer["__type"].as_str().and_then(|kind| kind.rsplit('#').next()) {
                _ if is_ok => Written::Made,
                Some(PUT_FAILED) => Written::There(state(&answer["Item"])),
                _ => return None,
            };
            Some(Effect::Fence { seat: seat(item, "id", names), state: state(item), answer: written })
        }
        ("PutItem" | "UpdateItem" | "DeleteItem", ORDER | UNIT | SLOT) => unknown(),
        ("GetItem", ORDER) if is_ok => {
            Some(Effect::ReadOrder { id: names.id(pk), found: answer.get("Item").map(state) })
        }
        ("GetItem", UNIT) if is_ok => {
            let unit: u8 = pk.rsplit('#').next()?.parse().ok()?;
            let found = answer.get("Item").map(|item| names.id(field(item, "order_id")));
            Some(Effect::ReadUnit { unit: unit - 1, found })
        }
        ("SendMessage", _) if is_ok => sent(request, queues, names),
        // The model's processes send one message at a time.
        ("SendMessageBatch", _) if is_ok => unknown(),
        _ => None,
    }
}

/// The kind of item that a key is of.
fn prefix(pk: &str) -> &str {
    pk.split_inclusive('#').next().unwrap_or_default()
}

/// None if it writes to modelled items in a way that no transaction of the model does.
fn transaction(request: &Value, answer: &Value, is_ok: bool, names: &mut Names) -> Option<Option<Effect>> {
    let items = request["TransactItems"].as_array()?.iter();
    let writes = items.filter_map(|item| item.as_object()?.iter().next());
    let writes = writes.map(|(kind, write)| {
        let pk = field(&write[if kind == "Put" { "Item" } else { "Key" }], "pk");
        (kind.as_str(), write, pk)
    });
    let writes: Vec<(&str, &Value, &str)> = writes.collect();
    let kinds: Vec<(&str, &str)> = writes.iter().map(|(kind, _, pk)| (*kind, prefix(pk))).collect();
    if !kinds.iter().any(|(_, prefix)| [ORDER, UNIT, SLOT].contains(prefix)) {
        return Some(None);
    }
    let reasons: Vec<&Value> = answer["CancellationReasons"].as_array().into_iter().flatten().collect();
    let failed = |at: usize| reasons.get(at).is_some_and(|reason| reason["Code"] == CONDITION_FAILED);
    if !is_ok && !(0..writes.len()).any(failed) {
        return Some(None);
    }
    let old = reasons.first().map(|reason| &reason["Item"]).filter(|item| item.is_object());
    let (_, first, pk) = writes[0];
    let to = field(&first["ExpressionAttributeValues"], ":to");
    Some(Some(match kinds[..] {
        [("Put", ORDER), ("Put", UNIT), ("Put", SLOT)] => {
            let answer = match old {
                _ if is_ok => Written::Made,
                Some(order) if failed(0) => Written::There(state(order)),
                _ if failed(1) => Written::UnitTaken,
                _ => Written::SlotTaken,
            };
            Effect::Place { seat: seat(&first["Item"], "id", names), answer }
        }
        [("Update", ORDER), ("Delete", UNIT), ("Delete", SLOT)] => {
            let to = match to {
                "EXPIRED" => OrderState::Expired,
                "CANCELLED" => OrderState::Cancelled,
                _ => return None,
            };
            let answer = match old {
                _ if is_ok => Written::Made,
                Some(order) => Written::There(state(order)),
                None => Written::Absent,
            };
            Effect::End { id: names.id(pk), to, answer }
        }
        [("Update", ORDER), ("Update", PAYMENT)] => match to {
            "PAID" => Effect::Pay { id: names.id(pk), taken: is_ok },
            _ if is_ok => Effect::Refund { id: names.id(pk) },
            // This very payment has paid it.
            _ => Effect::Pay { id: names.id(pk), taken: false },
        },
        _ => return None,
    }))
}

fn sent(request: &Value, queues: &Queues, names: &mut Names) -> Option<Effect> {
    let body: Value = serde_json::from_str(request["MessageBody"].as_str()?).ok()?;
    let id = body["id"].as_str()?;
    match request["QueueUrl"].as_str()? {
        url if url == queues.orders => {
            let number = |name: &str| body[name].as_u64().map(|number| number as u8);
            let id = names.id_of(body["user"].as_str()?, id);
            Some(Effect::SendOrder { seat: Seat { id, unit: number("unit")? - 1, slot: number("slot")? } })
        }
        url if url == queues.expiry => Some(Effect::SendExpiry { id: names.id(id) }),
        _ => None,
    }
}

/// The orders and guards among the items of a table.
pub(crate) fn ledger<'a>(items: impl IntoIterator<Item = &'a Value>, names: &mut Names) -> Ledger {
    let mut ledger = Ledger::default();
    for item in items {
        match prefix(field(item, "pk")) {
            ORDER => {
                let Seat { id, unit, slot } = seat(item, "id", names);
                ledger.orders[usize::from(id)] = Some(Order { state: state(item), unit, slot });
                let due = item["refunds_due"]["SS"].as_array();
                ledger.refunds[usize::from(id)] = due.is_some_and(|due| !due.is_empty());
            }
            UNIT => {
                let Seat { id, unit, slot } = seat(item, "order_id", names);
                ledger.units[usize::from(unit)] = Some((id, slot));
            }
            SLOT => {
                let Seat { id, slot, .. } = seat(item, "order_id", names);
                let user = names.user(field(item, "user"));
                ledger.slots[usize::from(user)][usize::from(slot)] = Some(id);
            }
            _ => {}
        }
    }
    ledger
}
