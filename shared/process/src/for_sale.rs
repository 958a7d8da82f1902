use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use cache::Moment;
use ledger::{Changes, ListedRound, RoundChange};
use sale::{EpochMs, Round, RoundId, RoundNumber, SaleId};

use crate::cached_sale::CachedSale;

/// How long the index of published rounds may lag behind the table. Usually it is well below a second.
const INDEX_LAG: Duration = Duration::from_secs(15);
/// How long a round is held that has changed since it was read, if it cannot be read again.
const HELD: Duration = Duration::from_secs(5 * 60);
/// How long a round that cannot be read is left alone, so that those who ask for it do not add to an overload.
const PAUSE: Duration = Duration::from_secs(1);

/// The published sales: all by name, and the rounds of those that this process was asked for.
#[derive(Debug, Clone)]
pub(crate) struct ForSale {
    /// How many changes of the ledger are in it.
    version: u32,
    named: Arc<HashMap<SaleId, Named>>,
    read: Arc<HashMap<SaleId, Read>>,
    /// How long a list or a round is used without any news of it. No change needs this; it limits a mistake.
    period: Duration,
    listed_at: Option<Moment>,
    /// Whether changes were missed since.
    must_list: bool,
    /// When a change was missed that may not be in the list yet. A process that just started has missed all.
    missed_at: Option<Moment>,
    unreadable_at: Option<Moment>,
}

/// The latest round of a sale, as the list or a change names it.
#[derive(Debug, Clone, Copy)]
struct Named {
    number: RoundNumber,
    /// The least version that counts. 0 if only the list names it.
    version: u32,
    at: Moment,
    /// When it opens and closes, from the list.
    window: Option<(EpochMs, EpochMs)>,
}

/// A round that was read.
#[derive(Debug, Clone)]
struct Read {
    sale: Arc<CachedSale>,
    at: Moment,
    /// Since when it must be read again.
    due: Option<Moment>,
}

impl ForSale {
    /// Nothing is known yet.
    pub(crate) fn unknown(period: Duration) -> Self {
        let (named, read) = (Arc::default(), Arc::default());
        Self {
            version: 0,
            named,
            read,
            period,
            listed_at: None,
            must_list: true,
            missed_at: None,
            unreadable_at: None,
        }
    }

    /// The published sale with this id, if its round was read.
    pub(crate) fn sale(&self, id: &str) -> Option<&Arc<CachedSale>> {
        self.read.get(id).map(|read| &read.sale)
    }

    /// The sales whose rounds were read.
    pub(crate) fn sales(&self) -> impl Iterator<Item = &CachedSale> {
        self.read.values().map(|read| &*read.sale)
    }

    /// Whether the sale is published, but its round was not read.
    pub(crate) fn lacks(&self, id: &SaleId) -> bool {
        !self.read.contains_key(id) && self.named.contains_key(id)
    }

    /// Whether rounds could not be read a moment ago.
    pub(crate) fn just_failed(&self, now: Moment) -> bool {
        self.unreadable_at.is_some_and(|at| now.since(at) < PAUSE)
    }

    pub(crate) fn is_listed(&self) -> bool {
        self.listed_at.is_some()
    }

    /// The sales that opened last, at most `most`, of those that `may` be meant by when they open and close. A sale
    /// whose times are not known may be meant.
    pub(crate) fn opened_last(&self, most: usize, may: impl Fn(EpochMs, EpochMs) -> bool) -> Vec<SaleId> {
        let mut found: Vec<(EpochMs, &SaleId)> = Vec::new();
        for (sale, named) in &*self.named {
            let read = self.read.get(sale).filter(|read| !is_behind(&read.sale.round, named));
            let of_round = |read: &Read| (read.sale.round.terms.first_opens_at_ms(), read.sale.round.terms.closes_at_ms);
            match read.map(of_round).or(named.window) {
                Some((opens_at, closes_at)) if may(opens_at, closes_at) => found.push((opens_at, sale)),
                Some(_) => {}
                None => found.push((EpochMs(i64::MAX), sale)),
            }
        }
        found.sort_unstable_by_key(|(opens_at, _)| Reverse(*opens_at));
        found.into_iter().take(most).map(|(_, sale)| sale.clone()).collect()
    }

    /// Takes in what has changed.
    pub(crate) fn hear(&mut self, Changes { version, recent }: Changes, now: Moment) {
        let Some(new) = version.checked_sub(self.version).filter(|new| *new > 0 || !self.is_listed()) else { return };
        let known = recent.len().checked_sub(new as usize);
        if known.is_none() || !self.is_listed() {
            (self.must_list, self.missed_at) = (true, Some(now));
            for read in Arc::make_mut(&mut self.read).values_mut() {
                read.due.get_or_insert(now);
            }
        }
        for RoundChange { id: RoundId { sale, number }, version, withdrawn } in
            recent.into_iter().skip(known.unwrap_or_default())
        {
            let named = Arc::make_mut(&mut self.named);
            if withdrawn {
                named.remove(&sale);
                Arc::make_mut(&mut self.read).remove(&sale);
                continue;
            }
            let before = named.get(&sale).map(|before| (before.number, before.version));
            if before < Some((number, version)) {
                named.insert(sale, Named { number, version, at: now, window: None });
            }
        }
        self.version = version;
    }

