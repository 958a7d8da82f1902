use std::collections::HashMap;

use aws_sdk_dynamodb::primitives::Blob;
use aws_sdk_dynamodb::types::AttributeValue;
use sale::{
    EpochMs, Lane, MAX_PAYMENT_WINDOW_S, MAX_SALE_DURATION_S, Order, OrderState, Reservation, ReservationId, Slot,
    Unit, UserId,
};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::{LedgerError, keys};

pub(crate) type Item = HashMap<String, AttributeValue>;

/// How long a guard outlives its order, in seconds. If a guard were deleted while a message of its round could still
/// arrive, that message could sell the unit again.
pub(crate) const GUARD_LIFE_S: u32 = 90 * 24 * 60 * 60;
/// How long messages exist at most, in seconds: 14 days in SQS, as long as dead letters, and once more when sent back.
const QUEUES_KEEP_S: u32 = 3 * 14 * 24 * 60 * 60;
const _: () = assert!(GUARD_LIFE_S > MAX_SALE_DURATION_S + MAX_PAYMENT_WINDOW_S + QUEUES_KEEP_S);

/// A unit guard as an item: the reservation of its order. The slot guard is the same without the index.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct GuardItem {
    pub(crate) pk: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    round_shard: Option<String>,
    pub(crate) order_id: ReservationId,
    user: UserId,
    /// The first lane, unless the item says otherwise.
    #[serde(default, skip_serializing_if = "is_first")]
    lane: Lane,
    unit: Unit,
    slot: Slot,
    reserved_at_ms: EpochMs,
    /// Seconds since the Unix epoch, for DynamoDB's time to live.
    expires_at: i64,
}

impl GuardItem {
    fn new(pk: String, round_shard: Option<String>, order: &Order) -> Self {
        let Reservation { id, user, lane, unit, slot, reserved_at_ms } = order.reservation.clone();
        let expires_at = order.created_at_ms.plus_s(GUARD_LIFE_S).as_epoch_s();
        Self { pk, round_shard, order_id: id, user, lane, unit, slot, reserved_at_ms, expires_at }
    }

    pub(crate) fn of_unit(order: &Order) -> Self {
        let Reservation { id, unit, .. } = &order.reservation;
        let shard = keys::round_shard(&id.round, keys::shard_of(*unit));
        Self::new(keys::unit(&id.round, *unit), Some(shard), order)
    }

    pub(crate) fn of_slot(order: &Order) -> Self {
        let Reservation { id, user, slot, .. } = &order.reservation;
        Self::new(keys::slot(&id.round, user, *slot), None, order)
    }
}

impl From<GuardItem> for Reservation {
    fn from(guard: GuardItem) -> Self {
        let GuardItem { order_id: id, user, lane, unit, slot, reserved_at_ms, .. } = guard;
        Self { id, user, lane, unit, slot, reserved_at_ms }
    }
}

fn is_first(lane: &Lane) -> bool {
    *lane == Lane::default()
}

pub(crate) fn order_item(order: &Order) -> Result<Item, LedgerError> {
    let (Reservation { id, user, unit, .. }, state) = (&order.reservation, order.state);
    let pending = (state == OrderState::Pending).then(|| ("pending_shard", text(keys::pending_shard(id))));
    // Present while it is live.
    let live = state.is_live().then(|| ("live_shard", text(keys::live_shard(&id.round, keys::shard_of(*unit)))));
    // Written with the order and never changed.
    let shard = ("order_shard", text(keys::order_shard(id)));
    let keys = [("pk", text(keys::order(id))), ("orders_of", text(user.as_str())), shard];
    item_with(order, keys.into_iter().chain(pending).chain(live))
}

pub(crate) fn to_item(value: impl Serialize) -> Result<Item, LedgerError> {
    Ok(serde_dynamo::to_item(value)?)
}

/// The item of a value, with these attributes besides its own.
pub(crate) fn item_with(
    value: &impl Serialize,
    attributes: impl IntoIterator<Item = (&'static str, AttributeValue)>,
) -> Result<Item, LedgerError> {
    let mut item = to_item(value)?;
    item.extend(attributes.into_iter().map(|(name, value)| (name.to_owned(), value)));
    Ok(item)
}

pub(crate) fn from_item<T: DeserializeOwned>(item: Item) -> Result<T, LedgerError> {
    Ok(serde_dynamo::from_item(item)?)
}

/// Something unreadable must not affect the others: it is logged and left out.
pub(crate) fn read_or_skip<T: DeserializeOwned>(what: &str, item: Item) -> Option<T> {
    let skip = |error: &LedgerError| {
        tracing::error!(error = error as &dyn std::error::Error, "skipped an unreadable {what}");
    };
    from_item(item).inspect_err(skip).ok()
}

pub(crate) fn pk_of(item: &Item) -> Option<&str> {
    Some(item.get("pk")?.as_s().ok()?)
}

pub(crate) fn item_of<const N: usize>(attributes: [(&str, AttributeValue); N]) -> Item {
    attributes.map(|(name, value)| (name.to_owned(), value)).into()
}

pub(crate) fn bytes(bytes: impl Into<Vec<u8>>) -> AttributeValue {
    AttributeValue::B(Blob::new(bytes))
}

pub(crate) fn text(value: impl Into<String>) -> AttributeValue {
    AttributeValue::S(value.into())
}

pub(crate) fn number(value: impl ToString) -> AttributeValue {
    AttributeValue::N(value.to_string())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn stored_order() -> Value {
        json!({
            "pk": "ORDER#lamp.1.0198f0b2a4c57d1e8f00aabbccddeeff", "orders_of": "alice", "pending_shard": "PENDING#15",
            "live_shard": "LIVE#lamp#1#1", "order_shard": "lamp#1#15", "id": "lamp.1.0198f0b2a4c57d1e8f00aabbccddeeff", "user": "alice",
            "state": "PENDING", "lane": 0, "unit": 17, "slot": 1, "reserved_at_ms": 1_795_510_800_123_i64,
            "created_at_ms": 1_795_510_800_456_i64, "price_minor": 990, "currency": "EUR",
            "pay_by_ms": 1_795_511_700_456_i64,
        })
    }

    fn stored_guard(pk: &str) -> Value {
        json!({
            "pk": pk, "order_id": "lamp.1.0198f0b2a4c57d1e8f00aabbccddeeff", "user": "alice", "unit": 17, "slot": 1,
            "reserved_at_ms": 1_795_510_800_123_i64, "expires_at": 1_803_286_800,
        })
    }

    fn item(stored: &Value) -> Item {
        to_item(stored).unwrap()
    }

    #[test]
    fn stored_items_stay_readable_and_are_written_the_same() {
        let order: Order = from_item(item(&stored_order())).unwrap();
        assert_eq!(order_item(&order).unwrap(), item(&stored_order()));

        let mut unit = stored_guard("UNIT#lamp#1#17");
        unit["round_shard"] = "ROUND#lamp#1#1".into();
        assert_eq!(to_item(GuardItem::of_unit(&order)).unwrap(), item(&unit));
        assert_eq!(to_item(GuardItem::of_slot(&order)).unwrap(), item(&stored_guard("SLOT#lamp#1#alice#1")));
        assert_eq!(Reservation::from(from_item::<GuardItem>(item(&unit)).unwrap()), order.reservation);
    }
}
