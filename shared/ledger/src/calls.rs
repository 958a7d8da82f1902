//! How calls of DynamoDB begin and end.

use std::error::Error;
use std::time::Duration;

use aws_sdk_dynamodb::error::{ProvideErrorMetadata, SdkError};
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
    AttributeValue, CancellationReason, ConditionCheck, Delete, Put, ReturnValuesOnConditionCheckFailure,
    TransactWriteItem, Update,
};
use backon::{ExponentialBuilder, Retryable};
use futures::future::BoxFuture;
use futures::{FutureExt, StreamExt, TryFutureExt, TryStreamExt, stream};
use serde::de::DeserializeOwned;

use crate::item::{Item, from_item, number, text};
use crate::{Ledger, LedgerError};

pub(crate) const ABSENT: &str = "attribute_not_exists(pk)";
/// The condition that an item with a version is as it was read, or is absent.
pub(crate) const UNCHANGED: &str = "attribute_not_exists(pk) OR version = :version";
/// Why a part of a transaction or a batch can be built: to leave it out silently would drop a condition.
pub(crate) const COMPLETE: &str = "every required field is set";
/// The error code of a write for an item that a transaction was writing.
const CONFLICT: &str = "TransactionConflictException";
/// The codes of cancellation reasons: for an item that somebody else was writing, and for a condition.
const CONFLICT_IN_PART: &str = "TransactionConflict";
const CONDITION_FAILED: &str = "ConditionalCheckFailed";
/// How often a conflict is retried: well under a second in total, so that a batch fits into its function's time.
const RETRIES: usize = 5;
const DELAY: Duration = Duration::from_millis(10);
/// How many chunks are written concurrently: at most a megabyte at a time.
const CHUNKS_AT_ONCE: usize = 8;

pub(crate) trait Call: Sized {
    type Output: 'static;
    type Error: Error + Send + Sync + 'static;
    const NAME: &'static str;

    /// Makes it. Boxed by a function that is not `async`: a future is compiled by every crate that awaits it, and the
    /// SDK's take seconds each.
    fn call(self) -> BoxFuture<'static, Result<Self::Output, SdkError<Self::Error>>>;

    fn answer(self) -> BoxFuture<'static, Result<Self::Output, LedgerError>> {
        self.call().map_err(LedgerError::of(Self::NAME)).boxed()
    }
}

macro_rules! call {
    ($name:literal, $builder:ty, $output:ty, $error:ty) => {
        impl Call for $builder {
            type Output = $output;
            type Error = $error;
            const NAME: &'static str = $name;

            fn call(self) -> BoxFuture<'static, Result<$output, SdkError<$error>>> {
                Box::pin(self.send())
            }
        }
    };
}

call!("BatchGetItem", BatchGetItemFluentBuilder, BatchGetItemOutput, BatchGetItemError);
call!("BatchWriteItem", BatchWriteItemFluentBuilder, BatchWriteItemOutput, BatchWriteItemError);
call!("DeleteItem", DeleteItemFluentBuilder, DeleteItemOutput, DeleteItemError);
call!("GetItem", GetItemFluentBuilder, GetItemOutput, GetItemError);
call!("PutItem", PutItemFluentBuilder, PutItemOutput, PutItemError);
call!("Query", QueryFluentBuilder, QueryOutput, QueryError);
call!("TransactWriteItems", TransactWriteItemsFluentBuilder, TransactWriteItemsOutput, TransactWriteItemsError);
call!("UpdateItem", UpdateItemFluentBuilder, UpdateItemOutput, UpdateItemError);

/// Makes a write, and retries it if another write was changing the same item.
///
/// When a transaction and another write change an item at the same time, DynamoDB may reject both. The other one is
/// done within milliseconds, so the retry follows at once.
async fn retry_conflicts<C: Call + Clone>(
    write: &C,
    is_conflict: fn(&SdkError<C::Error>) -> bool,
) -> Result<C::Output, SdkError<C::Error>> {
    let backoff = ExponentialBuilder::default().with_min_delay(DELAY).with_max_times(RETRIES).with_jitter();
    (|| write.clone().call()).retry(backoff).when(is_conflict).await
}

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

