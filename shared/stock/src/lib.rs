//! Redis: the stock of a round. One typed function for each script in `lua/`, and the reads of the audit.

mod admit;
mod code;
mod connection;
mod keys;
mod load;
mod record;
mod repair;
mod script;
mod scripts;
mod view;

use std::time::Duration;

use redis::aio::ConnectionManagerConfig;

use crate::connection::Connection;

pub use admit::{Admit, AdmitRequest, Applicant, ChallengeRequest, Challenged, GcraLimit};
pub use code::Code;
pub use load::{Loaded, RoundStock};
pub use record::{Hold, InvalidRecord};
pub use repair::{Adopted, Amended, Restored};
pub use scripts::{Confirmed, Released, Reseated, Reserve};
pub use view::{Counters, RoundView};

/// Longest wait for an answer. A script takes well under a millisecond; what is slower than this is an outage, and the
/// caller has to say so while its client still waits.
const RESPONSE_TIMEOUT: Duration = Duration::from_millis(1000);
/// Longest wait for a connection, TLS included.
const CONNECTION_TIMEOUT: Duration = Duration::from_millis(1000);
/// Attempts to reconnect before a call fails.
const RECONNECTS: usize = 1;

/// Why Redis did not answer.
#[derive(Debug, thiserror::Error)]
pub enum StockError {
    /// The address is not one.
    #[error("REDIS_URL is not an address of the form redis://HOST:PORT or rediss://HOST:PORT")]
    Address(#[source] redis::RedisError),
    /// No answer, or an error instead of one.
    #[error("Redis did not answer")]
    Redis(#[source] redis::RedisError),
    /// It has not answered for a while and is not asked for a moment.
    #[error("Redis does not answer and was not asked")]
    Open,
    /// An answer that no script gives.
    #[error("Redis gave an answer that this version does not know: {0:?}")]
    Answer(String),
    /// An entry that no script writes.
    #[error("Redis holds a record that this version does not know")]
    Record(#[from] InvalidRecord),
}

/// The stock, in one Redis.
#[derive(Clone)]
pub struct Stock {
    connection: Connection,
}

impl Stock {
    /// A handle on the Redis at `url`. Connects at the first call and again whenever the connection is lost.
    ///
    /// # Errors
    /// [`StockError::Address`] if `url` is not an address.
    pub fn new(url: &str) -> Result<Self, StockError> {
        let client = redis::Client::open(url).map_err(StockError::Address)?;
        let config = ConnectionManagerConfig::new()
            .set_response_timeout(Some(RESPONSE_TIMEOUT))
            .set_connection_timeout(Some(CONNECTION_TIMEOUT))
            .set_number_of_retries(RECONNECTS);
        Ok(Self { connection: Connection::new(client, config).map_err(StockError::Address)? })
    }
}
