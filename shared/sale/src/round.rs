use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use crate::award::Commitment;
use crate::award::drand::{self, DrandRound};
use crate::terms::one_lane_only;
use crate::{
    Edit, EpochMs, Log, MAX_THROTTLE_REQUESTS_PER_S, MAX_TOTAL, Overlap, Rain, RainDrop, Refusal, RoundId, SaleId,
    Terms,
};

/// One occurrence of a sale: the offer's terms at its beginning, and what operators have changed in it since.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Round {
    #[serde(flatten)]
    pub id: RoundId,
    /// The version: each write is conditional on the version that it read, and Redis accepts no older one.
    pub version: u32,
    /// Its terms, including all units that were added.
    #[serde(flatten)]
    pub terms: Terms,
    /// When Redis may first have had it. From then on the number of units can only grow.
    pub loaded_at_ms: Option<EpochMs>,
    pub paused: bool,
    pub throttle_requests_per_s: Option<u32>,
    /// If it has several lanes: how many units were dealt to them at first. Later ones belong to the first lane.
    pub dealt: Option<u32>,
    /// The commitment to its awards, made when it began. `None` without awards.
    pub commitment: Option<Commitment>,
    /// The drand round of its draw, if units win at once. A draw at the end names it with the entries.
    #[serde(serialize_with = "drand::as_number")]
    pub drand_round: Option<DrandRound>,
    #[serde(default, skip_serializing_if = "Log::is_empty")]
    pub log: Log,
}

pub fn latest_rounds(rounds: impl IntoIterator<Item = Round>) -> HashMap<SaleId, Round> {
    let mut latest: HashMap<SaleId, Round> = HashMap::new();
    for round in rounds {
        if latest.get(&round.id.sale).is_none_or(|known| known.id.number < round.id.number) {
            latest.insert(round.id.sale.clone(), round);
        }
    }
    latest
}

impl Round {
    pub const fn awaits_beacon(&self) -> bool {
        self.terms.allocation.opens_with_beacon() && self.loaded_at_ms.is_none()
    }

    /// A round as it begins. The caller draws its seed and sets the commitment.
    pub fn new(id: RoundId, terms: Terms) -> Self {
        Self {
            id,
            version: 1,
            terms,
            loaded_at_ms: None,
            paused: false,
            throttle_requests_per_s: None,
            dealt: None,
            commitment: None,
            drand_round: None,
            log: Log::default(),
        }
    }

    pub fn is_over(&self, now: EpochMs) -> bool {
        now >= self.terms.closes_at_ms
    }

    /// Whether anybody can buy from it, unless it is paused or stopped. Redis's clock decides; this is for schedules.
    pub fn is_open(&self, now: EpochMs) -> bool {
        now >= self.terms.first_opens_at_ms() && !self.is_over(now)
    }

    /// Whether it is open and not paused: only then does a request have a round that Redis lost loaded again.
    pub fn is_running(&self, now: EpochMs) -> bool {
        self.is_open(now) && !self.paused
    }

    pub fn pause(mut self) -> Self {
        self.paused = true;
        self
    }

    /// Resumes sales. Fails if it is over.
    pub fn resume(mut self, now: EpochMs) -> Result<Self, Refusal> {
        self.not_over(now)?;
        self.paused = false;
        Ok(self)
    }

    /// Ends it now. A round that has ended keeps its end. Fails if it has not opened for anybody.
    pub fn close(mut self, now: EpochMs) -> Result<Self, Refusal> {
        if now <= self.terms.first_opens_at_ms() {
            return Err(Refusal::NotOpen);
        }
        self.terms.closes_at_ms = self.terms.closes_at_ms.min(now);
        Ok(self)
    }

    /// Adds units. If the round has a plan, they are available at once, and the plan continues for the others. Fails if
    /// it is over, would have too many units, or has awards, whose table is committed to.
    pub fn restock(mut self, units: u32, now: EpochMs) -> Result<Self, Refusal> {
        self.not_over(now)?;
        if self.terms.allocation.has_awards() {
            return Err(Refusal::Promised("total"));
        }
        let total = self.terms.total.checked_add(units).filter(|total| units > 0 && *total <= MAX_TOTAL);
        self.terms.total = total.ok_or(Refusal::Units(MAX_TOTAL.saturating_sub(self.terms.total)))?;
        if let Some(rain) = &mut self.terms.rain {
            rain.at_once += units;
        }
        Ok(self)
    }

