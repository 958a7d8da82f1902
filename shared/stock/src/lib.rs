//! Redis: the stock of a round. [`Stock::round`] has a typed function for each script in `lua/`, and the reads for the
//! audit.

mod address;
mod admit;
mod block;
mod breakers;
mod buyers;
mod connection;
mod cooldown;
mod counters;
mod current_link;
mod error;
#[cfg(test)]
mod expand;
pub mod expanded;
mod lane_keys;
mod lanes;
mod lanes_seen;
mod lease;
mod line;
mod link;
mod load;
mod outbox;
mod record;
mod repair;
mod reservations;
mod round;
mod script;
mod script_code;
mod sync;
mod tally;
mod transfers;
mod view;

use crate::connection::RedisConnection;
use crate::lanes_seen::LanesSeen;

pub use address::{Access, Credentials};
pub use admit::{Admit, AdmitRequest, Applicant, ChallengeRequest, Challenged, GcraLimit, RateLimited};
pub use block::MAX_NOTED;
pub use buyers::{Buyers, BuyersRead};
pub use cooldown::COOLDOWN_MS;
pub use counters::Counters;
pub use error::StockError;
pub use lease::Lease;
pub use line::{Joined, Joining, LineMoved, LineSnapshot, LineStep};
pub use load::RoundLoad;
pub use outbox::Due;
pub use record::InvalidRecord;
pub use reservations::{Refused, Reseated};
pub use round::RoundStock;
pub use script_code::{Reserve, ScriptCode, SoldOut, WinsSeen};
pub use transfers::{DonateFor, Donated, Transfer};
pub use view::{PartialCounters, RoundView};

#[derive(Clone)]
pub struct Stock {
    connection: RedisConnection,
    seen: LanesSeen,
}

impl Stock {
    /// The stock in the Redis at `url`, with the credentials in the URL.
    pub fn new(url: &str) -> Result<Self, StockError> {
        Self::at(url, runtime::Clock::system())
    }

    /// The same, with the clock's limits.
    pub fn at(url: &str, clock: runtime::Clock) -> Result<Self, StockError> {
        Self::open(Access { url: url.to_owned(), credentials: None, authority: None, clock })
    }

    /// The stock in a Redis. Connects at the first call, and reconnects whenever the connection is lost.
    pub fn open(access: Access) -> Result<Self, StockError> {
        let connection = RedisConnection::new(access).map_err(StockError::Address)?;
        Ok(Self { connection, seen: LanesSeen::default() })
    }

    /// Connects, so that the first call need not wait for it.
    pub async fn connect(&self) -> Result<(), StockError> {
        // Any command that changes nothing and has a key for the cluster to route by.
        let _: bool = self.connection.ask(redis::cmd("EXISTS").arg("connected")).await?;
        Ok(())
    }
}
