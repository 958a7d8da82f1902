use aws_sdk_dynamodb::types::builders::UpdateBuilder;
use aws_sdk_dynamodb::types::{
    AttributeValue, CancellationReason, ReturnValuesOnConditionCheckFailure, TransactWriteItem, Update,
};
use sale::{Currency, EpochMs, Order, Price, ReservationId, Transition};
use serde::Deserialize;

use crate::item::{number, order_from, text};
use crate::orders::old_item;
use crate::{Ledger, LedgerError, keys};

/// The position of each write in the transactions of a payment, and of its cancellation reason.
const ORDER: usize = 0;
const PAYMENT: usize = 1;

/// What is remembered of every payment.
const REMEMBER: &str = "SET reservation_id = :reservation, price_minor = :minor, currency = :currency, \
                        noted_at_ms = if_not_exists(noted_at_ms, :now)";
/// That a payment was for nothing else before.
const NOTHING_ELSE: &str = "attribute_not_exists(pk) \
                            OR (reservation_id = :reservation AND price_minor = :minor AND currency = :currency)";

/// What became of a payment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Payment {
    /// The order is PAID by it, now or since an earlier run.
    Applied,
    /// The order could not take it (it had ended, was paid by another payment, or costs something else): the ledger
    /// notes, now or since an earlier run, that it is to be given back.
    RefundDue,
    /// It was applied to another order, or is to be given back for one. Nothing was written.
    Reused,
    /// It came before, for the same order with another amount or currency. Nothing was written.
    AmountChanged,
    /// There is no such order.
    UnknownOrder,
}

/// What the ledger remembers of a payment, as far as it decides about the next one.
#[derive(Deserialize)]
struct PaymentItem {
    reservation_id: ReservationId,
    price_minor: u64,
    currency: Currency,
}