    /// Changes when its units become available. In a running round the change applies from `now` on, and available
    /// units stay available. Fails if it is over; if all of its units may be available, because it was loaded or has
    /// opened without a plan; if a drop would be in the past; or if the plan is invalid.
    pub fn rain(mut self, new: &Rain, now: EpochMs) -> Result<Self, Refusal> {
        self.not_over(now)?;
        if self.terms.lanes > 1 {
            return Err(one_lane_only("rain").into());
        }
        new.validate(self.terms.total)?;
        let (opens_at, has_opened) = (self.terms.opens_at_ms, now >= self.terms.opens_at_ms);
        let is_over = |drop: &&RainDrop| opens_at.plus_s(drop.after_s) <= now;
        let rain = match &self.terms.rain {
            None if has_opened || self.loaded_at_ms.is_some() => return Err(Refusal::Loaded("rain")),
            Some(rain) if has_opened => match new.drops.iter().find(is_over) {
                Some(over) => return Err(Refusal::DropIsOver(over.after_s)),
                None => rain.replaced_by(new, opens_at, self.terms.total, now),
            },
            _ => Rain { from_ms: 0, ..new.clone() },
        };
        self.terms.rain = Some(rain);
        self.terms.validate_early_access()?;
        Ok(self)
    }

    /// Limits its requests a second, or lifts the limit. Fails if the rate is out of range.
    pub fn throttle(mut self, requests_per_s: Option<u32>) -> Result<Self, Refusal> {
        if requests_per_s.is_some_and(|rate| !(1..=MAX_THROTTLE_REQUESTS_PER_S).contains(&rate)) {
            return Err(Refusal::Rate(MAX_THROTTLE_REQUESTS_PER_S));
        }
        self.throttle_requests_per_s = requests_per_s;
        Ok(self)
    }

    /// Changes its terms as far as [`Edit`] allows. Fails with the first term that cannot be changed so.
    pub(crate) fn edit(mut self, edit: &Edit, next_opens_at: Option<EpochMs>, now: EpochMs) -> Result<Self, Refusal> {
        self.not_over(now)?;
        if edit.recurrence.is_some() {
            return Err(Refusal::Published("recurrence"));
        }
        let terms = Edit { rain: None, ..edit.clone() }.apply(&self.terms)?;
        self.may_become(&terms)?;
        if terms.closes_at_ms != self.terms.closes_at_ms {
            if terms.closes_at_ms <= now {
                return Err(Refusal::ClosesInThePast);
            }
            if let Some(next_opens_at) = next_opens_at.filter(|opens_at| *opens_at < terms.closes_at_ms) {
                return Err(Refusal::Overlap(Overlap { next_opens_at }));
            }
        }
        self.terms = terms;
        match &edit.rain {
            Some(new) => self.rain(new, now),
            None => Ok(self),
        }
    }

    /// Each term has a line here, even those that may change at any time.
    fn may_become(&self, new: &Terms) -> Result<(), Refusal> {
        let Terms {
            title: _any_title,
            goods: _any_words_and_pictures,
            expected_audience: _any_number,
            opens_at_ms,
            closes_at_ms: _any_end,
            total,
            per_user_limit,
            price,
            payment_window_s,
            door: _any_door,
            gate: _any_gate,
            allocation,
            settlement,
            rain: _changed_by_its_own_rule,
            early_access,
            line,
            lanes,
        } = new;
        let (old, is_loaded) = (&self.terms, self.loaded_at_ms.is_some());
        if *lanes != old.lanes {
            return Err(Refusal::Published("lanes"));
        }
        let promised = [
            ("allocation", *allocation != old.allocation),
            ("settlement", *settlement != old.settlement),
            ("early_access", *early_access != old.early_access),
            // People with a ticket keep their line, but its speed may change.
            ("line", line.map(|line| line.opens_early_s) != old.line.map(|line| line.opens_early_s)),
            ("price", *price != old.price),
            ("per_user_limit", *per_user_limit != old.per_user_limit),
            ("payment_window_s", *payment_window_s != old.payment_window_s),
            // The table of what each unit stands for is committed to when the round begins.
            ("total", *total != old.total && old.allocation.has_awards()),
        ];
        if let Some((term, _)) = promised.into_iter().find(|(_, is_changed)| *is_changed) {
            return Err(Refusal::Promised(term));
        }
        if is_loaded && *opens_at_ms != old.opens_at_ms {
            return Err(Refusal::Loaded("opens_at"));
        }
        if is_loaded && *total < old.total {
            return Err(Refusal::FewerUnits(old.total));
        }
        Ok(())
    }

