use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use sale::{Entry, UserId};

use crate::entry::read_record;
use crate::lane_keys::LaneKeys;
use crate::script_code::unexpected;
use crate::{Counters, RoundStock, StockError};

/// Buyers and ranges asked for at a time, so that reading holds nobody up.
const PAGE: usize = 1000;

/// Everything that Redis says of a round.
#[derive(Debug, Clone)]
pub struct RoundView {
    /// The counters, read first: a unit that is handed out while the rest is read is still free in this view.
    pub counters: Counters,
    /// Units to hand out, now or once they become available, from the counters and the set.
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

    /// Whether the round of these counters is over by Redis's own clock, which decides when nobody can get a unit any more. Not
    /// if Redis has lost it since.
    ///
    /// Its keys expire a fixed time after its end, so what is left of that time tells, without a script. If the end is changed
    /// in between, the expiry moves by as much, and the answer is still the right one.
    ///
    /// # Errors
    /// If Redis does not answer, or the keys never expire.
    pub async fn is_over(self, counters: &Counters) -> Result<bool, StockError> {
        let left_ms: i64 = self.connection.ask(redis::cmd("PTTL").arg(self.keys().sale())).await?;
        match left_ms {
            -2 => Ok(false),
            0.. => Ok(left_ms <= counters.expires_at_ms.0 - counters.closes_at_ms.0),
            _ => Err(unexpected("keys that never expire")),
        }
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
        // What is still to become available is free.
        if counters.next_unit <= counters.total() {
            free.push(counters.next_unit..=counters.total());
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

    async fn all_entries(self, keys: LaneKeys<'_>) -> Result<Vec<Entry>, StockError> {
        let key = &keys.buyers();
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
            entries.extend(read_record(keys, &user, &record)?);
        }
        Ok(entries)
    }
}

fn parse_range(range: &str) -> Option<RangeInclusive<u32>> {
    let (first, last) = range.split_once('-')?;
    Some(first.parse().ok()?..=last.parse().ok()?)
}