fn is_conflict<E: ProvideErrorMetadata>(error: &SdkError<E>) -> bool {
    error.code() == Some(CONFLICT)
}

macro_rules! write {
    ($builder:ty, $error:ident) => {
        impl Write for $builder {
            async fn write(&self) -> Result<Written, LedgerError> {
                match retry_conflicts(self, is_conflict).await.map_err(SdkError::into_service_error) {
                    Ok(output) => Ok(Written::Done(output.attributes.unwrap_or_default())),
                    Err($error::ConditionalCheckFailedException(failed)) => {
                        Ok(Written::Refused(failed.item.unwrap_or_default()))
                    }
                    Err(other) => Err(LedgerError::DynamoDb { call: Self::NAME, source: Box::new(other) }),
                }
            }

            async fn must_write(&self) -> Result<Item, LedgerError> {
                let output = retry_conflicts(self, is_conflict).await.map_err(LedgerError::of(Self::NAME))?;
                Ok(output.attributes.unwrap_or_default())
            }
        }
    };
}

write!(PutItemFluentBuilder, PutItemError);
write!(UpdateItemFluentBuilder, UpdateItemError);
write!(DeleteItemFluentBuilder, DeleteItemError);

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

/// The condition and the values of a write.
pub(crate) trait Conditional: Sized {
    /// What its expressions mean by these names.
    fn values<const N: usize>(self, values: [(&str, AttributeValue); N]) -> Self;

    /// Returns the item on which its condition fails.
    fn or_old(self) -> Self;
}

macro_rules! conditional {
    ($($builder:ty),*) => {
        $(impl Conditional for $builder {
            fn values<const N: usize>(self, values: [(&str, AttributeValue); N]) -> Self {
                values.into_iter().fold(self, |write, (name, value)| write.expression_attribute_values(name, value))
            }

            fn or_old(self) -> Self {
                self.return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld)
            }
        })*
    };
}

conditional!(PutItemFluentBuilder, UpdateItemFluentBuilder, DeleteItemFluentBuilder);
conditional!(PutBuilder, UpdateBuilder, DeleteBuilder, ConditionCheckBuilder);

fn reasons(error: &SdkError<TransactWriteItemsError>) -> &[CancellationReason] {
    match error.as_service_error() {
        Some(TransactWriteItemsError::TransactionCanceledException(cancelled)) => cancelled.cancellation_reasons(),
        _ => &[],
    }
}

fn has_reason(error: &SdkError<TransactWriteItemsError>, code: &str) -> bool {
    reasons(error).iter().any(|reason| reason.code() == Some(code))
}

pub(crate) fn has_failed(reasons: &[CancellationReason], at: usize) -> bool {
    reasons.get(at).and_then(CancellationReason::code) == Some(CONDITION_FAILED)
}

/// The item on which the condition of a write failed, if it did and the item exists.
pub(crate) fn old_item(reasons: &[CancellationReason], at: usize) -> Option<Item> {
    let reason = reasons.get(at).filter(|_| has_failed(reasons, at))?;
    reason.item.clone().filter(|item| !item.is_empty())
}

/// Replaces an item that was read, on a condition on its `:version`.
pub(crate) struct Replacement {
    pub(crate) item: Item,
    pub(crate) condition: &'static str,
    pub(crate) version: u32,
}

impl Ledger {
    pub(crate) async fn read<T: DeserializeOwned>(&self, pk: impl Into<String>) -> Result<Option<T>, LedgerError> {
        self.read_with(pk, true).await
    }

    /// The same. Unless `consistently`, it may lag a moment behind, for half the price.
    pub(crate) async fn read_with<T: DeserializeOwned>(
        &self,
        pk: impl Into<String>,
        consistently: bool,
    ) -> Result<Option<T>, LedgerError> {
        self.get(pk, consistently).await?.map(from_item).transpose()
    }

    /// The item with this key, read consistently.
    pub(crate) async fn item(&self, pk: impl Into<String>) -> Result<Option<Item>, LedgerError> {
        self.get(pk, true).await
    }