    fn not_over(&self, now: EpochMs) -> Result<(), Refusal> {
        if self.is_over(now) { Err(Refusal::Over) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terms::lamp;
    use crate::{
        DoorTerms, EarlyAccess, GateTerms, LineTerms, LogEntry, Offer, Price, Recurrence, SaleState, Settlement,
    };

    const HOUR_MS: i64 = 3_600_000;
    const OPENS: EpochMs = EpochMs(10 * HOUR_MS);
    const CLOSES: EpochMs = EpochMs(12 * HOUR_MS);
    const BEFORE: EpochMs = EpochMs(OPENS.0 - 1);
    const WHILE: EpochMs = EpochMs(11 * HOUR_MS);

    const LINE: LineTerms = LineTerms { opens_early_s: 3600, admits_per_s: 50, paused: false };

    fn terms() -> Terms {
        lamp(OPENS, CLOSES)
    }

    fn early(lead_s: u32) -> EarlyAccess {
        EarlyAccess { group: "members".parse().unwrap(), lead_s, quota: None }
    }

    fn price(price_minor: u64) -> Price {
        Price { price_minor, currency: "EUR".parse().unwrap() }
    }

    fn draft(recurrence: Option<Recurrence>) -> Offer {
        Offer::draft("lamp".parse().unwrap(), terms(), recurrence)
    }

    fn published(recurrence: Option<Recurrence>) -> (Offer, Round) {
        draft(recurrence).publish()
    }

    fn daily() -> Option<Recurrence> {
        Recurrence::daily("Etc/UTC").ok()
    }

    /// An edit for each term.
    fn edits() -> [(&'static str, Edit); 18] {
        [
            ("title", Edit { title: Some("A lantern".into()), ..Edit::default() }),
            ("description", Edit { description: Some("Enamel.".into()), ..Edit::default() }),
            ("pictures", Edit { pictures: Some(vec!["/art/lamp.svg".parse().unwrap()]), ..Edit::default() }),
            ("list_price_minor", Edit { list_price_minor: Some(Some(1990)), ..Edit::default() }),
            ("terms_url", Edit { terms_url: Some("https://a.example/".parse().ok()), ..Edit::default() }),
            ("expected_audience", Edit { expected_audience: Some(Some(10_000)), ..Edit::default() }),
            ("door", Edit { door: Some(DoorTerms { violations: 3, ..DoorTerms::default() }), ..Edit::default() }),
            ("gate", Edit { gate: Some(GateTerms { work_bits: 16, ..GateTerms::default() }), ..Edit::default() }),
            ("closes_at", Edit { closes_at_ms: Some(EpochMs(13 * HOUR_MS)), ..Edit::default() }),
            ("opens_at", Edit { opens_at_ms: Some(EpochMs(9 * HOUR_MS)), ..Edit::default() }),
            ("total", Edit { total: Some(90), ..Edit::default() }),
            ("per_user_limit", Edit { per_user_limit: Some(2), ..Edit::default() }),
            ("price", Edit { price: Some(price(890)), ..Edit::default() }),
            ("payment_window_s", Edit { payment_window_s: Some(600), ..Edit::default() }),
            ("rain", Edit { rain: Some(Rain { at_once: 7, ..Rain::default() }), ..Edit::default() }),
            ("early_access", Edit { early_access: Some(vec![early(60)]), ..Edit::default() }),
            ("line", Edit { line: Some(Some(LineTerms { opens_early_s: 60, ..LINE })), ..Edit::default() }),
            ("settlement", Edit { settlement: Some(Settlement::Free), price: Some(price(0)), ..Edit::default() }),
        ]
    }

    #[test]
    fn what_may_be_edited_when() {
        let (offer, round) = published(None);
        let loaded = Round { loaded_at_ms: Some(BEFORE), ..round.clone() };
        for (term, edit) in edits() {
            assert_eq!(draft(None).edit(&edit).unwrap().terms, edit.apply(&terms()).unwrap(), "{term} of a draft");
            let of_coming = offer.edit_round(round.clone(), &edit, BEFORE);
            let of_loaded = offer.edit_round(loaded.clone(), &edit, WHILE);
            let (coming, running) = match term {
                "title" | "description" | "pictures" | "list_price_minor" | "terms_url" | "expected_audience"
                | "door" | "gate" | "closes_at" => (None, None),
                "opens_at" => (None, Some(Refusal::Loaded("opens_at"))),
                "total" => (None, Some(Refusal::FewerUnits(100))),
                "rain" => (None, Some(Refusal::Loaded("rain"))),
                _ => (Some(Refusal::Promised(term)), Some(Refusal::Promised(term))),
            };
            for (edited, refusal, when) in [(of_coming, coming, "before"), (of_loaded, running, "while")] {
                match refusal {
                    None => assert_eq!(edited.unwrap().terms, edit.apply(&terms()).unwrap(), "{term} {when}"),
                    Some(refusal) => assert_eq!(edited, Err(refusal), "{term} {when}"),
                }
            }
            assert_eq!(offer.edit_round(loaded.clone(), &edit, CLOSES), Err(Refusal::Over), "{term} once it is over");
        }
    }

    #[test]
    fn a_line_is_slowed_down_and_held_up_while_it_runs_and_nothing_else() {
        let (offer, round) =
            Offer::draft("lamp".parse().unwrap(), Terms { line: Some(LINE), ..terms() }, None).publish();
        let loaded = Round { loaded_at_ms: Some(BEFORE), ..round };
        let edited = |line: Option<LineTerms>| {
            let edit = Edit { line: Some(line), ..Edit::default() };
            offer.edit_round(loaded.clone(), &edit, WHILE).map(|round| round.terms.line)
        };
        let slower = LineTerms { admits_per_s: 5, paused: true, ..LINE };
        assert_eq!(edited(Some(slower)), Ok(Some(slower)));
        assert_eq!(edited(Some(LineTerms { opens_early_s: 60, ..LINE })), Err(Refusal::Promised("line")));
        assert_eq!(edited(None), Err(Refusal::Promised("line")));
    }

    #[test]
    fn lanes_are_fixed_once_a_sale_is_published() {
        let edit = Edit { lanes: Some(4), ..Edit::default() };
        assert_eq!(draft(daily()).edit(&edit).unwrap().terms.lanes, 4);
        let (offer, round) = published(daily());
        assert_eq!(offer.edit_round(round, &edit, BEFORE), Err(Refusal::Published("lanes")));
        assert_eq!(offer.clone().edit(&edit), Err(Refusal::Published("lanes")), "the rounds of a sale have as many");
        let same = Edit { lanes: Some(1), title: Some("A lantern".into()), ..Edit::default() };
        assert_eq!(offer.edit(&same).unwrap().terms.title, "A lantern");
    }

    #[test]
    fn a_loaded_round_may_have_more_units() {
        let (offer, round) = published(None);
        let loaded = Round { loaded_at_ms: Some(BEFORE), ..round };
        let more = Edit { total: Some(101), ..Edit::default() };
        assert_eq!(offer.edit_round(loaded.clone(), &more, WHILE).unwrap().terms.total, 101);
        assert_eq!(loaded.clone().restock(1, WHILE).unwrap().terms.total, 101);
        for units in [0, MAX_TOTAL - 99] {
            assert_eq!(loaded.clone().restock(units, WHILE), Err(Refusal::Units(MAX_TOTAL - 100)));
        }
        assert_eq!(loaded.restock(1, CLOSES), Err(Refusal::Over));
    }

    #[test]
    fn an_end_lies_ahead_and_before_the_next_round() {
        let (offer, round) = published(daily());
        let until = |closes_at_ms| {
            let edit = Edit { closes_at_ms: Some(closes_at_ms), ..Edit::default() };
            offer.edit_round(round.clone(), &edit, WHILE).map(|round| round.terms.closes_at_ms)
        };
        let next_opens_at = EpochMs(OPENS.0 + 24 * HOUR_MS);
        assert_eq!(until(WHILE), Err(Refusal::ClosesInThePast));
        assert_eq!(until(EpochMs(WHILE.0 + 1)), Ok(EpochMs(WHILE.0 + 1)));
        assert_eq!(until(next_opens_at), Ok(next_opens_at));
        assert_eq!(until(EpochMs(next_opens_at.0 + 1)), Err(Refusal::Overlap(Overlap { next_opens_at })));
    }

    #[test]
    fn a_round_is_closed_once_and_only_after_it_opened() {
        let (_, round) = published(None);
        assert_eq!(round.clone().close(OPENS), Err(Refusal::NotOpen));
        let closed = round.close(WHILE).unwrap();
        assert_eq!(closed.terms.closes_at_ms, WHILE);
        assert_eq!(closed.clone().close(CLOSES).unwrap().terms.closes_at_ms, WHILE);
        assert_eq!(closed.resume(WHILE), Err(Refusal::Over));
    }

    #[test]
    fn a_change_of_one_round_is_not_one_of_the_next() {
        let (offer, round) = published(daily());
        let round = round.restock(20, WHILE).unwrap().pause().throttle(Some(7)).unwrap().close(WHILE).unwrap();
        let (offer, next) = offer.begin_next(&round, CLOSES).unwrap();
        let day = 24 * HOUR_MS;
        let (opens_at_ms, closes_at_ms) = (EpochMs(OPENS.0 + day), EpochMs(CLOSES.0 + day));
        assert_eq!(next.id.to_string(), "lamp.2");
        assert_eq!(next.terms, Terms { opens_at_ms, closes_at_ms, ..terms() });
        assert_eq!((next.version, next.loaded_at_ms), (1, None));
        assert_eq!((next.paused, next.throttle_requests_per_s), (true, Some(7)), "operators undo these themselves");
        assert_eq!(offer.clone().begin_next(&next, EpochMs(closes_at_ms.0 - 1)), Err(Refusal::NotOver));
        let ended = offer.clone().end_recurrence().unwrap();
        assert_eq!(ended.begin_next(&next, closes_at_ms), Err(Refusal::NeverAgain));
        let (_, third) = offer.begin_next(&next, closes_at_ms).unwrap();
        let latest = latest_rounds([round.clone(), third.clone(), next]);
        assert_eq!(latest, [(round.id.sale, third)].into());
    }

    #[test]
    fn a_limit_for_the_traffic_of_one_round_is_not_one_of_the_next() {
        let (offer, round) = published(daily());
        let mut busy = round.throttle(Some(7)).unwrap();
        busy.log.push(crate::throttle_of_busy(busy.id.number, 7, WHILE));
        let next = |latest: &Round| offer.clone().begin_next(latest, CLOSES).unwrap().1.throttle_requests_per_s;
        assert_eq!(next(&busy), None);
        busy.log.push(LogEntry { key: "k".to_owned(), ..crate::throttle_of_busy(busy.id.number, 7, WHILE) });
        assert_eq!(next(&busy), Some(7), "an operator's");
    }

    #[test]
    fn an_edited_offer_is_what_the_next_round_offers() {
        let (offer, round) = published(daily());
        let edit = Edit { price: Some(price(890)), total: Some(5), ..Edit::default() };
        let (_, next) = offer.edit(&edit).unwrap().begin_next(&round, CLOSES).unwrap();
        assert_eq!((next.terms.price, next.terms.total, round.terms.price), (price(890), 5, price(990)));
        assert_eq!(published(None).0.edit(&edit), Err(Refusal::NeverAgain));
        let all_day = Edit { closes_at_ms: Some(EpochMs(OPENS.0 + 25 * HOUR_MS)), ..Edit::default() };
        assert!(matches!(published(daily()).0.edit(&all_day), Err(Refusal::Overlap(_))));
    }

    #[test]
    fn a_withdrawn_round_has_no_moment_to_sell_in() {
        let (offer, mut round) = published(daily());
        round.terms.early_access = vec![early(3600)];
        let first = OPENS.minus_s(3600);
        let (withdrawn, closed) = offer.clone().withdraw(round.clone(), EpochMs(first.0 - 1)).unwrap();
        assert_eq!((withdrawn.state, &withdrawn.recurrence), (SaleState::Withdrawn, &None));
        assert!(closed.terms.closes_at_ms < closed.terms.first_opens_at_ms());
        assert_eq!(offer.clone().withdraw(round.clone(), first), Err(Refusal::HasOpened));
        assert_eq!(withdrawn.clone().withdraw(closed, BEFORE), Err(Refusal::Withdrawn));
        assert_eq!(withdrawn.edit(&Edit::default()), Err(Refusal::Withdrawn));
        let (second, next) = offer.begin_next(&round, CLOSES).unwrap();
        assert_eq!(second.withdraw(next, CLOSES), Err(Refusal::HasOpened), "an earlier round has sold");
        assert_eq!(draft(None).withdraw(round, BEFORE), Err(Refusal::Draft));
    }

    #[test]
    fn a_draft_alone_changes_whether_it_comes_again() {
        let edit = Edit { recurrence: Some(daily()), ..Edit::default() };
        assert_eq!(draft(None).edit(&edit).unwrap().recurrence, daily());
        let (offer, round) = published(daily());
        assert_eq!(offer.edit_round(round, &edit, BEFORE), Err(Refusal::Published("recurrence")));
        assert_eq!(offer.edit(&edit), Err(Refusal::Published("recurrence")));
    }

    #[test]
    fn a_duplicate_offers_what_the_sale_does() {
        let (offer, round) = published(None);
        let edit = Edit { title: Some("A lantern".into()), total: Some(120), ..Edit::default() };
        let round = offer.edit_round(round, &edit, BEFORE).unwrap();
        let copy = offer.duplicate("lantern".parse().unwrap(), Some(&round));
        let same = Terms { title: "A lantern".into(), ..terms() };
        assert_eq!((copy.state, copy.version, copy.terms), (SaleState::Draft, 1, same));
    }

    #[test]
    fn a_round_opens_with_its_first_group() {
        let (_, mut round) = published(None);
        round.terms.early_access = vec![early(60), early(3600)];
        let first = OPENS.minus_s(3600);
        assert!(!round.is_open(EpochMs(first.0 - 1)) && round.is_open(first));
        assert_eq!(round.clone().close(first), Err(Refusal::NotOpen));
        let closed = round.close(BEFORE).unwrap();
        assert!(closed.is_over(BEFORE) && !closed.is_open(BEFORE), "also before everyone's opening");
    }

    #[test]
    fn the_group_of_the_next_round_does_not_buy_while_this_one_runs() {
        let mut day_long = terms();
        day_long.closes_at_ms = EpochMs(OPENS.0 + 23 * HOUR_MS);
        let offer = |lead_s| {
            let early_access = vec![early(lead_s)];
            Offer::draft("lamp".parse().unwrap(), Terms { early_access, ..day_long.clone() }, daily())
        };
        assert_eq!(offer(3600).keeps_apart(), Ok(()));
        let next_opens_at = EpochMs(OPENS.0 + 23 * HOUR_MS - 1000);
        assert_eq!(offer(3601).keeps_apart(), Err(Overlap { next_opens_at }));
        let (offer, round) = offer(3600).publish();
        let longer = Edit { closes_at_ms: Some(EpochMs(day_long.closes_at_ms.0 + 1)), ..Edit::default() };
        assert!(matches!(offer.edit_round(round, &longer, WHILE), Err(Refusal::Overlap(_))));
    }

    #[test]
    fn a_rate_to_throttle_to_has_bounds() {
        let (_, round) = published(None);
        for rate in [Some(0), Some(MAX_THROTTLE_REQUESTS_PER_S + 1)] {
            assert_eq!(round.clone().throttle(rate), Err(Refusal::Rate(MAX_THROTTLE_REQUESTS_PER_S)));
        }
        let throttled = round.throttle(Some(1)).unwrap();
        assert_eq!(throttled.throttle(None).unwrap().throttle_requests_per_s, None);
    }
}