impl Ledger {
    /// Makes a PENDING order PAID, if the payment is for its price; else notes that the payment is to be given back.
    /// Either way one transaction also remembers the payment's order and amount.
    ///
    /// Guards against: the same callback twice (an order remembers its payment, and refunds are a set); one payment for
    /// two orders, or again with another amount (the payment remembers what it was for); expiry at the same moment (both
    /// ask for PENDING, so DynamoDB lets one of them win).
    ///
    /// # Errors
    /// If DynamoDB does not answer; then either may have happened, and the same call tells.
    pub async fn pay(
        &self,
        id: &ReservationId,
        payment_id: &str,
        paid: Price,
        now: EpochMs,
    ) -> Result<Payment, LedgerError> {
        let step = Transition::Pay;
        let take = Update::builder()
            .table_name(&self.table)
            .key("pk", text(keys::order(id)))
            .update_expression("SET #state = :to, payment_id = :payment, ended_at_ms = :now REMOVE pending_shard")
            .condition_expression(
                "#state = :from AND price_minor = :minor AND currency = :currency \
                 AND NOT contains(refunds_due, :payment)",
            )
            .expression_attribute_names("#state", "state")
            .expression_attribute_values(":from", text(step.from().as_str()))
            .expression_attribute_values(":to", text(step.to().as_str()))
            .expression_attribute_values(":payment", text(payment_id))
            .expression_attribute_values(":minor", number(paid.price_minor))
            .expression_attribute_values(":currency", text(paid.currency.to_string()))
            .expression_attribute_values(":now", number(now.0))
            .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld)
            .build();
        let remember = self.remember_payment(id, payment_id, paid, now);
        let Some(reasons) = self.transact(vec![update(take.ok()), remember.clone()]).await? else {
            return Ok(Payment::Applied);
        };
        match rejection(&reasons, id, paid)? {
            Rejection::Order(order) if order.payment_id.as_deref() == Some(payment_id) => {
                self.paid_before(&order, paid, remember).await
            }
            Rejection::Order(_) => self.note_refund(id, payment_id, paid, now).await,
            Rejection::Contradiction(payment) => Ok(payment),
        }
    }

    /// Only on the condition that this payment is not the one that the order took: an answer that was lost on the way
    /// must not turn a payment into a refund. And only while it is not marked as given back: a callback that comes again
    /// after that must not make it due again.
    async fn note_refund(
        &self,
        id: &ReservationId,
        payment_id: &str,
        paid: Price,
        now: EpochMs,
    ) -> Result<Payment, LedgerError> {
        let note = Update::builder()
            .table_name(&self.table)
            .key("pk", text(keys::order(id)))
            .update_expression("ADD refunds_due :payments")
            .condition_expression(
                "attribute_exists(pk) AND (attribute_not_exists(payment_id) OR payment_id <> :payment)",
            )
            .expression_attribute_values(":payments", AttributeValue::Ss(vec![payment_id.to_owned()]))
            .expression_attribute_values(":payment", text(payment_id))
            .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld)
            .build();
        let due = self.remember_refund(id, payment_id, paid, now);
        let Some(reasons) = self.transact(vec![update(note.ok()), due]).await? else {
            return Ok(Payment::RefundDue);
        };
        match rejection(&reasons, id, paid)? {
            Rejection::Order(order) => {
                self.paid_before(&order, paid, self.remember_payment(id, payment_id, paid, now)).await
            }
            Rejection::Contradiction(payment) => Ok(payment),
        }
    }

    /// The order took this payment before. The previous version remembered no payments: what it applied is remembered
    /// once its callback comes again.
    async fn paid_before(
        &self,
        order: &Order,
        paid: Price,
        remember: TransactWriteItem,
    ) -> Result<Payment, LedgerError> {
        if order.price != Some(paid) {
            return Ok(Payment::AmountChanged);
        }
        let Some(reasons) = self.transact(vec![remember]).await? else { return Ok(Payment::Applied) };
        let remembered = old_item(&reasons, 0).map(serde_dynamo::from_item::<_, PaymentItem>).transpose()?;
        Ok(remembered.map_or(Payment::Applied, |payment| payment.contradicts(&order.claim.id, paid)))
    }

    /// On the condition that the payment was for nothing else before.
    fn remember_payment(&self, id: &ReservationId, payment_id: &str, paid: Price, now: EpochMs) -> TransactWriteItem {
        let remember = self.payment_update(id, payment_id, paid, now);
        let remember = remember.update_expression(REMEMBER).condition_expression(NOTHING_ELSE);
        update(remember.build().ok())
    }

    /// Remembers a payment as one that is to be given back, on the same condition and while it is not given back.
    fn remember_refund(&self, id: &ReservationId, payment_id: &str, paid: Price, now: EpochMs) -> TransactWriteItem {
        let remember = self
            .payment_update(id, payment_id, paid, now)
            .update_expression(format!(
                "{REMEMBER}, refund_shard = :shard, refund_due_at_ms = if_not_exists(refund_due_at_ms, :now)"
            ))
            .condition_expression(format!("({NOTHING_ELSE}) AND attribute_not_exists(refunded_at_ms)"))
            .expression_attribute_values(":shard", text(keys::refund_shard(payment_id)));
        update(remember.build().ok())
    }

    fn payment_update(&self, id: &ReservationId, payment_id: &str, paid: Price, now: EpochMs) -> UpdateBuilder {
        Update::builder()
            .table_name(&self.table)
            .key("pk", text(keys::payment(payment_id)))
            .expression_attribute_values(":reservation", text(id.to_string()))
            .expression_attribute_values(":minor", number(paid.price_minor))
            .expression_attribute_values(":currency", text(paid.currency.to_string()))
            .expression_attribute_values(":now", number(now.0))
            .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld)
    }
}

/// Why a transaction of a payment was cancelled.
enum Rejection {
    /// The order does not take it: as it stands.
    Order(Box<Order>),
    /// There is no order, or the payment was for something else.
    Contradiction(Payment),
}

fn rejection(reasons: &[CancellationReason], id: &ReservationId, paid: Price) -> Result<Rejection, LedgerError> {
    if let Some(payment) = old_item(reasons, PAYMENT) {
        let payment: PaymentItem = serde_dynamo::from_item(payment)?;
        return Ok(Rejection::Contradiction(payment.contradicts(id, paid)));
    }
    match old_item(reasons, ORDER) {
        Some(order) => Ok(Rejection::Order(Box::new(order_from(order)?))),
        None => Ok(Rejection::Contradiction(Payment::UnknownOrder)),
    }
}

impl PaymentItem {
    /// What a payment is that this is remembered of, and that does not agree.
    fn contradicts(&self, id: &ReservationId, paid: Price) -> Payment {
        if self.reservation_id != *id {
            Payment::Reused
        } else if (Price { price_minor: self.price_minor, currency: self.currency }) != paid {
            Payment::AmountChanged
        } else {
            // Nothing but that it has been given back since.
            Payment::RefundDue
        }
    }
}

fn update(update: Option<Update>) -> TransactWriteItem {
    TransactWriteItem::builder().set_update(update).build()
}