    async fn get(&self, pk: impl Into<String>, consistently: bool) -> Result<Option<Item>, LedgerError> {
        let get = self.client.get_item().table_name(&self.table).key("pk", text(pk)).consistent_read(consistently);
        Ok(get.answer().await?.item)
    }

    pub(crate) fn put(&self, item: Item) -> PutItemFluentBuilder {
        self.client.put_item().table_name(&self.table).set_item(Some(item))
    }

    /// Writes the chunks of something that everybody writes alike.
    pub(crate) async fn put_chunks(&self, items: impl Iterator<Item = Item>) -> Result<(), LedgerError> {
        let puts = stream::iter(items.map(|item| self.put(item).answer())).map(Ok::<_, LedgerError>);
        puts.try_for_each_concurrent(CHUNKS_AT_ONCE, async |put| put.await.map(drop)).await
    }

    /// If there is an item, it is returned instead.
    pub(crate) fn put_unless_there(&self, item: Item) -> PutItemFluentBuilder {
        self.put(item).condition_expression(ABSENT).or_old()
    }

    pub(crate) fn update(&self, pk: impl Into<String>, expression: impl Into<String>) -> UpdateItemFluentBuilder {
        self.client.update_item().table_name(&self.table).key("pk", text(pk)).update_expression(expression)
    }

    pub(crate) fn delete(&self, pk: impl Into<String>) -> DeleteItemFluentBuilder {
        self.client.delete_item().table_name(&self.table).key("pk", text(pk))
    }

    pub(crate) fn query<const N: usize>(
        &self,
        index: &str,
        condition: impl Into<String>,
        values: [(&str, AttributeValue); N],
    ) -> QueryFluentBuilder {
        let query = self.client.query().table_name(&self.table).index_name(index).key_condition_expression(condition);
        values.into_iter().fold(query, |query, (name, value)| query.expression_attribute_values(name, value))
    }

    /// Makes all of the writes, or none; then says which conditions failed.
    pub(crate) async fn transact(
        &self,
        writes: Vec<TransactWriteItem>,
    ) -> Result<Option<Vec<CancellationReason>>, LedgerError> {
        let transaction = self.client.transact_write_items().set_transact_items(Some(writes));
        match retry_conflicts(&transaction, |error| has_reason(error, CONFLICT_IN_PART)).await {
            Ok(_) => Ok(None),
            Err(error) if has_reason(&error, CONDITION_FAILED) => Ok(Some(reasons(&error).to_vec())),
            Err(error) => Err(LedgerError::of("TransactWriteItems")(error)),
        }
    }

    pub(crate) async fn replace(&self, replacement: Replacement) -> Result<bool, LedgerError> {
        let Replacement { item, condition, version } = replacement;
        let put = self.put(item).condition_expression(condition).values([(":version", number(version))]);
        Ok(put.write().await?.is_done())
    }

    pub(crate) fn replacing(&self, replacement: Replacement) -> TransactWriteItem {
        let Replacement { item, condition, version } = replacement;
        self.putting(item).condition_expression(condition).values([(":version", number(version))]).part()
    }

    pub(crate) fn putting(&self, item: Item) -> PutBuilder {
        Put::builder().table_name(&self.table).set_item(Some(item))
    }

    pub(crate) fn put_if_absent(&self, item: Item) -> TransactWriteItem {
        self.putting(item).condition_expression(ABSENT).or_old().part()
    }

    pub(crate) fn updating(&self, pk: impl Into<String>, expression: impl Into<String>) -> UpdateBuilder {
        Update::builder().table_name(&self.table).key("pk", text(pk)).update_expression(expression)
    }

    pub(crate) fn deleting(&self, pk: impl Into<String>) -> DeleteBuilder {
        Delete::builder().table_name(&self.table).key("pk", text(pk))
    }

    pub(crate) fn checking(&self, pk: impl Into<String>) -> ConditionCheckBuilder {
        ConditionCheck::builder().table_name(&self.table).key("pk", text(pk))
    }
}
