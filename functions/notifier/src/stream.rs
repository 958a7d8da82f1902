use std::collections::HashMap;

use ledger::Change;
use runtime::StreamEvent;
use sale::{Order, ReservationId};
use serde_json::Value;

#[derive(Debug, Clone)]
pub(crate) struct StateChange {
    pub(crate) sequence_number: String,
    pub(crate) order: Order,
}

impl StateChange {
    /// The record's name. Sequence numbers are unique within a shard, and all changes of an order are in one shard.
    pub(crate) fn record(&self) -> String {
        format!("{} {}", self.sequence_number, self.order.reservation.id)
    }
}

/// The last change of each order in a batch. A record that cannot be read is skipped, or it would hold up all after it.
pub(crate) fn changes(event: StreamEvent) -> Vec<StateChange> {
    let mut changes: Vec<StateChange> = Vec::new();
    let mut positions: HashMap<ReservationId, usize> = HashMap::new();
    for record in &event.records {
        match read(record) {
            Ok(None) => {}
            Ok(Some(change)) => match positions.get(&change.order.reservation.id) {
                Some(position) => changes[*position] = change,
                None => {
                    positions.insert(change.order.reservation.id.clone(), changes.len());
                    changes.push(change);
                }
            },
            Err(error) => {
                let (event_id, error) = (record["eventID"].as_str(), &*error as &dyn std::error::Error);
                tracing::error!(event_id, error, "skipped an unreadable record");
            }
        }
    }
    changes
}

fn read(record: &Value) -> Result<Option<StateChange>, Box<dyn std::error::Error + Send + Sync>> {
    let change: Change = serde_json::from_value(record["dynamodb"].clone())?;
    let order = change.moved_order()?;
    Ok(order.map(|order| StateChange { sequence_number: change.sequence_number, order }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const PLACED: &str = include_str!("../../../events/emitter/placed.json");
    const PAID: &str = include_str!("../../../events/emitter/paid.json");
    const WITH_POISON: &str = include_str!("../../../events/notifier/with_poison.json");

    fn records(sample: &str) -> Vec<Value> {
        let sample: Value = serde_json::from_str(sample).unwrap();
        sample["changes"].as_array().unwrap().iter().map(|change| json!({ "dynamodb": change })).collect()
    }

    fn record(sample: &str) -> Value {
        records(sample).pop().unwrap()
    }

    /// The changes in these records, as status and sequence number.
    fn read(records: impl IntoIterator<Item = Value>) -> Vec<(&'static str, String)> {
        let event = serde_json::from_value(json!({ "Records": records.into_iter().collect::<Vec<_>>() })).unwrap();
        changes(event).into_iter().map(|change| (change.order.state.status(), change.sequence_number)).collect()
    }

    fn of_order(mut record: Value, uuid_end: &str) -> Value {
        let id = format!("lamp.1.0198f0b2a4c57d1e8f00aabbccdd{uuid_end}");
        record["dynamodb"]["NewImage"]["id"]["S"] = json!(id);
        record
    }

    #[test]
    fn an_order_that_is_made_or_moves_is_a_step() {
        assert_eq!(read([record(PLACED)]), [("pending_payment", "1100000000021".to_owned())]);
        assert_eq!(read([record(PAID)]), [("paid", "1100000000022".to_owned())]);
    }

    #[test]
    fn an_order_that_wins_in_a_draw_is_a_step_once() {
        let mut won = record(PAID);
        for image in ["OldImage", "NewImage"] {
            won["dynamodb"][image]["state"]["S"] = json!("GRANTED");
        }
        let award = json!({ "M": { "kind": { "S": "prize" }, "prize": { "N": "1" } } });
        won["dynamodb"]["NewImage"]["award"] = award.clone();
        assert_eq!(read([won.clone()]), [("granted", "1100000000022".to_owned())]);
        won["dynamodb"]["OldImage"]["award"] = award;
        assert_eq!(read([won]), []);
    }

    #[test]
    fn other_writes_are_none() {
        let mut noted = record(PAID);
        noted["dynamodb"]["OldImage"]["state"]["S"] = json!("PAID");
        noted["dynamodb"]["NewImage"]["refunds_due"] = json!({ "SS": ["pay_1"] });
        let mut removed = record(PAID);
        removed["eventName"] = json!("REMOVE");
        removed["dynamodb"].as_object_mut().unwrap().remove("NewImage");
        let mut keys_only = record(PAID);
        keys_only["dynamodb"].as_object_mut().unwrap().retain(|name, _| !name.ends_with("Image"));
        let mut guard = record(PLACED);
        guard["dynamodb"]["NewImage"] = json!({ "pk": { "S": "UNIT#lamp#1#17" }, "unit": { "N": "17" } });
        let of_merchants =
            [include_str!("../../../events/emitter/round.json"), include_str!("../../../events/emitter/refund.json")];
        assert_eq!(read(of_merchants.map(record)), [], "what the merchant's systems are told of");
        assert_eq!(read([noted, removed, keys_only, guard]), []);
        assert_eq!(changes(serde_json::from_str("{}").unwrap()).len(), 0);
    }

    #[test]
    fn without_an_old_image_every_write_is_a_step() {
        let mut new_only = record(PAID);
        new_only["dynamodb"].as_object_mut().unwrap().remove("OldImage");
        assert_eq!(read([new_only]).len(), 1);
    }

    #[test]
    fn a_record_that_cannot_be_read_takes_no_other_with_it() {
        let mut records = records(WITH_POISON);
        let mut unknown_state = of_order(record(PLACED), "0001");
        unknown_state["dynamodb"]["NewImage"]["state"]["S"] = json!("LOST");
        let mut no_place = of_order(record(PLACED), "0002");
        no_place["dynamodb"].as_object_mut().unwrap().remove("SequenceNumber");
        let mut no_type = of_order(record(PLACED), "0003");
        no_type["dynamodb"]["NewImage"]["unit"] = json!({ "X": "17" });
        records.splice(0..0, [json!(null), json!(7), json!([]), json!({}), unknown_state, no_place, no_type]);
        assert_eq!(read(records), [("cancelled", "1100000000024".to_owned())]);
    }

    #[test]
    fn of_one_order_the_last_step_counts() {
        let read = read([record(PLACED), of_order(record(PLACED), "0001"), record(PAID)]);
        assert_eq!(read.iter().map(|(status, _)| *status).collect::<Vec<_>>(), ["paid", "pending_payment"]);
    }
}
