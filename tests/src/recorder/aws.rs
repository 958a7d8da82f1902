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
    let key = field(&request["Key"], "pk");
    match target.rsplit('.').next()? {
        "TransactWriteItems" => transaction(request, answer, is_ok, names).unwrap_or_else(unknown),
        "PutItem" if field(&request["Item"], "pk").starts_with(ORDER) => {
            let item = &request["Item"];
            let written = match error(answer) {
                _ if is_ok => Written::Made,
                PUT_FAILED => Written::There(state(&answer["Item"])),
                _ => return None,
            };
            Some(Effect::Fence { seat: seat(item, "id", names), state: state(item), answer: written })
        }
        "PutItem" if is_known(field(&request["Item"], "pk")) => unknown(),
        "UpdateItem" | "DeleteItem" if is_known(key) => unknown(),
        "GetItem" if is_ok && key.starts_with(ORDER) => {
            let id = names.id(key);
            Some(Effect::ReadOrder { id, found: answer.get("Item").map(state) })
        }
        "GetItem" if is_ok && key.starts_with(UNIT) => {
            let unit: u8 = key.rsplit('#').next()?.parse().ok()?;
            let found = answer.get("Item").map(|item| names.id(field(item, "order_id")));
            Some(Effect::ReadUnit { unit: unit - 1, found })
        }
        "SendMessage" if is_ok => sent(request, queues, names),
        // The model's processes send one message at a time.
        "SendMessageBatch" if is_ok => unknown(),
        _ => None,
    }
}

fn error(answer: &Value) -> &str {
    answer["__type"].as_str().and_then(|kind| kind.rsplit('#').next()).unwrap_or_default()
}

fn is_known(pk: &str) -> bool {
    [ORDER, UNIT, SLOT].iter().any(|kind| pk.starts_with(kind))
}

/// None if it writes to modelled items in a way that no transaction of the model does.
fn transaction(request: &Value, answer: &Value, is_ok: bool, names: &mut Names) -> Option<Option<Effect>> {
    let items = request["TransactItems"].as_array()?;
    let written: Vec<(&str, &Value, &str)> = items
        .iter()
        .filter_map(|item| item.as_object()?.iter().next())
        .map(|(kind, write)| {
            let pk = if kind == "Put" { field(&write["Item"], "pk") } else { field(&write["Key"], "pk") };
            (kind.as_str(), write, pk)
        })
        .collect();
    let is = |at: usize, kind: &str, key: &str| {
        written.get(at).is_some_and(|(its_kind, _, pk)| *its_kind == kind && pk.starts_with(key))
    };
    if !written.iter().any(|(_, _, pk)| is_known(pk)) {
        return Some(None);
    }
    let reasons: Vec<&Value> = answer["CancellationReasons"].as_array().into_iter().flatten().collect();
    let failed = |at: usize| reasons.get(at).is_some_and(|reason| reason["Code"] == CONDITION_FAILED);
    let old = |at: usize| reasons.get(at).map(|reason| &reason["Item"]).filter(|item| item.is_object());
    if !is_ok && !(0..written.len()).any(failed) {
        return Some(None);
    }
    let (_, first, pk) = written[0];
    let effect = if written.len() == 3 && is(0, "Put", ORDER) && is(1, "Put", UNIT) && is(2, "Put", SLOT) {
        let seat = seat(&first["Item"], "id", names);
        let answer = match old(0) {
            _ if is_ok => Written::Made,
            Some(order) if failed(0) => Written::There(state(order)),
            _ if failed(1) => Written::UnitTaken,
            _ => Written::SlotTaken,
        };
        Effect::Place { seat, answer }
    } else if written.len() == 3 && is(0, "Update", ORDER) && is(1, "Delete", UNIT) && is(2, "Delete", SLOT) {
        let to = match field(&first["ExpressionAttributeValues"], ":to") {
            "EXPIRED" => OrderState::Expired,
            "CANCELLED" => OrderState::Cancelled,
            _ => return None,
        };
        let answer = match old(0) {
            _ if is_ok => Written::Made,
            Some(order) => Written::There(state(order)),
            None => Written::Absent,
        };
        Effect::End { id: names.id(pk), to, answer }
    } else if written.len() == 2 && is(0, "Update", ORDER) && is(1, "Update", PAYMENT) {
        let id = names.id(pk);
        match field(&first["ExpressionAttributeValues"], ":to") {
            "PAID" => Effect::Pay { id, taken: is_ok },
            _ if is_ok => Effect::Refund { id },
            // This very payment has paid it.
            _ => Effect::Pay { id, taken: false },
        }
    } else {
        return None;
    };
    Some(Some(effect))
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
        let pk = field(item, "pk");
        if pk.starts_with(ORDER) {
            let Seat { id, unit, slot } = seat(item, "id", names);
            ledger.orders[usize::from(id)] = Some(Order { state: state(item), unit, slot });
            ledger.refunds[usize::from(id)] = item["refunds_due"]["SS"].as_array().is_some_and(|due| !due.is_empty());
        } else if pk.starts_with(UNIT) {
            let Seat { id, unit, slot } = seat(item, "order_id", names);
            ledger.units[usize::from(unit)] = Some((id, slot));
        } else if pk.starts_with(SLOT) {
            let Seat { id, slot, .. } = seat(item, "order_id", names);
            let user = names.user(field(item, "user"));
            ledger.slots[usize::from(user)][usize::from(slot)] = Some(id);
        }
    }
    ledger
}
