//! Redis: the stock of a round. [`Stock::round`] has one typed function for each script in `lua/`, and the reads of the
//! audit.

mod access;
mod address;
mod admit;
mod breakers;
mod buyers;
mod claims;
mod connection;
mod counters;
mod deny;
mod entry;
#[cfg(test)]
mod expand;
pub mod expanded;
mod hold_back;
mod lane_keys;
mod lanes;
mod lanes_seen;
mod lease;
mod line;
mod link;
mod load;
mod outbox;
mod repair;
mod round;
mod script;
mod script_code;
mod tally;
mod transfers;
mod view;
mod wins_seen;

use crate::connection::RedisConnection;
use crate::lanes_seen::LanesSeen;

pub use access::{Access, Credentials};
pub use admit::{Admit, AdmitRequest, Applicant, ChallengeRequest, Challenged, GcraLimit, RateLimited};
pub use buyers::{Buyers, BuyersRead};
pub use claims::{Reseated, Reserve};
pub use counters::Counters;
pub use deny::MAX_NOTED;
pub use entry::InvalidRecord;
pub use hold_back::HOLD_BACK_MS;
pub use lease::Lease;
pub use line::{Joined, Joining, LineLook, LineMoved, LineStep};
pub use load::RoundLoad;
pub use outbox::Due;
pub use round::RoundStock;
pub use script_code::{ScriptCode, SoldOut};
pub use transfers::{DonateFor, Donated, Transfer};
pub use view::{KnownCounters, RoundView};
pub use wins_seen::WinsSeen;

/// Why Redis did not answer.
#[derive(Debug, thiserror::Error)]
pub enum StockError {
    /// The address is not one.
    #[error(
        "REDIS_URL is not an address of the form redis://HOST:PORT, with rediss:// for TLS, +cluster for a cluster"
    )]
    Address(#[source] redis::RedisError),
    /// No answer, or an error instead of one.
    #[error("Redis did not answer")]
    Redis(#[source] redis::RedisError),
    /// It has not answered for a while and is not asked for a moment.
    #[error("Redis does not answer and was not asked")]
    Open(#[source] breaker::Open),
    /// Nobody says with what name and password it lets this function in.
    #[error("the credentials for Redis cannot be had")]
    Credentials(#[from] runtime::SecretError),
    /// An answer that no script gives.
    #[error("Redis gave an answer that this version does not know: {0:?}")]
    Answer(String),
    /// What is left of the round is on its way between its lanes, for longer than can be waited for.
    #[error("the units that are left are on their way between lanes")]
    OnTheWay,
    /// An entry that no script writes.
    #[error("Redis holds a record that this version does not know")]
    Record(#[from] InvalidRecord),
}

impl StockError {
    /// Whether Redis, or the shard that was asked, gave no answer: another one may.
    pub const fn is_away(&self) -> bool {
        matches!(self, Self::Redis(_) | Self::Open(_))
    }
}

/// The stock, in one Redis.
#[derive(Clone)]
pub struct Stock {
    connection: RedisConnection,
    seen: LanesSeen,
}

impl Stock {
    /// A handle on the Redis at `url`, which lets in whoever the address says.
    ///
    /// # Errors
    /// [`StockError::Address`] if `url` is not an address.
    pub fn new(url: &str) -> Result<Self, StockError> {
        Self::open(Access { url: url.to_owned(), credentials: None, authority: None })
    }

    /// A handle on a Redis. Connects at the first call and again whenever the connection is lost.
    ///
    /// # Errors
    /// [`StockError::Address`] if the URL is not an address.
    pub fn open(access: Access) -> Result<Self, StockError> {
        Ok(Self { connection: RedisConnection::new(access).map_err(StockError::Address)?, seen: LanesSeen::default() })
    }

    /// Connects, so that the first call does not wait for that.
    ///
    /// # Errors
    /// If Redis does not answer.
    pub async fn connect(&self) -> Result<(), StockError> {
        // Any command that changes nothing, and that a cluster has a place for.
        let _: bool = self.connection.ask(redis::cmd("EXISTS").arg("connected")).await?;
        Ok(())
    }
}
