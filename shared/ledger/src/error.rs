use aws_sdk_dynamodb::error::{BuildError, SdkError};

/// Why the ledger did not answer.
#[derive(Debug, thiserror::Error)]
pub enum LedgerError {
    /// DynamoDB gave no answer or refused; the same call can be made again.
    #[error("DynamoDB did not answer {call}")]
    DynamoDb {
        /// The call.
        call: &'static str,
        /// What it said.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// An item that this version does not know.
    #[error("the ledger holds an item that this version cannot read")]
    Item(#[from] serde_dynamo::Error),
    /// The operating system gave no randomness for a seed.
    #[error("there is no randomness for a seed")]
    Randomness(#[from] rand::rngs::SysError),
    /// What was asked for follows from a beacon that nobody has posted yet.
    #[error("the beacon of round {0} is not posted yet")]
    NoBeacon(String),
    /// Something that the ledger's own conditions make impossible.
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
