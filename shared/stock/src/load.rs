use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::sync::LazyLock;

use sale::{Claim, ClaimState, EpochMs, RainPlan, Round, Terms, UserId};
use uuid::Uuid;

use crate::entry::write_entry;
use crate::script::Script;
use crate::script_code::{parse, unexpected};
use crate::{RoundStock, ScriptCode, StockError};

static LOAD: LazyLock<Script> = LazyLock::new(|| Script::new(crate::expanded::LOAD));
static AMEND: LazyLock<Script> = LazyLock::new(|| Script::new(crate::expanded::AMEND));

/// Buyers written by one call of the script: keeps it in the order of a millisecond.
const BUYERS_PER_PAGE: usize = 500;
/// How long a round's keys outlive the last moment at which one of its orders can still be paid: time to look.
const KEYS_OUTLIVE_ORDERS_S: u32 = 24 * 60 * 60;

/// A round as it is to stand in Redis.
#[derive(Debug, Clone)]
pub struct RoundLoad {
    /// What is sold and when.
    pub terms: Terms,
    /// Whether an operator paused it.
    pub paused: bool,
    /// The version of the round that these terms are of.
    pub version: u32,
    /// Tells this loading of the keys from every other: the moment of it.
    pub epoch_ms: EpochMs,
    /// What the ledger says is ordered.
    pub taken: Vec<Claim>,
    /// Who is kept out until when.
    pub denied: Vec<(UserId, EpochMs)>,
}

/// When the keys of a round of these terms are to go.
fn expires_at_ms(terms: &Terms) -> EpochMs {
    terms.closes_at_ms.plus_s(terms.payment_window_s).plus_s(KEYS_OUTLIVE_ORDERS_S)
}

/// When units become available, as the scripts read it.
fn plan(terms: &Terms) -> String {
    RainPlan::of_terms(terms).map_or(String::new(), |plan| plan.to_string())
}

/// Units that are set aside in a round of these terms, and until when.
fn set_aside(terms: &Terms) -> (u32, EpochMs) {
    terms.set_aside().unwrap_or((0, EpochMs(0)))
}

impl RoundLoad {
    /// The units to hand out: gaps among the taken ones, and the first of those never handed out.
    fn free(&self) -> (Vec<RangeInclusive<u32>>, u32) {
        let mut taken: Vec<u32> = self.taken.iter().map(|claim| claim.unit.0).collect();
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
        let entries = self.taken.iter().map(|claim| (&claim.user, write_entry(claim, ClaimState::Ordered)));
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

impl RoundStock<'_> {
    /// Whether the round can be bought from.
    ///
    /// # Errors
    /// If Redis does not answer.
    pub async fn is_loaded(self) -> Result<bool, StockError> {
        self.connection.ask(redis::cmd("EXISTS").arg(self.keys().sale())).await
    }

    /// Makes the round's keys if it has none. Whether it had none: a loaded round is never overwritten.
    ///
    /// # Errors
    /// If Redis does not answer. Can be repeated.
    pub async fn load(self, round: &RoundLoad) -> Result<bool, StockError> {
        let loading = Uuid::new_v4();
        let expires_at = expires_at_ms(&round.terms).0;
        let records: Vec<(&UserId, String)> = round.records().into_iter().collect();
        for page in records.chunks(BUYERS_PER_PAGE) {
            let mut args = vec!["buyers".to_owned(), expires_at.to_string()];
            args.extend(page.iter().flat_map(|(user, record)| [user.as_str().to_owned(), record.clone()]));
            if self.load_step(loading, &args).await? == ScriptCode::Present {
                return Ok(false);
            }
        }
        let (gaps, next) = round.free();
        let returned: u32 = gaps.iter().map(|gap| gap.end() - gap.start() + 1).sum();
        let Terms { opens_at_ms, closes_at_ms, total, per_user_limit, .. } = &round.terms;
        let mut args = vec!["open".to_owned(), expires_at.to_string()];
        args.extend(
            [next, *total, returned, u32::from(*per_user_limit), u32::from(round.paused)].map(|n| n.to_string()),
        );
        args.extend([opens_at_ms, closes_at_ms, &round.epoch_ms].map(|ms| ms.0.to_string()));
        args.push(round.version.to_string());
        args.push(round.terms.door.unpaid_limit.to_string());
        args.push(plan(&round.terms));
        // What a group used up before Redis lost the round is not known: all of it is set aside again, as far as it is left.
        let (set_aside, set_aside_until_ms) = set_aside(&round.terms);
        let free = returned + (*total + 1).saturating_sub(next);
        args.extend([set_aside_until_ms.0.to_string(), set_aside.min(free).to_string()]);
        args.extend(gaps.iter().map(|gap| format!("{}-{}", gap.start(), gap.end())));
        match self.load_step(loading, &args).await? {
            ScriptCode::Loaded => Ok(true),
            ScriptCode::Present => Ok(false),
            other => Err(unexpected(other.as_str())),
        }
    }

    /// Brings the round to its terms as they are now, if it is loaded and not at newer ones.
    ///
    /// # Errors
    /// If Redis does not answer. Can be repeated, and an older version changes nothing.
    pub async fn amend(self, round: &Round) -> Result<(), StockError> {
        let (keys, (set_aside, set_aside_until_ms)) = (self.keys(), set_aside(&round.terms));
        let answer: String = AMEND
            .key(keys.sale())
            .key(keys.buyers())
            .key(keys.free())
            .key(keys.outbox())
            .arg(round.version)
            .arg(round.terms.total)
            .arg(u8::from(round.paused))
            .arg(round.terms.opens_at_ms.0)
            .arg(round.terms.closes_at_ms.0)
            .arg(expires_at_ms(&round.terms).0)
            .arg(round.terms.door.unpaid_limit)
            .arg(plan(&round.terms))
            .arg(set_aside_until_ms.0)
            .arg(set_aside)
            .invoke_async(self.connection)
            .await?;
        match parse(&answer)?.0 {
            ScriptCode::Amended | ScriptCode::Present | ScriptCode::UnknownSale => Ok(()),
            _ => Err(unexpected(&answer)),
        }
    }

    async fn load_step(self, loading: Uuid, args: &[String]) -> Result<ScriptCode, StockError> {
        let keys = self.keys();
        let answer: String = LOAD
            .key(keys.sale())
            .key(keys.buyers())
            .key(keys.free())
            .key(keys.outbox())
            .key(keys.staged(loading))
            .key(keys.denied())
            .key(keys.staged_denied(loading))
            .arg(args)
            .invoke_async(self.connection)
            .await?;
        Ok(parse(&answer)?.0)
    }
}
