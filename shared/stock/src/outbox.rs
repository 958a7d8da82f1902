//! The outbox: whose reservations no order has confirmed, so that they can be sent again.

use std::sync::LazyLock;
use std::time::Duration;

use futures::future::try_join_all;
use sale::{Claim, ClaimState, EpochMs, UserId};

use crate::entry::read_record;
use crate::lane_keys::LaneKeys;
use crate::script::Script;
use crate::script_code::{parse, unexpected};
use crate::{RoundStock, ScriptCode, StockError};

/// Elements of the outbox read at a time, so that reading holds nobody up.
const PAGE: usize = 1000;

static DUE: LazyLock<Script> = LazyLock::new(|| Script::new(crate::expanded::DUE));

/// One look at the front of the outbox.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Due {
    /// What it found to be due.
    pub claims: Vec<Claim>,
    /// Elements that it dealt with. Fewer than it was to look at: nothing else is due.
    pub looked: usize,
    /// Elements that there were.
    pub length: usize,
}

impl RoundStock<'_> {
    /// Takes held claims that are at least `wait` old and were not taken within `wait`, looking at no more than `most`
    /// elements of the outbox. Only of one lane: [`RoundStock::each_lane`] has them all. Those whose claim is no longer held are dropped.
    ///
    /// # Errors
    /// If Redis does not answer.
    pub async fn due(self, most: usize, wait: Duration) -> Result<Due, StockError> {
        let keys = self.keys();
        let answer: String = DUE
            .key(keys.buyers())
            .key(keys.outbox())
            .arg(most)
            .arg(wait.as_millis() as u64)
            .invoke_async(self.connection)
            .await?;
        let (ScriptCode::Due, rest) = parse(&answer)? else { return Err(unexpected(&answer)) };
        let (counts, lines) = rest.split_once('\n').ok_or_else(|| unexpected(&answer))?;
        let (looked, length) = counts.split_once(' ').ok_or_else(|| unexpected(&answer))?;
        let count = |text: &str| text.parse().map_err(|_| unexpected(&answer));
        let mut due = Due { looked: count(looked)?, length: count(length)?, claims: Vec::new() };
        for line in lines.lines() {
            let (user, entries) = line.split_once(' ').ok_or_else(|| unexpected(line))?;
            let user: UserId = user.parse().map_err(|_| unexpected(line))?;
            due.claims.extend(read_record(keys, &user, entries)?.into_iter().map(|entry| entry.claim));
        }
        Ok(due)
    }

    /// When the oldest reservation was made that no order has confirmed, looking at no more than `most` elements of the
    /// outbox. Read in pages, so exact only while nothing moves in it.
    ///
    /// # Errors
    /// If Redis does not answer.
    pub async fn held_since(self, most: usize) -> Result<Option<EpochMs>, StockError> {
        if self.is_of_lanes() {
            let lanes = self.each_lane().map(|lane| Box::pin(lane.held_since(most)));
            return Ok(try_join_all(lanes).await?.into_iter().flatten().min());
        }
        let keys = self.keys();
        let (outbox, buyers) = (keys.outbox(), keys.buyers());
        let mut oldest: Option<EpochMs> = None;
        let mut found_first = false;
        for start in (0..most).step_by(PAGE) {
            let end = (start + PAGE).min(most) - 1;
            let page: Vec<String> = self.connection.ask(redis::cmd("LRANGE").arg(&outbox).arg(start).arg(end)).await?;
            let elements = page.iter().map(|element| Waiting::parse(element));
            // Those that were never claimed are in the order in which they were made. Each that was is older than they are,
            // but anywhere in the list.
            let elements: Vec<Waiting<'_>> = elements.filter(|waiting| waiting.was_claimed || !found_first).collect();
            if !elements.is_empty() {
                let users: Vec<&str> = elements.iter().map(|waiting| waiting.user).collect();
                let records: Vec<Option<String>> =
                    self.connection.ask(redis::cmd("HMGET").arg(&buyers).arg(users)).await?;
                for (waiting, record) in elements.iter().zip(records) {
                    let since = record.map(|record| waiting.held_since(keys, &record)).transpose()?.flatten();
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
    fn held_since(&self, keys: LaneKeys<'_>, record: &str) -> Result<Option<EpochMs>, StockError> {
        let user = self.user.parse().map_err(|_| unexpected(self.user))?;
        let held = read_record(keys, &user, record)?.into_iter().filter(|entry| entry.state == ClaimState::Held);
        let of_it =
            held.map(|entry| entry.claim.reserved_at_ms).filter(|at| self.made_at_ms.is_none_or(|made| made == *at));
        Ok(of_it.min())
    }
}
