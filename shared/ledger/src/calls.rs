//! How calls of DynamoDB begin and end.

use aws_sdk_dynamodb::error::SdkError;
use aws_sdk_dynamodb::operation::batch_get_item::builders::BatchGetItemFluentBuilder;
use aws_sdk_dynamodb::operation::batch_get_item::{BatchGetItemError, BatchGetItemOutput};
use aws_sdk_dynamodb::operation::batch_write_item::builders::BatchWriteItemFluentBuilder;
use aws_sdk_dynamodb::operation::batch_write_item::{BatchWriteItemError, BatchWriteItemOutput};
use aws_sdk_dynamodb::operation::delete_item::builders::DeleteItemFluentBuilder;
use aws_sdk_dynamodb::operation::delete_item::{DeleteItemError, DeleteItemOutput};
use aws_sdk_dynamodb::operation::get_item::builders::GetItemFluentBuilder;
use aws_sdk_dynamodb::operation::get_item::{GetItemError, GetItemOutput};
use aws_sdk_dynamodb::operation::put_item::builders::PutItemFluentBuilder;
use aws_sdk_dynamodb::operation::put_item::{PutItemError, PutItemOutput};
use aws_sdk_dynamodb::operation::query::builders::QueryFluentBuilder;
use aws_sdk_dynamodb::operation::query::{QueryError, QueryOutput};
use aws_sdk_dynamodb::operation::transact_write_items::builders::TransactWriteItemsFluentBuilder;
use aws_sdk_dynamodb::operation::transact_write_items::{TransactWriteItemsError, TransactWriteItemsOutput};
use aws_sdk_dynamodb::operation::update_item::builders::UpdateItemFluentBuilder;
use aws_sdk_dynamodb::operation::update_item::{UpdateItemError, UpdateItemOutput};
use aws_sdk_dynamodb::types::builders::{ConditionCheckBuilder, DeleteBuilder, PutBuilder, UpdateBuilder};
use aws_sdk_dynamodb::types::{
    ConditionCheck, Delete, Put, ReturnValuesOnConditionCheckFailure, TransactWriteItem, Update,
};

use futures::future::BoxFuture;
use serde::de::DeserializeOwned;

use crate::conflict::retry_conflicts;
use crate::item::{Item, number, text};
use crate::{Ledger, LedgerError};

pub(crate) const ABSENT: &str = "attribute_not_exists(pk)";
/// Why a part of a transaction can be built: to leave it out silently would drop a condition.
const COMPLETE: &str = "every required field is set";

pub(crate) trait Call {
    type Output;
    type Error;

    /// Makes it. Boxed by a function that is not `async`: a future is compiled by every crate that awaits it, and the
    /// SDK's take seconds each.
    fn call(self) -> BoxFuture<'static, Result<Self::Output, SdkError<Self::Error>>>;
}

macro_rules! call {
    ($builder:ty, $output:ty, $error:ty) => {
        impl Call for $builder {
            type Output = $output;
            type Error = $error;

            fn call(self) -> BoxFuture<'static, Result<$output, SdkError<$error>>> {
                Box::pin(self.send())
            }
        }
    };
}

call!(BatchGetItemFluentBuilder, BatchGetItemOutput, BatchGetItemError);
call!(BatchWriteItemFluentBuilder, BatchWriteItemOutput, BatchWriteItemError);
call!(DeleteItemFluentBuilder, DeleteItemOutput, DeleteItemError);
call!(GetItemFluentBuilder, GetItemOutput, GetItemError);
call!(PutItemFluentBuilder, PutItemOutput, PutItemError);
call!(QueryFluentBuilder, QueryOutput, QueryError);
call!(TransactWriteItemsFluentBuilder, TransactWriteItemsOutput, TransactWriteItemsError);
call!(UpdateItemFluentBuilder, UpdateItemOutput, UpdateItemError);

/// Whether the condition of a write held, and the item that DynamoDB returned, if it was asked for one.
pub(crate) enum Written {
    Done(Item),
    Refused(Item),
}

impl Written {
    pub(crate) const fn is_done(&self) -> bool {
        matches!(self, Self::Done(_))
    }
}

/// A write of one item. It is made again while another write is changing the item.
pub(crate) trait Write {
    async fn write(&self) -> Result<Written, LedgerError>;

    /// Makes a write whose condition, if it has one, must hold.
    async fn must_write(&self) -> Result<Item, LedgerError>;
}

