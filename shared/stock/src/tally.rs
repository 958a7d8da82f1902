//! What operators watch while a sale runs: how often which answer was given, and how long a reservation waits.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use sale::{EpochMs, HoldState, Lane, Round, SaleId};

use crate::code::{parse, unexpected};
use crate::keys::Keys;
use crate::script::Script;
use crate::{Code, Hold, Stock, StockError};

/// Elements of the outbox looked at for one that still waits: as many as reconciliation works off in one run. What is in
/// front of it was ordered since then.
const LOOKED_AT: usize = 1000;
/// Of these, so many at a time: mostly the first is it.
const PAGE: usize = 100;

static TALLY: LazyLock<Script> = LazyLock::new(|| Script::new(include_str!("../../../lua/tally.lua")));

/// What became of counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tallied {
    /// They are added.
    Now,
    /// Redis has no such round.
    UnknownSale,
}

impl Stock {
    /// Adds to how often each answer was given to requests for a round.
    ///
    /// # Errors
    /// If Redis does not answer; then they may or may not be added. Repeating it may count twice.
    pub async fn tally(
        &self,
        sale: &SaleId,
        round: Round,
        lane: Lane,
        counts: &BTreeMap<&'static str, u64>,
    ) -> Result<Tallied, StockError> {
        let keys = Keys::of(sale, round, lane);
        let mut call = TALLY.key(keys.sale).key(keys.answers);
        for (code, count) in counts {
            call = call.arg(code).arg(count);
        }
        let answer = call.invoke_async(&self.connection).await?;
        match parse(&answer)?.0 {
            Code::Tallied => Ok(Tallied::Now),
            Code::UnknownSale => Ok(Tallied::UnknownSale),
            _ => Err(unexpected(&answer)),
        }
    }

    /// How often each answer was given since the round was loaded, as far as it was told.
    ///
    /// # Errors
    /// If Redis does not answer.
    pub async fn answers(&self, sale: &SaleId, round: Round, lane: Lane) -> Result<BTreeMap<String, u64>, StockError> {
        self.connection.ask(redis::cmd("HGETALL").arg(Keys::of(sale, round, lane).answers)).await
    }

    /// When the oldest reservation was made that no order has confirmed. None if there is none, or a thousand younger ones
    /// were confirmed before it.
    ///
    /// # Errors
    /// If Redis does not answer.
    pub async fn held_since(&self, sale: &SaleId, round: Round, lane: Lane) -> Result<Option<EpochMs>, StockError> {
        let keys = Keys::of(sale, round, lane);
        for start in (0..LOOKED_AT).step_by(PAGE) {
            let elements: Vec<String> =
                self.connection.ask(redis::cmd("LRANGE").arg(&keys.outbox).arg(start).arg(start + PAGE - 1)).await?;
            if elements.is_empty() {
                break;
            }
            let users = elements.iter().map(|element| element.split(' ').next().unwrap_or_default());
            let records: Vec<Option<String>> =
                self.connection.ask(redis::cmd("HMGET").arg(&keys.buyers).arg(users.collect::<Vec<_>>())).await?;
            let mut since = None;
            for record in records.into_iter().flatten() {
                let held = Hold::parse_all(&record)?.into_iter().filter(|hold| hold.state == HoldState::Held);
                since = held.map(|hold| hold.reserved_at_ms).chain(since).min();
            }
            if since.is_some() {
                return Ok(since);
            }
            if elements.len() < PAGE {
                break;
            }
        }
        Ok(None)
    }
}
