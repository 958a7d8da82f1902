use std::error::Error;

use aws_sdk_dynamodb::error::SdkError;
use rand::rngs::SysError;
use runtime::breaker::Corrupt;

#[derive(Debug)]
pub enum LedgerError {
    /// DynamoDB gave no answer or refused; the call can be repeated.
    DynamoDb {
        call: &'static str,
        source: Box<dyn Error + Send + Sync>,
    },
    Item(serde_dynamo::Error),
    Randomness(SysError),
    /// The result depends on a beacon that has not been posted.
    NoBeacon(String),
    /// Others were quicker each time; the call can be repeated.
    Contended(String),
    /// A state that the ledger's own conditions rule out.
    Contradiction(String),
}

impl LedgerError {
    pub(crate) fn of<E, R>(call: &'static str) -> impl FnOnce(SdkError<E, R>) -> Self
    where
        E: Error + Send + Sync + 'static,
        R: std::fmt::Debug + Send + Sync + 'static,
    {
        move |source| Self::DynamoDb { call, source: Box::new(source) }
    }
}

impl std::fmt::Display for LedgerError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::DynamoDb { call, .. } => write!(f, "DynamoDB did not answer {call}"),
            Self::Item(error) => write!(f, "the ledger holds an item that this version cannot read: {error}"),
            Self::Randomness(_) => f.write_str("there is no randomness for a seed"),
            Self::NoBeacon(round) => write!(f, "the beacon of round {round} is not posted yet"),
            Self::Contended(what) => write!(f, "others were quicker each time: {what}"),
            Self::Contradiction(what) => write!(f, "the ledger contradicts itself: {what}"),
        }
    }
}

// Not derived: the source of what cannot be read is that it is corrupt, whatever else is known of it.
impl Error for LedgerError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::DynamoDb { source, .. } => Some(&**source),
            Self::Randomness(error) => Some(error),
            Self::Item(_) | Self::Contradiction(_) => Some(&Corrupt),
            Self::NoBeacon(_) | Self::Contended(_) => None,
        }
    }
}

impl From<serde_dynamo::Error> for LedgerError {
    fn from(error: serde_dynamo::Error) -> Self {
        Self::Item(error)
    }
}

impl From<SysError> for LedgerError {
    fn from(error: SysError) -> Self {
        Self::Randomness(error)
    }
}
