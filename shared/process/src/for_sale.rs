use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use ledger::{Changes, ListedRound, RoundChange};
use runtime::Moment;
use sale::{EpochMs, Round, RoundId, RoundNumber, SaleId};

use crate::cached_sale::CachedSale;

/// How long the index of published rounds may lag behind the table. Usually it is well below a second.
const INDEX_LAG: Duration = Duration::from_secs(15);
/// How long a round is held that has changed since it was read, if it cannot be read again.
const HELD: Duration = Duration::from_secs(5 * 60);
/// How long before its opening a round should be loaded, in milliseconds. Usually it is, for minutes.
const LOADED_BEFORE_MS: i64 = 60_000;
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

#[derive(Debug, Clone)]
struct Read {
    sale: Arc<CachedSale>,
    at: Moment,
    /// Since when it must be read again.
    due: Option<Moment>,
}

impl ForSale {
    pub(crate) fn unknown(period: Duration) -> Self {
        let (named, read) = (Arc::default(), Arc::default());
        Self { version: 0, named, read, period, listed_at: None, must_list: true, missed_at: None, unreadable_at: None }
    }

    /// The published sale with this id, if its round was read.
    pub(crate) fn sale(&self, id: &str) -> Option<&Arc<CachedSale>> {
        self.read.get(id).map(|read| &read.sale)
    }

    pub(crate) fn sales(&self) -> impl Iterator<Item = &CachedSale> {
        self.read.values().map(|read| &*read.sale)
    }

    /// Whether the sale is published, but its round was not read.
    pub(crate) fn lacks(&self, id: &SaleId) -> bool {
        !self.read.contains_key(id) && self.named.contains_key(id)
    }

