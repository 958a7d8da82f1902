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

    pub fn to_body(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("texts are JSON")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    const ID: &str = "lamp.1.0198f0b2a4c57d1e8f00aabbccddeeff";

    /// What the buyer hears of an order in this state, beside its type and id.
    fn told(state: OrderState, award: Value) -> Value {
        let order: Order = serde_json::from_value(json!({
            "id": ID, "user": "alice", "state": state, "lane": 0, "unit": 17, "slot": 0,
            "reserved_at_ms": 1_795_510_800_123_i64, "created_at_ms": 1_795_510_801_000_i64,
            "price_minor": 990, "currency": "EUR", "pay_by_ms": 1_795_511_401_000_i64, "award": award,
        }))
        .unwrap();
        let body = StatusUpdate::of(&order, ShownAward::of(&order, None, false)).to_body();
        let mut told: Value = serde_json::from_slice(&body).unwrap();
        let [kind, id] = ["type", "reservation_id"].map(|name| told.as_object_mut().unwrap().remove(name).unwrap());
        assert_eq!((kind, id), (json!("reservation"), json!(ID)));
        told
    }

    #[test]
    fn it_says_where_the_reservation_stands() {
        let pending = json!({ "status": "pending_payment", "pay_by": "2026-11-24T09:10:01Z" });
        assert_eq!(told(OrderState::Pending, Value::Null), pending);
        assert_eq!(told(OrderState::Paid, Value::Null), json!({ "status": "paid" }));
        assert_eq!(told(OrderState::Granted, Value::Null), json!({ "status": "granted" }));
    }

    #[test]
    fn it_says_what_was_won_and_by_which_unit() {
        let award = json!({ "kind": "amount", "amount_minor": 137, "currency": "EUR" });
        let granted = json!({ "status": "granted", "unit": 17, "award": award });
        assert_eq!(told(OrderState::Granted, json!({ "kind": "amount", "amount_minor": 137 })), granted);
    }
}
