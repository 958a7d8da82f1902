use aws_sdk_dynamodb::types::builders::UpdateBuilder;
use aws_sdk_dynamodb::types::{AttributeValue, CancellationReason};
use sale::{EpochMs, Order, OrderState, Price, ReservationId, Transition};

use crate::calls::{Conditional, Part, old_item};
use crate::item::{from_item, number, text};
use crate::{Ledger, LedgerError, NotedPayment, keys};

/// The index of each write in the transactions of a payment, and of its cancellation reason.
const ORDER: usize = 0;
const PAYMENT: usize = 1;

const REMEMBER: &str = "SET reservation_id = :reservation, price_minor = :minor, currency = :currency, \
                        noted_at_ms = if_not_exists(noted_at_ms, :now)";
/// The condition that a payment was not recorded for anything else.
const NOTHING_ELSE: &str = "attribute_not_exists(pk) \
                            OR (reservation_id = :reservation AND price_minor = :minor AND currency = :currency)";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Payment {
    /// The order is PAID by it, by this run or an earlier one.
    Applied,
    /// The order could not take it: it had ended, another payment had paid it, or the amount was wrong. The ledger has
    /// recorded, in this run or an earlier one, that it must be refunded.
    RefundDue,
    /// Likewise, but only because the order had ended. It remembers that too: its end no longer counts as unpaid.
    TooLate,
    /// It was applied to another order, or is to be given back for one. Nothing was written.
    Reused,
    /// It was reported before for the same order, with another amount or currency. Nothing was written.
    AmountChanged,
    UnknownOrder,
}

impl Ledger {
    /// Makes a PENDING order PAID if the amount is right; otherwise records that the payment must be refunded. Either
    /// way the same transaction records the payment's order and amount.
    ///
    /// Guards against: the same callback twice (an order records its payment, and refunds are a set); one payment for
    /// two orders, or again with another amount (the payment records what it was for); a concurrent expiry (both
    /// require PENDING, so DynamoDB lets only one of them win).
    pub async fn pay(
        &self,
        id: &ReservationId,
        payment_id: &str,
        paid: Price,
        now: EpochMs,
    ) -> Result<Payment, LedgerError> {
        let set = "SET #state = :to, payment_id = :payment, ended_at_ms = :now REMOVE pending_shard";
        let take = self
            .stepping(id, Transition::Pay, set)
            .condition_expression(
                "#state = :from AND price_minor = :minor AND currency = :currency \
                 AND NOT contains(refunds_due, :payment)",
            )
            .values([(":payment", text(payment_id))])
            .values(values_of(paid, now));
        // On the condition that the payment was for nothing else before.
        let remember = self.payment_update(id, payment_id, paid, now, REMEMBER).condition_expression(NOTHING_ELSE);
        let writes = vec![take.part(), remember.part()];
        let Some(reasons) = self.transact(writes).await? else { return Ok(Payment::Applied) };
        match rejection(&reasons, id, paid)? {
            Rejection::Order(order) if order.payment_id.as_deref() == Some(payment_id) => Ok(paid_before(&order, paid)),
            Rejection::Order(order) => {
                // Neither its end nor its price ever changes.
                let is_late =
                    matches!(order.state, OrderState::Expired | OrderState::Cancelled) && order.price == Some(paid);
                let noted = self.note_refund(id, payment_id, paid, is_late, now).await?;
                Ok(if is_late && noted == Payment::RefundDue { Payment::TooLate } else { noted })
            }
            Rejection::Contradiction(payment) => Ok(payment),
        }
    }

    /// Only on the condition that this payment is not the one that the order accepted: a lost answer must not turn a
    /// payment into a refund. And only while it is not refunded: a repeated callback must not make it due again.
    async fn note_refund(
        &self,
        id: &ReservationId,
        payment_id: &str,
        paid: Price,
        is_late: bool,
        now: EpochMs,
    ) -> Result<Payment, LedgerError> {
        let note = if is_late {
            let note = self.updating(keys::order(id), "SET paid_late = :late ADD refunds_due :payments");
            note.values([(":late", AttributeValue::Bool(true))])
        } else {
            self.updating(keys::order(id), "ADD refunds_due :payments")
        };
        let payments = AttributeValue::Ss(vec![payment_id.to_owned()]);
        let note = note
            .condition_expression(
                "attribute_exists(pk) AND (attribute_not_exists(payment_id) OR payment_id <> :payment)",
            )
            .values([(":payments", payments), (":payment", text(payment_id))])
            .or_old();
        // On the same condition, and while it is not refunded.
        let set =
            format!("{REMEMBER}, refund_shard = :shard, refund_due_at_ms = if_not_exists(refund_due_at_ms, :now)");
        let due = self
            .payment_update(id, payment_id, paid, now, &set)
            .condition_expression(format!("({NOTHING_ELSE}) AND attribute_not_exists(refunded_at_ms)"))
            .values([(":shard", text(keys::refund_shard(payment_id)))]);
        let Some(reasons) = self.transact(vec![note.part(), due.part()]).await? else {
            return Ok(Payment::RefundDue);
        };
        match rejection(&reasons, id, paid)? {
            Rejection::Order(order) => Ok(paid_before(&order, paid)),
            Rejection::Contradiction(payment) => Ok(payment),
        }
    }

    fn payment_update(
        &self,
        id: &ReservationId,
        payment_id: &str,
        paid: Price,
        now: EpochMs,
        expression: &str,
    ) -> UpdateBuilder {
        let update = self.updating(keys::payment(payment_id), expression).values(values_of(paid, now));
        update.values([(":reservation", text(id.to_string()))]).or_old()
    }
}

fn values_of(paid: Price, now: EpochMs) -> [(&'static str, AttributeValue); 3] {
    let (minor, currency) = (number(paid.price_minor), text(paid.currency.to_string()));
    [(":minor", minor), (":currency", currency), (":now", number(now.0))]
}

enum Rejection {
    Order(Box<Order>),
    Contradiction(Payment),
}

fn rejection(reasons: &[CancellationReason], id: &ReservationId, paid: Price) -> Result<Rejection, LedgerError> {
    if let Some(payment) = old_item(reasons, PAYMENT) {
        return Ok(Rejection::Contradiction(contradiction(&from_item(payment)?, id, paid)));
    }
    match old_item(reasons, ORDER) {
        Some(order) => Ok(Rejection::Order(Box::new(from_item(order)?))),
        None => Ok(Rejection::Contradiction(Payment::UnknownOrder)),
    }
}

/// The result of a payment that its order accepted before. The payment's own record says the same, but a concurrent
/// transaction may have kept its condition from being checked.
fn paid_before(order: &Order, paid: Price) -> Payment {
    if order.price == Some(paid) { Payment::Applied } else { Payment::AmountChanged }
}

/// How a recorded payment contradicts the request.
fn contradiction(noted: &NotedPayment, id: &ReservationId, paid: Price) -> Payment {
    if noted.reservation_id != *id {
        Payment::Reused
    } else if noted.price != paid {
        Payment::AmountChanged
    } else {
        // Only that it has been refunded since.
        Payment::RefundDue
    }
}