    /// The published sales whose rounds were not read.
    pub(crate) fn lacking(&self) -> impl Iterator<Item = &SaleId> {
        self.named.keys().filter(|sale| !self.read.contains_key(*sale))
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
            let window = |read: &Read| (read.sale.round.terms.first_opens_at_ms(), read.sale.round.terms.closes_at_ms);
            match read.map(window).or(named.window) {
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

    /// Whether the rounds must be listed: at first, at last, after a change was missed, and once the list must have it.
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
    /// those that were read long ago, and those of which it matters at `time` whether they are loaded: that they are is
    /// no new version, and is not named.
    pub(crate) fn due(&mut self, wanted: &HashSet<SaleId>, now: Moment, time: EpochMs) -> Vec<RoundId> {
        let mut ids = Vec::new();
        for (sale, named) in &*self.named {
            let is_due = match self.read.get(sale) {
                None => wanted.contains(sale),
                Some(Read { sale: read, at, due }) => {
                    due.is_some()
                        || is_behind(&read.round, named)
                        || now.since(*at) >= self.period
                        || awaits_load(&read.round, time)
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

    /// What even a consistent read does not show. Unless a change named it, the list lags behind a withdrawal.
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

    /// Drops the sales whose rounds had closed at `since`. Changes name them too.
    pub(crate) fn drop_over(&mut self, since: EpochMs) {
        let is_over = |(sale, read): (&SaleId, &Read)| {
            let is_latest = self.named.get(sale).is_none_or(|named| !is_behind(&read.sale.round, named));
            (is_latest && read.sale.round.terms.closes_at_ms <= since).then(|| sale.clone())
        };
        let over: Vec<SaleId> = self.read.iter().filter_map(is_over).collect();
        for sale in over {
            Arc::make_mut(&mut self.named).remove(&sale);
            Arc::make_mut(&mut self.read).remove(&sale);
        }
    }

    pub(crate) fn fail(&mut self, now: Moment) {
        self.unreadable_at = Some(now);
    }
}

/// Whether it matters that the round was not loaded when it was read: it opens, or its beacon is missing.
fn awaits_load(round: &Round, time: EpochMs) -> bool {
    let opens_soon = time >= EpochMs(round.terms.first_opens_at_ms().0 - LOADED_BEFORE_MS);
    round.loaded_at_ms.is_none() && (opens_soon || round.awaits_beacon()) && !round.is_over(time)
}

/// Whether a later round, or a later version of it, was named.
fn is_behind(round: &Round, named: &Named) -> bool {
    (round.id.number, round.version) < (named.number, named.version)
}

#[cfg(test)]
mod tests {
    use std::sync::LazyLock;

    use serde_json::json;
    use tokio::time::Instant;

    use super::*;

    static BEGAN: LazyLock<Instant> = LazyLock::new(Instant::now);

    fn id(text: &str) -> RoundId {
        text.parse().unwrap()
    }

    fn round(text: &str, version: u32) -> Round {
        let terms = json!({
            "title": "A lamp", "opens_at_ms": 1, "closes_at_ms": 2, "total": 7, "per_user_limit": 1, "price_minor": 990,
            "currency": "EUR", "payment_window_s": 900, "door": sale::DoorTerms::default(),
        });
        let loaded_at_ms = Some(EpochMs(0));
        Round { version, loaded_at_ms, ..Round::new(id(text), serde_json::from_value(terms).unwrap()) }
    }

    fn changes(version: u32, recent: &[&str]) -> Changes {
        Changes { version, recent: recent.iter().map(|change| change.parse().unwrap()).collect() }
    }

    fn listed(ids: &[&str]) -> Vec<ListedRound> {
        let one = |text: &&str| ListedRound { id: id(text), first_opens_at_ms: EpochMs(1), closes_at_ms: EpochMs(2) };
        ids.iter().map(one).collect()
    }

    /// A moment this many seconds after the first one.
    fn at(s: u32) -> Moment {
        Moment::of(*BEGAN, EpochMs(0).plus_s(s))
    }

    fn due(known: &mut ForSale, wanted: &[&str], now: Moment) -> Vec<String> {
        let wanted = wanted.iter().map(|sale| sale.parse().unwrap()).collect();
        let mut due: Vec<String> = known.due(&wanted, now, EpochMs(1)).iter().map(ToString::to_string).collect();
        due.sort_unstable();
        due
    }

    /// Knows lamp.1 and vase.1, of which it was asked for the lamp.
    fn known() -> ForSale {
        let mut known = ForSale::unknown(Duration::from_secs(600));
        known.hear(changes(2, &["lamp.1@1", "vase.1@1"]), at(0));
        known.list(listed(&["lamp.1", "vase.1"]), at(0));
        assert_eq!(due(&mut known, &["lamp", "nowhere"], at(0)), ["lamp.1"]);
        assert!(known.lacks(&"lamp".parse().unwrap()) && !known.lacks(&"nowhere".parse().unwrap()));
        assert_eq!(known.keep(vec![round("lamp.1", 1)], vec![id("lamp.1")], at(0)), []);
        known.list(listed(&["lamp.1", "vase.1"]), at(20));
        assert!(due(&mut known, &[], at(20)).is_empty() && !known.must_list(at(20)));
        known
    }

    #[test]
    fn only_what_has_changed_is_read_again() {
        let mut known = known();
        known.hear(changes(2, &["lamp.1@1", "vase.1@1"]), at(22));
        assert_eq!(due(&mut known, &[], at(22)), [] as [&str; 0]);
        known.hear(changes(3, &["lamp.1@1", "vase.1@1", "vase.1@2"]), at(24));
        assert_eq!(due(&mut known, &[], at(24)), [] as [&str; 0], "nobody asks for the vase");
        known.hear(changes(4, &["vase.1@2", "lamp.1@2"]), at(26));
        assert_eq!(due(&mut known, &[], at(26)), ["lamp.1"]);
        known.keep(vec![round("lamp.1", 2)], vec![id("lamp.1")], at(26));
        known.hear(changes(5, &["lamp.1@2", "lamp.2@1"]), at(28));
        assert_eq!(due(&mut known, &["vase"], at(28)), ["lamp.2", "vase.1"]);
    }

    /// The change is named already, but the read of the round began before it, or lags behind.
    #[test]
    fn an_older_round_than_was_named_does_not_count() {
        let mut known = known();
        known.hear(changes(3, &["lamp.1@2"]), at(22));
        let again = due(&mut known, &[], at(22));
        let left = known.keep(vec![round("lamp.1", 1)], vec![id("lamp.1")], at(22));
        assert_eq!((again, left), (vec!["lamp.1".to_owned()], vec![id("lamp.1")]));
        assert_eq!(known.sale("lamp").unwrap().round.version, 1, "the last one holds meanwhile");
        known.forget(vec![id("lamp.1")], at(22));
        assert_eq!(due(&mut known, &[], at(24)), ["lamp.1"]);
        assert_eq!(known.keep(vec![round("lamp.1", 2)], vec![id("lamp.1")], at(24)), []);
        assert_eq!(due(&mut known, &[], at(26)), [] as [&str; 0]);
    }

    /// An old copy of the item, from a replica that lags behind, changes nothing.
    #[test]
    fn news_that_are_older_than_the_last_are_none() {
        let mut known = known();
        known.hear(changes(3, &["lamp.1@2"]), at(22));
        known.keep(vec![round("lamp.1", 2)], vec![id("lamp.1")], at(22));
        known.hear(changes(1, &["lamp.1@1"]), at(24));
        assert_eq!(due(&mut known, &[], at(24)), [] as [&str; 0]);
        known.hear(changes(4, &["lamp.1@2", "vase.1@2"]), at(26));
        assert!(!known.must_list(at(26)), "none was missed");
    }

    #[test]
    fn who_missed_changes_reads_all_again_and_lists_them_once_the_list_must_have_them() {
        let mut known = known();
        known.hear(changes(9, &["vase.1@7", "vase.1@8"]), at(100));
        assert!(known.must_list(at(100)));
        assert_eq!(due(&mut known, &[], at(100)), ["lamp.1"]);
        known.keep(vec![round("lamp.1", 4)], vec![id("lamp.1")], at(100));
        known.list(listed(&["lamp.1", "vase.1"]), at(100));
        assert!(!known.must_list(at(114)) && known.must_list(at(115)), "the index lags behind");
        known.list(listed(&["lamp.2", "vase.1"]), at(115));
        assert!(!known.must_list(at(200)));
        assert_eq!(due(&mut known, &[], at(115)), ["lamp.2"]);
    }

    #[test]
    fn what_was_published_a_moment_ago_stays_known_although_the_list_lags() {
        let mut known = known();
        known.hear(changes(3, &["chair.1@1"]), at(700));
        assert!(known.must_list(at(700)), "after ten minutes");
        known.list(listed(&["lamp.1", "vase.1"]), at(700));
        assert!(known.lacks(&"chair".parse().unwrap()));
        known.list(listed(&["vase.1"]), at(1400));
        assert!(!known.lacks(&"chair".parse().unwrap()) && known.sale("lamp").is_none(), "over, or never there");
    }

    #[test]
    fn a_withdrawn_sale_is_not_for_sale() {
        let mut known = known();
        known.hear(changes(3, &["lamp.1@2!"]), at(22));
        assert!(known.sale("lamp").is_none() && !known.lacks(&"lamp".parse().unwrap()));
        // One of which only the list knows, which lags behind.
        known.list(listed(&["chair.1", "vase.1"]), at(40));
        assert_eq!(due(&mut known, &["chair"], at(40)), ["chair.1"]);
        known.forget(vec![id("chair.1")], at(40));
        assert!(!known.lacks(&"chair".parse().unwrap()));
    }

    #[test]
    fn a_sale_that_was_over_long_ago_is_not_for_sale_although_a_change_names_it() {
        let mut known = known();
        known.hear(changes(3, &["lamp.2@1"]), at(22));
        known.drop_over(EpochMs(2));
        assert!(known.sale("lamp").is_some(), "its next round is not read yet");
        known.keep(vec![round("lamp.2", 1)], vec![id("lamp.2")], at(22));
        known.drop_over(EpochMs(1));
        assert!(known.sale("lamp").is_some());
        known.drop_over(EpochMs(2));
        assert!(known.sale("lamp").is_none() && !known.lacks(&"lamp".parse().unwrap()));
    }

    /// Loading a round is no new version of it.
    #[test]
    fn a_round_that_opens_is_read_until_it_is_loaded() {
        let mut known = known();
        let mut waits = Round { loaded_at_ms: None, version: 2, ..round("lamp.1", 2) };
        (waits.terms.opens_at_ms, waits.terms.closes_at_ms) = (EpochMs(100_000), EpochMs(200_000));
        known.hear(changes(3, &["lamp.1@2"]), at(22));
        known.keep(vec![waits.clone()], vec![id("lamp.1")], at(22));
        let mut due = |time| known.due(&HashSet::new(), at(22), EpochMs(time)).len();
        assert_eq!((due(39_999), due(40_000), due(200_000)), (0, 1, 1), "once it is due, it stays so until it is read");
        known.keep(vec![waits.clone()], vec![id("lamp.1")], at(22));
        assert_eq!(known.due(&HashSet::new(), at(22), EpochMs(200_000)).len(), 0, "it is over");
        known.keep(vec![Round { loaded_at_ms: Some(EpochMs(1)), ..waits }], vec![id("lamp.1")], at(22));
        assert_eq!(known.due(&HashSet::new(), at(22), EpochMs(100_000)).len(), 0);
    }

    #[test]
    fn a_change_that_cannot_be_read_holds_the_last_round_for_minutes() {
        let mut known = known();
        known.hear(changes(3, &["lamp.1@2"]), at(22));
        for s in [22, 100, 300] {
            assert_eq!(due(&mut known, &[], at(s)), ["lamp.1"]);
            known.fail(at(s));
            assert!(known.just_failed(at(s)) && !known.just_failed(at(s + 1)));
            assert!(known.sale("lamp").is_some());
        }
        due(&mut known, &[], at(323));
        assert!(known.sale("lamp").is_none() && known.lacks(&"lamp".parse().unwrap()));
    }
}