    /// Whether the rounds must be listed: at first, at last, after a change was missed, and again once the list must
    /// have it.
    pub(crate) fn must_list(&self, now: Moment) -> bool {
        let is_old = self.listed_at.is_none_or(|listed_at| now.since(listed_at) >= self.period);
        is_old || self.must_list || self.missed_at.is_some_and(|missed_at| now.since(missed_at) >= INDEX_LAG)
    }

    /// Takes in a list that was begun at `began`, after all changes were heard that it may lack.
    pub(crate) fn list(&mut self, list: Vec<ListedRound>, began: Moment) {
        let mut named: HashMap<SaleId, Named> = HashMap::with_capacity(list.len());
        for ListedRound { id: RoundId { sale, number }, first_opens_at_ms, closes_at_ms } in list {
            let window = Some((first_opens_at_ms, closes_at_ms));
            if named.get(&sale).is_none_or(|other| other.number < number) {
                named.insert(sale, Named { number, version: 0, at: began, window });
            }
        }
        for (sale, before) in &*self.named {
            match named.get_mut(sale) {
                Some(listed) if listed.number == before.number => listed.version = before.version,
                Some(listed) if listed.number < before.number => *listed = *before,
                Some(_) => {}
                None if began.since(before.at) < INDEX_LAG => {
                    named.insert(sale.clone(), *before);
                }
                None => {}
            }
        }
        Arc::make_mut(&mut self.read).retain(|sale, _| named.contains_key(sale));
        self.named = Arc::new(named);
        (self.listed_at, self.must_list) = (Some(began), false);
        self.missed_at = self.missed_at.filter(|missed_at| began.since(*missed_at) < INDEX_LAG);
    }

    /// The rounds to read: those that `wanted` names for the first time, those that have changed since they were read,
    /// and those that were read long ago. A round that awaits its beacon gets it without a new version.
    pub(crate) fn due(&mut self, wanted: &HashSet<SaleId>, now: Moment) -> Vec<RoundId> {
        let mut ids = Vec::new();
        for (sale, named) in &*self.named {
            let is_due = match self.read.get(sale) {
                None => wanted.contains(sale),
                Some(Read { sale: read, at, due }) => {
                    due.is_some()
                        || is_behind(&read.round, named)
                        || now.since(*at) >= self.period
                        || read.round.awaits_beacon()
                }
            };
            if is_due {
                ids.push(RoundId { sale: sale.clone(), number: named.number });
            }
        }
        if !ids.is_empty() {
            let read = Arc::make_mut(&mut self.read);
            for RoundId { sale, .. } in &ids {
                if read.get(sale).and_then(|read| read.due).is_some_and(|due| now.since(due) >= HELD) {
                    read.remove(sale);
                }
                if let Some(read) = read.get_mut(sale) {
                    read.due.get_or_insert(now);
                }
            }
        }
        ids
    }

    /// Keeps rounds that were read from `began` on, and returns those of `ids` that must be read again. A change and its
    /// name are written together, but two reads may see one half each: an older round than was named does not count.
    pub(crate) fn keep(&mut self, rounds: Vec<Round>, mut ids: Vec<RoundId>, began: Moment) -> Vec<RoundId> {
        let read = Arc::make_mut(&mut self.read);
        for round in rounds {
            let is_old = self.named.get(&round.id.sale).is_none_or(|named| is_behind(&round, named));
            if !is_old {
                ids.retain(|id| *id != round.id);
                let before = read.get(&round.id.sale).map(|read| &*read.sale);
                let sale = Arc::new(CachedSale::new(round, before));
                read.insert(sale.round.id.sale.clone(), Read { sale, at: began, due: None });
            }
        }
        self.unreadable_at = None;
        ids
    }

    /// What even a consistent read does not show. Unless a change named it, the list has it by mistake: it lags behind
    /// a withdrawal.
    pub(crate) fn forget(&mut self, ids: Vec<RoundId>, now: Moment) {
        for RoundId { sale, .. } in ids {
            if self.named.get(&sale).is_some_and(|named| named.version > 0) {
                self.unreadable_at = Some(now);
            } else {
                Arc::make_mut(&mut self.named).remove(&sale);
                Arc::make_mut(&mut self.read).remove(&sale);
            }
        }
    }

    /// Rounds could not be read.
    pub(crate) fn fail(&mut self, now: Moment) {
        self.unreadable_at = Some(now);
    }
}

/// Whether a later round, or a later version of it, was named.
fn is_behind(round: &Round, named: &Named) -> bool {
    (round.id.number, round.version) < (named.number, named.version)
}
