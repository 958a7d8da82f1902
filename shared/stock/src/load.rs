use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::sync::LazyLock;

use sale::{EpochMs, Lane, ReservationId, Round, SaleId, Terms, UserId};

use uuid::Uuid;

use crate::code::{parse, unexpected};
use crate::keys::Keys;
use crate::script::Script;
use crate::{Code, Hold, Stock, StockError};

static LOAD: LazyLock<Script> = LazyLock::new(|| Script::new(crate::expanded::LOAD));

/// Buyers written by one call of the script: keeps it in the order of a millisecond.
const BUYERS_PER_PAGE: usize = 500;
/// How long a round's keys outlive the last moment at which one of its orders can still be paid: time to look.
const KEYS_OUTLIVE_ORDERS_S: u32 = 24 * 60 * 60;

/// A round as it is to stand in Redis.
#[derive(Debug, Clone)]
pub struct RoundStock {
    /// The sale.
    pub sale: SaleId,
    /// The round.
    pub round: Round,
    /// The lane.
    pub lane: Lane,
    /// What is sold and when.
    pub terms: Terms,
    /// Whether an operator paused it.
    pub paused: bool,
    /// The version of the sale that these terms are of.
    pub version: u32,
    /// Tells this loading of the keys from every other: the moment of it.
    pub epoch_ms: EpochMs,
    /// What the ledger says is taken: who has which unit in which slot.
    pub taken: Vec<(UserId, Hold)>,
    /// Who is kept out until when.
    pub denied: Vec<(UserId, EpochMs)>,
}

/// What became of a loading.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Loaded {
    /// The round can be bought from.
    Now,
    /// The round was there before; nothing changed.
    Present,
}

/// When the keys of a round of these terms are to go.
pub(crate) fn expires_at_ms(terms: &Terms) -> EpochMs {
    terms.closes_at_ms.plus_s(terms.payment_window_s).plus_s(KEYS_OUTLIVE_ORDERS_S)
}

impl RoundStock {
    /// The units to hand out: gaps among the taken ones, and the first of those never handed out.
    fn free(&self) -> (Vec<RangeInclusive<u32>>, u32) {
        let mut taken: Vec<u32> = self.taken.iter().map(|(_, hold)| hold.unit.0).collect();
        taken.sort_unstable();
        let mut next = 1;
        let mut gaps = Vec::new();
        for unit in taken {
            if unit > next {
                gaps.push(next..=unit - 1);
            }
            next = next.max(unit.saturating_add(1));
        }
        (gaps, next)
    }

    fn records(&self) -> BTreeMap<&UserId, String> {
        let mut records: BTreeMap<&UserId, String> = BTreeMap::new();
        let entries = self.taken.iter().map(|(user, hold)| (user, hold.to_entry()));
        let notes = self.denied.iter().map(|(user, until)| (user, format!("d {}", until.0)));
        for (user, part) in entries.chain(notes) {
            let record = records.entry(user).or_default();
            if !record.is_empty() {
                record.push(';');
            }
            record.push_str(&part);
        }
        records
    }
}

impl Stock {
    /// Whether the round can be bought from.
    ///
    /// # Errors
    /// If Redis does not answer.
    pub async fn is_loaded(&self, sale: &SaleId, round: Round, lane: Lane) -> Result<bool, StockError> {
        let key = Keys::of(sale, round, lane).sale;
        self.connection.ask(redis::cmd("EXISTS").arg(key)).await
    }

    /// Makes a round's keys if it has none. Never overwrites a live round.
    ///
    /// # Errors
    /// If Redis does not answer. Can be repeated.
    pub async fn load(&self, stock: &RoundStock) -> Result<Loaded, StockError> {
        let loading = Uuid::new_v4();
        let expires_at = expires_at_ms(&stock.terms).0;
        let records: Vec<(&UserId, String)> = stock.records().into_iter().collect();
        for page in records.chunks(BUYERS_PER_PAGE) {
            let mut args = vec!["buyers".to_owned(), expires_at.to_string()];
            args.extend(page.iter().flat_map(|(user, record)| [user.as_str().to_owned(), record.clone()]));
            if self.load_step(stock, loading, &args).await? == Code::Present {
                return Ok(Loaded::Present);
            }
        }
        let (gaps, next) = stock.free();
        let returned: u32 = gaps.iter().map(|gap| gap.end() - gap.start() + 1).sum();
        let Terms { opens_at_ms, closes_at_ms, total, per_user_limit, .. } = &stock.terms;
        let mut args = vec!["open".to_owned(), expires_at.to_string()];
        args.extend(
            [next, *total, returned, u32::from(*per_user_limit), u32::from(stock.paused)].map(|n| n.to_string()),
        );
        args.extend([opens_at_ms, closes_at_ms, &stock.epoch_ms].map(|ms| ms.0.to_string()));
        args.push(stock.version.to_string());
        args.push(stock.terms.door.unpaid_limit.to_string());
        args.extend(gaps.iter().map(|gap| format!("{}-{}", gap.start(), gap.end())));
        match self.load_step(stock, loading, &args).await? {
            Code::Loaded => Ok(Loaded::Now),
            Code::Present => Ok(Loaded::Present),
            other => Err(unexpected(other.as_str())),
        }
    }

    async fn load_step(&self, stock: &RoundStock, loading: Uuid, args: &[String]) -> Result<Code, StockError> {
        let keys = Keys::of(&stock.sale, stock.round, stock.lane);
        let answer: String = LOAD
            .key(keys.sale)
            .key(keys.buyers)
            .key(keys.free)
            .key(keys.outbox)
            .key(Keys::staged(&stock.sale, stock.round, stock.lane, loading))
            .key(keys.denied)
            .key(Keys::staged_denied(&stock.sale, stock.round, stock.lane, loading))
            .arg(args)
            .invoke_async(&self.connection)
            .await?;
        Ok(parse(&answer)?.0)
    }

    /// The user's reservation of this id, if Redis has it.
    ///
    /// # Errors
    /// If Redis does not answer.
    pub async fn find(&self, id: &ReservationId, lane: Lane, user: &UserId) -> Result<Option<Hold>, StockError> {
        let key = Keys::of(&id.sale, id.round, lane).buyers;
        let record: Option<String> = self.connection.ask(redis::cmd("HGET").arg(key).arg(user.as_str())).await?;
        let Some(record) = record else { return Ok(None) };
        Ok(Hold::parse_all(&record)?.into_iter().find(|hold| hold.uuid == id.uuid))
    }
}