macro_rules! write {
    ($builder:ty, $error:ident, $call:literal) => {
        impl Write for $builder {
            async fn write(&self) -> Result<Written, LedgerError> {
                match retry_conflicts(|| self.clone().call()).await.map_err(SdkError::into_service_error) {
                    Ok(output) => Ok(Written::Done(output.attributes.unwrap_or_default())),
                    Err($error::ConditionalCheckFailedException(failed)) => {
                        Ok(Written::Refused(failed.item.unwrap_or_default()))
                    }
                    Err(other) => Err(LedgerError::DynamoDb { call: $call, source: Box::new(other) }),
                }
            }

            async fn must_write(&self) -> Result<Item, LedgerError> {
                let output = retry_conflicts(|| self.clone().call()).await.map_err(LedgerError::of($call))?;
                Ok(output.attributes.unwrap_or_default())
            }
        }
    };
}

write!(PutItemFluentBuilder, PutItemError, "PutItem");
write!(UpdateItemFluentBuilder, UpdateItemError, "UpdateItem");
write!(DeleteItemFluentBuilder, DeleteItemError, "DeleteItem");

pub(crate) trait Part {
    fn part(self) -> TransactWriteItem;
}

macro_rules! part {
    ($builder:ty, $kind:ident) => {
        impl Part for $builder {
            fn part(self) -> TransactWriteItem {
                TransactWriteItem::builder().$kind(self.build().expect(COMPLETE)).build()
            }
        }
    };
}

part!(PutBuilder, put);
part!(UpdateBuilder, update);
part!(DeleteBuilder, delete);
part!(ConditionCheckBuilder, condition_check);

/// Replaces an item that was read, on a condition on its `:version`.
pub(crate) struct Replacement {
    pub(crate) item: Item,
    pub(crate) condition: &'static str,
    pub(crate) version: u32,
}

impl Ledger {
    pub(crate) async fn read<T: DeserializeOwned>(&self, pk: impl Into<String>) -> Result<Option<T>, LedgerError> {
        Ok(self.item(pk).await?.map(serde_dynamo::from_item).transpose()?)
    }

    /// The item with this key, read consistently.
    pub(crate) async fn item(&self, pk: impl Into<String>) -> Result<Option<Item>, LedgerError> {
        let get = self.client.get_item().table_name(&self.table).key("pk", text(pk)).consistent_read(true);
        Ok(get.call().await.map_err(LedgerError::of("GetItem"))?.item)
    }

    pub(crate) fn put(&self, item: Item) -> PutItemFluentBuilder {
        self.client.put_item().table_name(&self.table).set_item(Some(item))
    }

    /// If there is an item, it is returned instead.
    pub(crate) fn put_unless_there(&self, item: Item) -> PutItemFluentBuilder {
        self.put(item)
            .condition_expression(ABSENT)
            .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld)
    }

    pub(crate) fn update(&self, pk: impl Into<String>) -> UpdateItemFluentBuilder {
        self.client.update_item().table_name(&self.table).key("pk", text(pk))
    }

    pub(crate) fn delete(&self, pk: impl Into<String>) -> DeleteItemFluentBuilder {
        self.client.delete_item().table_name(&self.table).key("pk", text(pk))
    }

    pub(crate) fn query(&self, index: &str) -> QueryFluentBuilder {
        self.client.query().table_name(&self.table).index_name(index)
    }

    pub(crate) async fn replace(&self, replacement: Replacement) -> Result<bool, LedgerError> {
        let Replacement { item, condition, version } = replacement;
        let put = self.put(item).condition_expression(condition);
        Ok(put.expression_attribute_values(":version", number(version)).write().await?.is_done())
    }

    pub(crate) fn replacing(&self, replacement: Replacement) -> TransactWriteItem {
        let Replacement { item, condition, version } = replacement;
        let put = self.putting(item).condition_expression(condition);
        put.expression_attribute_values(":version", number(version)).part()
    }

    pub(crate) fn putting(&self, item: Item) -> PutBuilder {
        Put::builder().table_name(&self.table).set_item(Some(item))
    }

    pub(crate) fn put_if_absent(&self, item: Item) -> TransactWriteItem {
        let put = self.putting(item).condition_expression(ABSENT);
        put.return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld).part()
    }

    pub(crate) fn updating(&self, pk: impl Into<String>) -> UpdateBuilder {
        Update::builder().table_name(&self.table).key("pk", text(pk))
    }

    pub(crate) fn deleting(&self, pk: impl Into<String>) -> DeleteBuilder {
        Delete::builder().table_name(&self.table).key("pk", text(pk))
    }

    pub(crate) fn checking(&self, pk: impl Into<String>) -> ConditionCheckBuilder {
        ConditionCheck::builder().table_name(&self.table).key("pk", text(pk))
    }
}
