use std::ops::RangeInclusive;

use sale::audit::{Claim, StockView};
use sale::{EpochMs, Lane, ReservationId, Round, SaleId, UserId};

use crate::code::unexpected;
use crate::keys::Keys;
use crate::{Hold, Stock, StockError};

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
}

impl Counters {
    const SIZE: usize = 38;

    /// Reads the packed string whose layout is in `lua/README.md`.
    fn unpack(bytes: &[u8]) -> Option<Self> {
        if bytes.len() != Self::SIZE {
            return None;
        }
        let number = |at: usize, size: usize| bytes[at..at + size].iter().fold(0i64, |n, b| n << 8 | i64::from(*b));
        Some(Self {
            next: u32::try_from(number(0, 4)).ok()?,
            last: u32::try_from(number(4, 4)).ok()?,
            returned: u32::try_from(number(8, 4)).ok()?,
            per_user_limit: bytes[12],
            paused: bytes[13] != 0,
            opens_at_ms: EpochMs(number(14, 6)),
            closes_at_ms: EpochMs(number(20, 6)),
            epoch_ms: EpochMs(number(26, 6)),
            expires_at_ms: EpochMs(number(32, 6)),
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
    /// The counters, read last.
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
        let bytes: Option<Vec<u8>> = redis::cmd("GET").arg(key).query_async(&mut self.connection.clone()).await?;
        let Some(bytes) = bytes else { return Ok(None) };
        Counters::unpack(&bytes).map(Some).ok_or_else(|| unexpected("the sale's counters"))
    }

    /// Everything that Redis says of a round, if it has it. Read in pages, so exact only while nobody buys.
    ///
    /// # Errors
    /// If Redis does not answer.
    pub async fn view(&self, sale: &SaleId, round: Round, lane: Lane) -> Result<Option<RoundView>, StockError> {
        let keys = Keys::of(sale, round, lane);
        let mut connection = self.connection.clone();
        let mut holds = std::collections::BTreeMap::new();
        let mut cursor = 0u64;
        loop {
            let page: (u64, Vec<(String, String)>) = redis::cmd("HSCAN")
                .arg(&keys.buyers)
                .arg(cursor)
                .arg("COUNT")
                .arg(PAGE)
                .query_async(&mut connection)
                .await?;
            // A scan may return a field twice while the hash grows: the map keeps one.
            holds.extend(page.1);
            cursor = page.0;
            if cursor == 0 {
                break;
            }
        }
        let mut free = Vec::new();
        for start in (0..).step_by(PAGE) {
            let page: Vec<String> = redis::cmd("ZRANGE")
                .arg(&keys.free)
                .arg(start)
                .arg(start + PAGE - 1)
                .query_async(&mut connection)
                .await?;
            for element in &page {
                free.push(parse_range(element).ok_or_else(|| unexpected(element))?);
            }
            if page.len() < PAGE {
                break;
            }
        }
        let outbox = redis::cmd("LLEN").arg(&keys.outbox).query_async(&mut connection).await?;
        let Some(counters) = self.counters(sale, round, lane).await? else { return Ok(None) };
        if counters.next <= counters.last {
            free.push(counters.next..=counters.last);
        }
        let mut entries = Vec::new();
        for (user, record) in holds {
            let user: UserId = user.parse().map_err(|_| unexpected(&user))?;
            entries.extend(Hold::parse_all(&record)?.into_iter().map(|hold| (user.clone(), hold)));
        }
        Ok(Some(RoundView { counters, free, holds: entries, outbox }))
    }
}

fn parse_range(element: &str) -> Option<RangeInclusive<u32>> {
    let (first, last) = element.split_once('-')?;
    Some(first.parse().ok()?..=last.parse().ok()?)
}
