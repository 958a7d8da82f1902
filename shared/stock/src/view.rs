use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use sale::{Entry, EpochMs, UserId};

use crate::code::unexpected;
use crate::entry::read_record;
use crate::keys::Keys;
use crate::{RoundStock, StockError};

/// Buyers and ranges asked for at a time, so that reading holds nobody up.
const PAGE: usize = 1000;

/// The counters and terms of a round in Redis.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Counters {
    /// The next unit that was never handed out.
    pub next: u32,
    /// The last unit.
    pub last: u32,
    /// Units in the set of returned ones.
    pub returned: u32,
    /// Counts what the set of returned units gave and took.
    pub moves: u32,
    /// When a unit was handed out last, or when these keys were loaded.
    pub last_won_at_ms: EpochMs,
    /// Most live reservations of a user.
    pub per_user_limit: u8,
    /// Whether an operator paused it.
    pub paused: bool,
    /// The first moment at which it can be bought.
    pub opens_at_ms: EpochMs,
    /// The first moment at which it can no longer be bought.
    pub closes_at_ms: EpochMs,
    /// When these keys were loaded.
    pub epoch_ms: EpochMs,
    /// When they expire.
    pub expires_at_ms: EpochMs,
    /// The version of the sale whose terms are in force.
    pub version: u32,
    /// The first moment at which what came back to a round without free units is sold.
    pub sellable_at_ms: EpochMs,
    /// Reservations of a user that may end unpaid; 0 for any number.
    pub unpaid_limit: u8,
}

impl Counters {
    const SIZE: usize = 59;
    /// What the version before wrote: the first so many bytes.
    const SIZE_BEFORE: usize = 52;

    /// Reads the packed string whose layout is in `lua/README.md`.
    fn unpack(bytes: &[u8]) -> Option<Self> {
        if !(Self::SIZE_BEFORE..=Self::SIZE).contains(&bytes.len()) {
            return None;
        }
        let mut bytes = bytes.to_vec();
        bytes.resize(Self::SIZE, 0);
        let number = |at: usize, size: usize| bytes[at..at + size].iter().fold(0i64, |n, b| n << 8 | i64::from(*b));
        let count = |at| u32::try_from(number(at, 4)).ok();
        let moment = |at| EpochMs(number(at, 6));
        Some(Self {
            next: count(0)?,
            last: count(4)?,
            returned: count(8)?,
            moves: count(12)?,
            last_won_at_ms: moment(16),
            per_user_limit: bytes[22],
            paused: bytes[23] != 0,
            opens_at_ms: moment(24),
            closes_at_ms: moment(30),
            epoch_ms: moment(36),
            expires_at_ms: moment(42),
            version: count(48)?,
            sellable_at_ms: moment(52),
            unpaid_limit: bytes[58],
        })
    }

    /// Units that can be handed out.
    pub const fn free(&self) -> u32 {
        self.returned + (self.last + 1).saturating_sub(self.next)
    }
}

/// Everything that Redis says of a round.
#[derive(Debug, Clone)]
pub struct RoundView {
    /// The counters, read first: a unit that is handed out while the rest is read is still free in this view.
    pub counters: Counters,
    /// Units to hand out, from the counters and the set.
    pub free: Vec<RangeInclusive<u32>>,
    /// Every entry of every user.
    pub entries: Vec<Entry>,
    /// Users in the outbox.
    pub outbox: usize,
}

impl RoundStock<'_> {
    /// The counters, if Redis has the round.
    ///
    /// # Errors
    /// If Redis does not answer.
    pub async fn counters(self) -> Result<Option<Counters>, StockError> {
        let bytes: Option<Vec<u8>> = self.connection.ask(redis::cmd("GET").arg(self.keys().sale())).await?;
        let Some(bytes) = bytes else { return Ok(None) };
        Counters::unpack(&bytes).map(Some).ok_or_else(|| unexpected("the sale's counters"))
    }

    /// Everything that Redis says of the round, if it has it. Read in pages, so exact only while nobody buys; if no unit has
    /// moved by the time that all is read, no unit is missing from it.
    ///
    /// # Errors
    /// If Redis does not answer.
    pub async fn view(self) -> Result<Option<RoundView>, StockError> {
        let keys = self.keys();
        let Some(counters) = self.counters().await? else { return Ok(None) };
        let mut free = self.free_ranges(&keys.free()).await?;
        if counters.next <= counters.last {
            free.push(counters.next..=counters.last);
        }
        let entries = self.all_entries(keys).await?;
        let outbox = self.connection.ask(redis::cmd("LLEN").arg(keys.outbox())).await?;
        Ok(Some(RoundView { counters, free, entries, outbox }))
    }

    async fn free_ranges(self, key: &str) -> Result<Vec<RangeInclusive<u32>>, StockError> {
        let mut free = Vec::new();
        for start in (0..).step_by(PAGE) {
            let page: Vec<String> =
                self.connection.ask(redis::cmd("ZRANGE").arg(key).arg(start).arg(start + PAGE - 1)).await?;
            for range in &page {
                free.push(parse_range(range).ok_or_else(|| unexpected(range))?);
            }
            if page.len() < PAGE {
                break;
            }
        }
        Ok(free)
    }

    async fn all_entries(self, lane: Keys<'_>) -> Result<Vec<Entry>, StockError> {
        let key = &lane.buyers();
        let at_least: usize = self.connection.ask(redis::cmd("HLEN").arg(key)).await?;
        // A scan may return a field twice while the hash grows: the map keeps one.
        let mut records = BTreeMap::new();
        let mut cursor = 0u64;
        loop {
            let (next, page): (u64, Vec<(String, String)>) =
                self.connection.ask(redis::cmd("HSCAN").arg(key).arg(cursor).arg("COUNT").arg(PAGE)).await?;
            records.extend(page);
            cursor = next;
            if cursor == 0 {
                break;
            }
        }
        // A cursor means nothing to a node that took over in the middle of the scan.
        if records.len() < at_least {
            return Err(unexpected("fewer buyers than there are"));
        }
        let mut entries = Vec::with_capacity(records.len());
        for (user, record) in records {
            let user: UserId = user.parse().map_err(|_| unexpected(&user))?;
            entries.extend(read_record(lane, &user, &record)?);
        }
        Ok(entries)
    }
}

fn parse_range(range: &str) -> Option<RangeInclusive<u32>> {
    let (first, last) = range.split_once('-')?;
    Some(first.parse().ok()?..=last.parse().ok()?)
}
