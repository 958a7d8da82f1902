use crate::entry::InvalidRecord;

/// Why Redis did not answer.
#[derive(Debug, thiserror::Error)]
pub enum StockError {
    /// The URL is invalid.
    #[error("REDIS_URL must have the form redis://HOST:PORT, with rediss:// for TLS and +cluster for a cluster")]
    Address(#[source] redis::RedisError),
    /// No answer, or an error instead of one.
    #[error("Redis did not answer")]
    Redis(#[source] redis::RedisError),
    /// The circuit breaker is open, because Redis has not answered for a while.
    #[error("Redis does not answer and was not asked")]
    Open(#[source] breaker::Open),
    /// The credentials cannot be read.
    #[error("cannot read the credentials for Redis")]
    Credentials(#[from] runtime::SecretError),
    /// An answer that no script gives.
    #[error("Redis gave an answer that this version does not know: {0:?}")]
    Answer(String, #[source] breaker::Corrupt),
    /// The remaining units have been on their way between lanes for too long to wait.
    #[error("the remaining units are on their way between lanes")]
    OnTheWay,
    /// An entry that no script writes.
    #[error("Redis holds a record that this version does not know")]
    Record(#[from] InvalidRecord),
}

impl StockError {
    /// Whether Redis, or the shard, did not answer. Another shard may.
    pub const fn is_away(&self) -> bool {
        matches!(self, Self::Redis(_) | Self::Open(_))
    }
}
