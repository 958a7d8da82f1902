use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use sale::audit::{Claim, StockView};
use sale::{Lane, ReservationId, Round, SaleId, UserId};

use crate::code::unexpected;
use crate::keys::Keys;
use crate::{Counters, Hold, Stock, StockError};

/// Buyers and ranges asked for at a time, so that reading holds nobody up.
const PAGE: usize = 1000;

/// Everything that Redis says of a round.
#[derive(Debug, Clone)]
pub struct RoundView {
    /// The counters, read first: a unit that is handed out while the rest is read is still free in this view.
    pub counters: Counters,
    /// Units to hand out, from the counters and the set.
    pub free: Vec<RangeInclusive<u32>>,
    /// Every entry of every user.
    pub holds: Vec<(UserId, Hold)>,
    /// Users in the outbox.
    pub outbox: usize,
}

impl RoundView {
    /// The part of it that the audit compares.
    pub fn to_audit(&self, sale: &SaleId, round: Round) -> StockView {
        let claim = |(_, hold): &(UserId, Hold)| Claim {
            id: ReservationId { sale: sale.clone(), round, uuid: hold.uuid },
            unit: hold.unit,
            since_ms: hold.reserved_at_ms,
            state: hold.state,
        };
        StockView { free: self.free.clone(), holds: self.holds.iter().map(claim).collect() }
    }
}

impl Stock {
    /// The counters of a round, if Redis has it.
    ///
    /// # Errors
    /// If Redis does not answer.
    pub async fn counters(&self, sale: &SaleId, round: Round, lane: Lane) -> Result<Option<Counters>, StockError> {
        let key = Keys::of(sale, round, lane).sale;
        let bytes: Option<Vec<u8>> = self.connection.ask(redis::cmd("GET").arg(key)).await?;
        let Some(bytes) = bytes else { return Ok(None) };
        Counters::unpack(&bytes).map(Some).ok_or_else(|| unexpected("the sale's counters"))
    }

    /// Everything that Redis says of a round, if it has it. Read in pages, so exact only while nobody buys; if no unit has
    /// moved by the time that all is read, no unit is missing from it.
    ///
    /// # Errors
    /// If Redis does not answer.
    pub async fn view(&self, sale: &SaleId, round: Round, lane: Lane) -> Result<Option<RoundView>, StockError> {
        let keys = Keys::of(sale, round, lane);
        let Some(counters) = self.counters(sale, round, lane).await? else { return Ok(None) };
        let mut free = self.free_ranges(&keys.free).await?;
        if counters.next_unit <= counters.last_unit {
            free.push(counters.next_unit..=counters.last_unit);
        }
        let holds = self.all_holds(&keys.buyers).await?;
        let outbox = self.connection.ask(redis::cmd("LLEN").arg(&keys.outbox)).await?;
        Ok(Some(RoundView { counters, free, holds, outbox }))
    }

    async fn free_ranges(&self, key: &str) -> Result<Vec<RangeInclusive<u32>>, StockError> {
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

    async fn all_holds(&self, key: &str) -> Result<Vec<(UserId, Hold)>, StockError> {
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
        let mut holds = Vec::with_capacity(records.len());
        for (user, record) in records {
            let user: UserId = user.parse().map_err(|_| unexpected(&user))?;
            holds.extend(Hold::parse_all(&record)?.into_iter().map(|hold| (user.clone(), hold)));
        }
        Ok(holds)
    }
}

fn parse_range(range: &str) -> Option<RangeInclusive<u32>> {
    let (first, last) = range.split_once('-')?;
    Some(first.parse().ok()?..=last.parse().ok()?)
}
