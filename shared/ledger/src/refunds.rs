//! Payments to refund: finds those that `payments` recorded, and marks them as refunded.

use aws_sdk_dynamodb::types::AttributeValue;
use sale::{EpochMs, Price, ReservationId, UserId};
use serde::{Deserialize, Deserializer};

use crate::by_time::{Direction, Position, TimeIndex, TimeRange};
use crate::calls::{Conditional, Part, old_item};
use crate::item::{from_item, number, text};
use crate::{Ledger, LedgerError, keys};

const BY_TIME: TimeIndex = TimeIndex { name: keys::REFUNDS_BY_TIME, shard: "refund_shard", time: "refund_due_at_ms" };
/// The index of the payment in the transaction that marks it.
const PAYMENT: usize = 1;

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct NotedPayment {
    #[serde(rename = "pk", deserialize_with = "keys::payment_of")]
    pub payment_id: String,
    pub reservation_id: ReservationId,
    #[serde(flatten)]
    pub price: Price,
    pub noted_at_ms: EpochMs,
    /// When the refund was recorded as due. `None` if an order accepted the payment.
    pub refund_due_at_ms: Option<EpochMs>,
    #[serde(flatten, deserialize_with = "refunded")]
    pub refunded: Option<Refunded>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refunded {
    pub at_ms: EpochMs,
    pub by: UserId,
}

/// An optional part that serde flattens itself would be `None` if it cannot be read, and the payment due again.
fn refunded<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Refunded>, D::Error> {
    #[derive(Deserialize)]
    struct Fields {
        refunded_at_ms: Option<EpochMs>,
        refunded_by: Option<UserId>,
    }
    let Fields { refunded_at_ms, refunded_by } = Fields::deserialize(from)?;
    Ok(refunded_at_ms.zip(refunded_by).map(|(at_ms, by)| Refunded { at_ms, by }))
}

#[derive(Debug, Clone)]
pub struct RefundsPage {
    pub refunds: Vec<NotedPayment>,
    /// After what the next page begins: when the refund became due, and the payment's id. `None` on the last page.
    pub next: Option<(EpochMs, String)>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refund {
    Marked(NotedPayment),
    Before(NotedPayment),
    /// It need not be refunded, or there is no such payment. Nothing was written.
    NotDue,
}

impl Ledger {
    pub async fn payments(&self, ids: &[String]) -> Result<Vec<NotedPayment>, LedgerError> {
        let pks: Vec<String> = ids.iter().map(|id| keys::payment(id)).collect();
        self.batch(&pks).await
    }

    /// Up to `limit` payments to refund after `after`, the longest due first. Recent ones may be missing for a moment.
    pub async fn refunds_due(
        &self,
        after: Option<&(EpochMs, String)>,
        limit: usize,
    ) -> Result<RefundsPage, LedgerError> {
        let after = after.map(|(at_ms, id)| Position { at_ms: *at_ms, pk: keys::payment(id) });
        let shards = (0..keys::REFUND_SHARDS).map(keys::refund_shard_name);
        let found = self.walk(&BY_TIME, shards, Direction::OldestFirst, TimeRange::ALL, after.as_ref(), limit).await?;
        let next = match found.places.last().filter(|_| found.more) {
            Some(Position { at_ms, pk }) => Some((*at_ms, keys::payment_id(pk)?)),
            None => None,
        };
        let pks: Vec<String> = found.places.into_iter().map(|place| place.pk).collect();
        let mut refunds: Vec<NotedPayment> = self.batch(&pks).await?;
        // The index may still have a payment that was refunded a moment ago.
        refunds.retain(|payment| payment.refunded.is_none());
        Ok(RefundsPage { refunds, next })
    }

    /// Marks a payment as refunded, once, if its order could not take it. The order's state does not change.
    ///
    /// Guards against two concurrent operators, and a double click: the payment records who marked it first. Also
    /// guards against a payment that its order accepted, since the order lists those that it could not take.
    pub async fn mark_refunded(&self, payment: &str, by: &UserId, now: EpochMs) -> Result<Refund, LedgerError> {
        let noted: Option<NotedPayment> = self.read(keys::payment(payment)).await?;
        let Some(noted) = noted else { return Ok(Refund::NotDue) };
        if noted.refunded.is_some() {
            return Ok(Refund::Before(noted));
        }
        let of_order = self
            .updating(keys::order(&noted.reservation_id), "ADD refunds_made :payments")
            .condition_expression("contains(refunds_due, :payment)")
            .values([(":payments", AttributeValue::Ss(vec![payment.to_owned()])), (":payment", text(payment))]);
        let of_payment = self
            .updating(keys::payment(payment), "SET refunded_at_ms = :now, refunded_by = :by REMOVE refund_shard")
            .condition_expression("attribute_exists(pk) AND attribute_not_exists(refunded_at_ms)")
            .values([(":now", number(now.0)), (":by", text(by.as_str()))])
            .or_old();
        let Some(reasons) = self.transact(vec![of_order.part(), of_payment.part()]).await? else {
            return Ok(Refund::Marked(NotedPayment {
                refunded: Some(Refunded { at_ms: now, by: by.clone() }),
                ..noted
            }));
        };
        match old_item(&reasons, PAYMENT) {
            Some(item) => from_item(item).map(Refund::Before),
            None => Ok(Refund::NotDue),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::item::to_item;

    #[test]
    fn a_refund_that_cannot_be_read_is_not_due_again() {
        let read = |at_ms: Value, by: Value| {
            let item = json!({
                "pk": keys::payment("pay_1"), "reservation_id": format!("lamp.1.{:032x}", 7), "price_minor": 990,
                "currency": "EUR", "noted_at_ms": 5, "refunded_at_ms": at_ms, "refunded_by": by,
            });
            from_item::<NotedPayment>(to_item(item).unwrap()).map(|payment| payment.refunded).ok()
        };
        let by = "olga".parse().unwrap();
        assert_eq!(read(json!(9), json!("olga")), Some(Some(Refunded { at_ms: EpochMs(9), by })));
        assert_eq!(read(Value::Null, Value::Null), Some(None));
        assert_eq!([read(json!(9), json!("two words")), read(json!("soon"), json!("olga"))], [None, None]);
    }
}
