use aws_sdk_dynamodb::error::SdkError;
use aws_sdk_dynamodb::operation::update_item::UpdateItemError;
use aws_sdk_dynamodb::types::{AttributeValue, ReturnValue, ReturnValuesOnConditionCheckFailure};
use sale::{EpochMs, Order, Price, ReservationId, Transition};

use crate::conflict::retry_conflicts;
use crate::item::{Item, number, order_from, text};
use crate::{Ledger, LedgerError, keys};

/// What became of a payment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Payment {
    /// The order is PAID by it, now or since an earlier run.
    Applied(Order),
    /// The order could not take it (it had ended, was paid by another payment, or costs something else): the ledger
    /// notes, now or since an earlier run, that it is to be given back.
    RefundDue(Order),
    /// There is no such order.
    UnknownOrder,
}

impl Ledger {
    /// Makes a PENDING order PAID, if the payment is for its price; else notes that the payment is to be given back.
    ///
    /// Guards against: the same callback twice (an order remembers its payment, and refunds are a set); the same payment
    /// first with a wrong amount and then with the right one (it is to be given back already); expiry at the same moment
    /// (both ask for PENDING, so DynamoDB lets one of them win).
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
        let update = self
            .client
            .update_item()
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
            .return_values(ReturnValue::AllNew)
            .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld);
        match updated(retry_conflicts(|| update.clone().send()).await)? {
            Updated::Yes(order) => Ok(Payment::Applied(order)),
            Updated::No(order) if order.payment_id.as_deref() == Some(payment_id) => Ok(Payment::Applied(order)),
            Updated::No(_) => self.note_refund(id, payment_id).await,
            Updated::Unknown => Ok(Payment::UnknownOrder),
        }
    }

    /// Only on the condition that this payment is not the one that the order took: an answer that was lost on the way
    /// must not turn a payment into a refund.
    async fn note_refund(&self, id: &ReservationId, payment_id: &str) -> Result<Payment, LedgerError> {
        let update = self
            .client
            .update_item()
            .table_name(&self.table)
            .key("pk", text(keys::order(id)))
            .update_expression("ADD refunds_due :payments")
            .condition_expression(
                "attribute_exists(pk) AND (attribute_not_exists(payment_id) OR payment_id <> :payment)",
            )
            .expression_attribute_values(":payments", AttributeValue::Ss(vec![payment_id.to_owned()]))
            .expression_attribute_values(":payment", text(payment_id))
            .return_values(ReturnValue::AllNew)
            .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld);
        match updated(retry_conflicts(|| update.clone().send()).await)? {
            Updated::Yes(order) => Ok(Payment::RefundDue(order)),
            Updated::No(order) => Ok(Payment::Applied(order)),
            Updated::Unknown => Ok(Payment::UnknownOrder),
        }
    }
}

enum Updated {
    Yes(Order),
    No(Order),
    Unknown,
}

fn updated(
    result: Result<aws_sdk_dynamodb::operation::update_item::UpdateItemOutput, SdkError<UpdateItemError>>,
) -> Result<Updated, LedgerError> {
    let read = |item: Item| order_from(item);
    match result {
        Ok(output) => Ok(Updated::Yes(read(output.attributes.unwrap_or_default())?)),
        Err(error) => match error.into_service_error() {
            UpdateItemError::ConditionalCheckFailedException(failed) => match failed.item {
                Some(item) if !item.is_empty() => Ok(Updated::No(read(item)?)),
                _ => Ok(Updated::Unknown),
            },
            other => Err(LedgerError::DynamoDb { call: "UpdateItem", source: Box::new(other) }),
        },
    }
}
