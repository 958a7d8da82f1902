use jiff::Timestamp;
use sale::{Order, OrderState, ReservationId, ShownAward};
use serde::Serialize;

/// The state of a reservation as pushed to its buyer, with the values of `GET /v1/reservations/{id}`.
///
/// It may come twice, which does no harm, since it carries the state and not what changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename = "reservation")]
pub struct StatusUpdate {
    reservation_id: ReservationId,
    status: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pay_by: Option<Timestamp>,
    /// The unit, in a round with awards: together with the draw, anybody can verify the award with it.
    #[serde(skip_serializing_if = "Option::is_none")]
    unit: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    award: Option<ShownAward>,
}

impl StatusUpdate {
    pub fn of(order: &Order, award: Option<ShownAward>) -> Self {
        Self {
            reservation_id: order.reservation.id.clone(),
            status: order.state.status(),
            pay_by: order.pay_by_ms.filter(|_| order.state == OrderState::Pending).map(Timestamp::from),
            unit: award.as_ref().map(|_| order.reservation.unit.0),
            award,
        }
    }

    /// The message as sent.
    pub fn to_body(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("texts are JSON")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    const ID: &str = "lamp.1.0198f0b2a4c57d1e8f00aabbccddeeff";

    fn told(state: OrderState) -> Value {
        told_with(state, Value::Null)
    }

    fn told_with(state: OrderState, award: Value) -> Value {
        let mut order = json!({
            "id": ID, "user": "alice", "state": state, "lane": 0, "unit": 17, "slot": 0,
            "reserved_at_ms": 1_795_510_800_123_i64, "created_at_ms": 1_795_510_801_000_i64,
            "price_minor": 990, "currency": "EUR", "pay_by_ms": 1_795_511_401_000_i64,
        });
        if !award.is_null() {
            order["award"] = award;
        }
        let order: Order = serde_json::from_value(order).unwrap();
        serde_json::from_slice(&StatusUpdate::of(&order, ShownAward::of(&order, None, false)).to_body()).unwrap()
    }

    #[test]
    fn it_says_where_the_reservation_stands() {
        let pay_by = "2026-11-24T09:10:01Z";
        let pending =
            json!({ "type": "reservation", "reservation_id": ID, "status": "pending_payment", "pay_by": pay_by });
        assert_eq!(told(OrderState::Pending), pending);
        assert_eq!(told(OrderState::Paid), json!({ "type": "reservation", "reservation_id": ID, "status": "paid" }));
        let granted = json!({ "type": "reservation", "reservation_id": ID, "status": "granted" });
        assert_eq!(told(OrderState::Granted), granted);
    }

    #[test]
    fn it_says_what_was_won_and_by_which_unit() {
        let told = told_with(OrderState::Granted, json!({ "kind": "amount", "amount_minor": 137 }));
        let award = json!({ "kind": "amount", "amount_minor": 137, "currency": "EUR" });
        let granted =
            json!({ "type": "reservation", "reservation_id": ID, "status": "granted", "unit": 17, "award": award });
        assert_eq!(told, granted);
    }
}
