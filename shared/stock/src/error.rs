use runtime::breaker;

use crate::record::InvalidRecord;

#[derive(Debug, thiserror::Error)]
pub enum StockError {
    #[error("REDIS_URL must have the form redis://HOST:PORT, with rediss:// for TLS and +cluster for a cluster")]
    Address(#[source] redis::RedisError),
    #[error("Redis did not answer")]
    Redis(#[source] redis::RedisError),
    #[error("Redis does not answer and was not asked")]
    Open(#[source] breaker::Open),
    #[error("cannot read the credentials for Redis")]
    Credentials(#[from] runtime::SecretError),
    #[error("Redis gave an answer that this version does not know: {0:?}")]
    Answer(String, #[source] breaker::Corrupt),
    #[error("the remaining units are on their way between lanes")]
    OnTheWay,
    #[error("Redis holds a record that this version does not know")]
    Record(#[from] InvalidRecord),
}

impl StockError {
    /// Whether Redis, or the shard, did not answer. Another shard may.
    pub const fn is_away(&self) -> bool {
        matches!(self, Self::Redis(_) | Self::Open(_))
    }
}
