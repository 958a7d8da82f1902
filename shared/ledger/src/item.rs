use std::collections::HashMap;

use aws_sdk_dynamodb::types::AttributeValue;
use sale::{
    EpochMs, MAX_PAYMENT_WINDOW_S, MAX_SALE_DURATION_S, Order, OrderState, Price, Reservation, ReservationId, Slot,
    Unit, UserId,
};
use serde::{Deserialize, Serialize};

use crate::{LedgerError, keys};

pub(crate) type Item = HashMap<String, AttributeValue>;

/// How long a guard outlives the order that it is for, in seconds. A guard that goes while a message of its round can
/// still come would let that message sell the unit again.
const GUARD_LIFE_S: u32 = 90 * 24 * 60 * 60;
/// SQS keeps a message at most this long; a dead letter begins again, and a redriven one once more.
const QUEUES_KEEP_S: u32 = 3 * 14 * 24 * 60 * 60;
const _: () = assert!(GUARD_LIFE_S > MAX_SALE_DURATION_S + MAX_PAYMENT_WINDOW_S + QUEUES_KEEP_S);

/// An order about to be placed.
#[derive(Debug, Clone)]
pub struct NewOrder<'a> {
    /// What it is for.
    pub reservation: &'a Reservation,
    /// What it costs.
    pub price: Price,
    /// When it is written.
    pub created_at_ms: EpochMs,
    /// Until when it may be paid.
    pub pay_by_ms: EpochMs,
}

/// An order as an item: the order and what the indexes need.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct OrderItem {
    pub(crate) pk: String,
    pub(crate) orders_of: UserId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) pending_shard: Option<String>,
    /// While it is live. Orders of earlier versions have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) live_shard: Option<String>,
    #[serde(flatten)]
    pub(crate) order: Order,
}

impl OrderItem {
    pub(crate) fn new(order: Order) -> Self {
        let pending = order.state == OrderState::Pending;
        Self {
            pk: keys::order(&order.id),
            orders_of: order.user.clone(),
            pending_shard: pending.then(|| keys::pending_shard(&order.id)),
            live_shard: order.state.is_live().then(|| {
                let ReservationId { sale, round, .. } = &order.id;
                keys::live_shard(sale, *round, keys::shard_of(order.unit))
            }),
            order,
        }
    }
}

impl NewOrder<'_> {
    pub(crate) fn to_order(&self) -> Order {
        Order {
            price: Some(self.price),
            pay_by_ms: Some(self.pay_by_ms),
            ..order_in(OrderState::Pending, self.reservation, self.created_at_ms)
        }
    }
}

/// An order in `state` with nothing that depends on it.
pub(crate) fn order_in(state: OrderState, reservation: &Reservation, created_at_ms: EpochMs) -> Order {
    Order {
        id: reservation.id.clone(),
        user: reservation.user.clone(),
        state,
        lane: reservation.lane,
        unit: reservation.unit,
        slot: reservation.slot,
        reserved_at_ms: reservation.reserved_at_ms,
        created_at_ms,
        price: None,
        pay_by_ms: None,
        ended_at_ms: None,
        payment_id: None,
        failure: None,
        refunds_due: Vec::new(),
    }
}

/// A unit guard as an item. The slot guard is the same without the index.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct GuardItem {
    pub(crate) pk: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) round_shard: Option<String>,
    pub(crate) order_id: ReservationId,
    pub(crate) user: UserId,
    pub(crate) unit: Unit,
    pub(crate) slot: Slot,
    pub(crate) reserved_at_ms: EpochMs,
    /// Seconds since the Unix epoch, as DynamoDB's time to live takes them.
    pub(crate) expires_at: i64,
}

impl GuardItem {
    fn new(pk: String, round_shard: Option<String>, order: &Order) -> Self {
        Self {
            pk,
            round_shard,
            order_id: order.id.clone(),
            user: order.user.clone(),
            unit: order.unit,
            slot: order.slot,
            reserved_at_ms: order.reserved_at_ms,
            expires_at: order.created_at_ms.plus_s(GUARD_LIFE_S).as_epoch_s(),
        }
    }

    pub(crate) fn of_unit(order: &Order) -> Self {
        let ReservationId { sale, round, .. } = &order.id;
        let shard = keys::round_shard(sale, *round, keys::shard_of(order.unit));
        Self::new(keys::unit(sale, *round, order.unit), Some(shard), order)
    }

    pub(crate) fn of_slot(order: &Order) -> Self {
        let ReservationId { sale, round, .. } = &order.id;
        Self::new(keys::slot(sale, *round, &order.user, order.slot), None, order)
    }
}

pub(crate) fn to_item(value: impl Serialize) -> Result<Item, LedgerError> {
    Ok(serde_dynamo::to_item(value)?)
}

pub(crate) fn order_from(item: Item) -> Result<Order, LedgerError> {
    Ok(serde_dynamo::from_item::<_, OrderItem>(item)?.order)
}

pub(crate) fn text(value: impl Into<String>) -> AttributeValue {
    AttributeValue::S(value.into())
}

pub(crate) fn number(value: impl ToString) -> AttributeValue {
    AttributeValue::N(value.to_string())
}
