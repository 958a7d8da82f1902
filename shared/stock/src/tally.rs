//! What operators watch while a sale runs: how often which answer was given, and how long a reservation waits.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use sale::{EpochMs, HoldState, Lane, Round, SaleId};

use crate::code::{parse, unexpected};
use crate::keys::Keys;
use crate::script::Script;
use crate::{Code, Hold, Stock, StockError};

/// Elements of the outbox read at a time, so that reading holds nobody up.
const PAGE: usize = 1000;

static TALLY: LazyLock<Script> = LazyLock::new(|| Script::new(crate::expanded::TALLY));

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

    /// When the oldest reservation was made that no order has confirmed, looking at no more than `most` elements of the
    /// outbox. Read in pages, so exact only while nothing moves in it.
    ///
    /// # Errors
    /// If Redis does not answer.
    pub async fn held_since(
        &self,
        sale: &SaleId,
        round: Round,
        lane: Lane,
        most: usize,
    ) -> Result<Option<EpochMs>, StockError> {
        let keys = Keys::of(sale, round, lane);
        let mut oldest: Option<EpochMs> = None;
        let mut found_first = false;
        for start in (0..most).step_by(PAGE) {
            let end = (start + PAGE).min(most) - 1;
            let page: Vec<String> =
                self.connection.ask(redis::cmd("LRANGE").arg(&keys.outbox).arg(start).arg(end)).await?;
            let elements = page.iter().map(|element| Waiting::parse(element));
            // Those that were never claimed are in the order in which they were made. Each that was is older than they are,
            // but anywhere in the list.
            let elements: Vec<Waiting<'_>> = elements.filter(|waiting| waiting.was_claimed || !found_first).collect();
            if !elements.is_empty() {
                let users: Vec<&str> = elements.iter().map(|waiting| waiting.user).collect();
                let records: Vec<Option<String>> =
                    self.connection.ask(redis::cmd("HMGET").arg(&keys.buyers).arg(users)).await?;
                for (waiting, record) in elements.iter().zip(records) {
                    let since = record.map(|record| waiting.held_since(&record)).transpose()?.flatten();
                    found_first |= since.is_some() && !waiting.was_claimed;
                    oldest = oldest.into_iter().chain(since).min();
                }
            }
            if page.len() < PAGE {
                break;
            }
        }
        Ok(oldest)
    }
}

/// An element of the outbox.
struct Waiting<'a> {
    user: &'a str,
    /// When its reservation was made. The version before did not say, and meant all that the user holds.
    made_at_ms: Option<EpochMs>,
    /// Or written by the version before.
    was_claimed: bool,
}

impl<'a> Waiting<'a> {
    fn parse(element: &'a str) -> Self {
        let mut fields = element.split(' ');
        let user = fields.next().unwrap_or_default();
        let made_at = fields.next().and_then(|text| text.strip_prefix('0')?.parse().ok()).map(EpochMs);
        Self { user, made_at_ms: made_at, was_claimed: made_at.is_none() || fields.next().is_some() }
    }

    /// When the oldest of its reservations was made that the user's record has as held.
    fn held_since(&self, record: &str) -> Result<Option<EpochMs>, StockError> {
        let held = Hold::parse_all(record)?.into_iter().filter(|hold| hold.state == HoldState::Held);
        let of_it = held.map(|hold| hold.reserved_at_ms).filter(|at| self.made_at_ms.is_none_or(|made| made == *at));
        Ok(of_it.min())
    }
}
