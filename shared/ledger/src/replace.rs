use aws_sdk_dynamodb::error::SdkError;
use aws_sdk_dynamodb::operation::put_item::PutItemError;
use aws_sdk_dynamodb::types::{Put, TransactWriteItem};

use crate::conflict::retry_conflicts;
use crate::item::{Item, number};
use crate::{COMPLETE, Ledger, LedgerError};

/// Replaces an item that was read, on a condition on its `:version`.
pub(crate) struct Replacement {
    pub(crate) item: Item,
    pub(crate) condition: &'static str,
    pub(crate) version: u32,
}

impl Ledger {
    /// Returns whether the condition held and the item was written.
    pub(crate) async fn replace(&self, replacement: Replacement) -> Result<bool, LedgerError> {
        let Replacement { item, condition, version } = replacement;
        let put = self
            .client
            .put_item()
            .table_name(&self.table)
            .set_item(Some(item))
            .condition_expression(condition)
            .expression_attribute_values(":version", number(version));
        match retry_conflicts(|| put.clone().send()).await.map_err(SdkError::into_service_error) {
            Ok(_) => Ok(true),
            Err(PutItemError::ConditionalCheckFailedException(_)) => Ok(false),
            Err(other) => Err(LedgerError::DynamoDb { call: "PutItem", source: Box::new(other) }),
        }
    }

    /// The same as one write of a transaction.
    pub(crate) fn replacing(&self, replacement: Replacement) -> TransactWriteItem {
        let Replacement { item, condition, version } = replacement;
        let put = Put::builder()
            .table_name(&self.table)
            .set_item(Some(item))
            .condition_expression(condition)
            .expression_attribute_values(":version", number(version))
            .build();
        TransactWriteItem::builder().put(put.expect(COMPLETE)).build()
    }
}
