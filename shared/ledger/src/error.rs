use aws_sdk_dynamodb::error::{BuildError, SdkError};

/// Why a call of the ledger failed.
#[derive(Debug, thiserror::Error)]
pub enum LedgerError {
    /// DynamoDB gave no answer or refused; the call can be repeated.
    #[error("DynamoDB did not answer {call}")]
    DynamoDb {
        /// The call.
        call: &'static str,
        /// The SDK's error.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// An item that this version cannot read.
    #[error("the ledger holds an item that this version cannot read")]
    Item(#[from] serde_dynamo::Error),
    /// The operating system gave no randomness for a seed.
    #[error("there is no randomness for a seed")]
    Randomness(#[from] rand::rngs::SysError),
    /// The result depends on a beacon that has not been posted.
    #[error("the beacon of round {0} is not posted yet")]
    NoBeacon(String),
    /// A state that the ledger's own conditions rule out.
    #[error("the ledger contradicts itself: {0}")]
    Contradiction(String),
}

impl LedgerError {
    pub(crate) fn of_input(call: &'static str, source: BuildError) -> Self {
        Self::DynamoDb { call, source: Box::new(source) }
    }

    pub(crate) fn of<E, R>(call: &'static str) -> impl FnOnce(SdkError<E, R>) -> Self
    where
        E: std::error::Error + Send + Sync + 'static,
        R: std::fmt::Debug + Send + Sync + 'static,
    {
        move |source| Self::DynamoDb { call, source: Box::new(source) }
    }
}
