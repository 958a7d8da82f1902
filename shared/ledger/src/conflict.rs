use std::time::Duration;

use aws_sdk_dynamodb::error::{ProvideErrorMetadata, SdkError};
use aws_sdk_dynamodb::operation::transact_write_items::TransactWriteItemsError;
use aws_sdk_dynamodb::types::CancellationReason;
use backon::{ExponentialBuilder, Retryable};

/// The code of a cancellation reason for an item that another transaction was writing.
const REASON: &str = "TransactionConflict";
/// The error code of a plain write for the same.
const ERROR: &str = "TransactionConflictException";
/// How often a conflict is retried: well under a second in total, so that a batch fits into its function's time.
const RETRIES: usize = 5;
const DELAY: Duration = Duration::from_millis(10);

/// Makes a write, and retries it if another write was changing the same item.
///
/// When a transaction and another write change an item at the same time, DynamoDB may reject both. The other one is
/// done within milliseconds, so the retry follows at once.
pub(crate) async fn retry_conflicts<T, E, R, F>(write: impl FnMut() -> F) -> Result<T, SdkError<E, R>>
where
    E: ProvideErrorMetadata + ConflictReasons,
    F: Future<Output = Result<T, SdkError<E, R>>>,
{
    let backoff = ExponentialBuilder::default().with_min_delay(DELAY).with_max_times(RETRIES).with_jitter();
    write.retry(backoff).when(is_conflict).await
}

fn is_conflict<E: ProvideErrorMetadata + ConflictReasons, R>(error: &SdkError<E, R>) -> bool {
    let Some(error) = error.as_service_error() else { return false };
    error.code() == Some(ERROR) || error.reasons().iter().any(|reason| reason.code() == Some(REASON))
}

pub(crate) trait ConflictReasons {
    fn reasons(&self) -> &[CancellationReason] {
        &[]
    }
}

impl ConflictReasons for aws_sdk_dynamodb::operation::put_item::PutItemError {}
impl ConflictReasons for aws_sdk_dynamodb::operation::delete_item::DeleteItemError {}
impl ConflictReasons for aws_sdk_dynamodb::operation::update_item::UpdateItemError {}

impl ConflictReasons for TransactWriteItemsError {
    fn reasons(&self) -> &[CancellationReason] {
        match self {
            Self::TransactionCanceledException(cancelled) => cancelled.cancellation_reasons(),
            _ => &[],
        }
    }
}
