use std::time::Duration;

use aws_sdk_dynamodb::error::{ProvideErrorMetadata, SdkError};
use aws_sdk_dynamodb::operation::transact_write_items::TransactWriteItemsError;
use aws_sdk_dynamodb::types::CancellationReason;
use backon::{ExponentialBuilder, Retryable};

/// The code of a cancellation reason whose item another transaction was writing.
const REASON: &str = "TransactionConflict";
/// The code of a plain write's error for the same.
const ERROR: &str = "TransactionConflictException";
/// Retries of a conflict: together well under a second, so that a batch fits its function's time.
const RETRIES: usize = 5;
const DELAY: Duration = Duration::from_millis(10);

/// Makes a write, again if another one was writing the same item at that moment.
///
/// A transaction and another write on one item at once are a conflict, in which DynamoDB lets neither through for sure.
/// The other one is done within milliseconds, so it is tried again at once.
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

/// An error that may say why a transaction was cancelled.
pub(crate) trait ConflictReasons {
    /// A reason for each write of the transaction, if that is what it says.
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
