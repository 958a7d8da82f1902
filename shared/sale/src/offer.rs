use serde::{Deserialize, Serialize};

use crate::invalid_terms::{InvalidTerms, require};
use crate::{
    Edit, EpochMs, Hours, Log, Overlap, Recurrence, Refusal, Round, RoundId, RoundNumber, SaleId, Terms, Window,
};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SaleState {
    Draft,
    /// Has rounds, which are loaded into Redis before they open.
    Published,
    /// Was published, and withdrawn before anybody could buy. This is final.
    Withdrawn,
}

/// A sale as operators edit it. Each round begins with a copy of its terms.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Offer {
    pub id: SaleId,
    #[serde(rename = "offer_state")]
    pub state: SaleState,
    /// The version: each write is conditional on the version that it read.
    #[serde(rename = "offer_version")]
    pub version: u32,
    /// The number of the round that began last. A draft's first round begins when it is published.
    pub latest_round: RoundNumber,
    /// The terms of future rounds, with the latest round's window.
    #[serde(flatten)]
    pub terms: Terms,
    pub recurrence: Option<Recurrence>,
    pub hours: Option<Hours>,
    #[serde(default, skip_serializing_if = "Log::is_empty")]
    pub log: Log,
}

impl Offer {
    pub fn draft(id: SaleId, terms: Terms, recurrence: Option<Recurrence>) -> Self {
        let (state, latest_round) = (SaleState::Draft, RoundNumber(1));
        let hours = recurrence.as_ref().and_then(|recurrence| recurrence.hours(terms.opens_at_ms, terms.closes_at_ms));
        Self { id, state, version: 1, latest_round, terms, recurrence, hours, log: Log::default() }
    }

    pub fn latest_round_id(&self) -> RoundId {
        RoundId { sale: self.id.clone(), number: self.latest_round }
    }

    pub fn publish(mut self) -> (Self, Round) {
        self.state = SaleState::Published;
        let round = Round::new(self.latest_round_id(), self.terms.clone());
        (self, round)
    }

    /// Changes a draft, or the terms of future rounds of a recurring sale. A round that has begun keeps its terms.
    /// Fails if a published sale does not recur, so there are no future rounds; or if the terms are invalid.
    pub fn edit(mut self, edit: &Edit) -> Result<Self, Refusal> {
        match (self.state, &edit.recurrence) {
            (SaleState::Withdrawn, _) => return Err(Refusal::Withdrawn),
            (SaleState::Published, _) if self.recurrence.is_none() => return Err(Refusal::NeverAgain),
            (SaleState::Published, Some(_)) => return Err(Refusal::Published("recurrence")),
            (SaleState::Draft, Some(recurrence)) => self.recurrence.clone_from(recurrence),
            (_, None) => {}
        }
        if self.state == SaleState::Published && edit.lanes.is_some_and(|lanes| lanes != self.terms.lanes) {
            return Err(Refusal::Published("lanes"));
        }
        self.terms = edit.apply(&self.terms)?;
        self.hours = match (&self.recurrence, &self.hours) {
            (Some(recurrence), Some(hours)) if edit.recurrence.is_none() => {
                recurrence.edited(hours, edit.opens_at_ms, edit.closes_at_ms)
            }
            (Some(recurrence), _) => recurrence.hours(self.terms.opens_at_ms, self.terms.closes_at_ms),
            (None, _) => None,
        };
        self.keeps_apart()?;
        self.beacon_comes_in_time()?;
        Ok(self)
    }

    /// Changes this sale's round as far as [`Edit`] allows. Fails with the first term that cannot be changed so.
    pub fn edit_round(&self, round: Round, edit: &Edit, now: EpochMs) -> Result<Round, Refusal> {
        let next = self.next_window(round.terms.opens_at_ms);
        let next_opens_at = next.map(|window| window.opens.minus_s(self.terms.longest_lead_s()));
        round.edit(edit, next_opens_at, now)
    }

    /// Makes the latest round the last one. Repeating it changes nothing. Fails if it is a draft.
    pub fn end_recurrence(mut self) -> Result<Self, Refusal> {
        if self.state == SaleState::Draft {
            return Err(Refusal::Draft);
        }
        self.recurrence = None;
        Ok(self)
    }

    /// Withdraws a published sale before anybody could buy, for good. Its round closes before its first opening, so it
    /// sells at no time, whatever a clock says and wherever it is loaded. Fails if it is a draft or already withdrawn,
    /// or if the round may have opened or is not the first one.
    pub fn withdraw(mut self, mut round: Round, now: EpochMs) -> Result<(Self, Round), Refusal> {
        match self.state {
            SaleState::Draft => return Err(Refusal::Draft),
            SaleState::Withdrawn => return Err(Refusal::Withdrawn),
            SaleState::Published => {}
        }
        if self.latest_round != RoundNumber(1) || now >= round.terms.first_opens_at_ms() {
            return Err(Refusal::HasOpened);
        }
        self.state = SaleState::Withdrawn;
        self.recurrence = None;
        round.terms.closes_at_ms = round.terms.closes_at_ms.min(now);
        Ok((self, round))
    }

    /// Copies the sale to a new draft, with the offer's window. From the latest round it takes what operators changed
    /// there: title, description of the goods, audience, door and gate. Added units stay that round's.
    pub fn duplicate(&self, id: SaleId, latest: Option<&Round>) -> Self {
        let mut terms = self.terms.clone();
        if let Some(round) = latest.filter(|_| self.recurrence.is_none()) {
            terms.title.clone_from(&round.terms.title);
            terms.goods.clone_from(&round.terms.goods);
            terms.expected_audience = round.terms.expected_audience;
            terms.door.clone_from(&round.terms.door);
            terms.gate.clone_from(&round.terms.gate);
        }
        Self { hours: self.hours.clone(), ..Self::draft(id, terms, self.recurrence.clone()) }
    }

    /// Begins the round after `latest`, in the first window that is not over at `now`. Pauses and limits by operators
    /// stay until they undo them; a throttle for its traffic ends with its round. Fails if there is no such window, or
    /// `latest` is not over.
    pub fn begin_next(mut self, latest: &Round, now: EpochMs) -> Result<(Self, Round), Refusal> {
        if !latest.is_over(now) {
            return Err(Refusal::NotOver);
        }
        let Window { opens: opens_at_ms, closes: closes_at_ms, hours } =
            self.next_window(now).ok_or(Refusal::NeverAgain)?;
        self.terms = Terms { opens_at_ms, closes_at_ms, ..self.terms };
        self.hours = Some(hours);
        self.latest_round = RoundNumber(self.latest_round.0 + 1);
        let Round { paused, throttle_requests_per_s, .. } = *latest;
        let throttle_requests_per_s = throttle_requests_per_s.filter(|_| !latest.is_throttled_for_traffic());
        let round = Round { paused, throttle_requests_per_s, ..Round::new(self.latest_round_id(), self.terms.clone()) };
        Ok((self, round))
    }

    /// Checks that each round is over before the next one opens for anybody. Fails with the first overlap.
    pub fn keeps_apart(&self) -> Result<(), Overlap> {
        let (Some(recurrence), Some(hours)) = (&self.recurrence, &self.hours) else { return Ok(()) };
        let window = (self.terms.opens_at_ms, self.terms.closes_at_ms);
        recurrence.keeps_apart(hours, window, self.terms.longest_lead_s())
    }

    /// Checks that somebody can post the beacon of each round before it opens. The rounds of a recurring sale begin by
    /// themselves, and would not open until somebody posts it.
    pub fn beacon_comes_in_time(&self) -> Result<(), InvalidTerms> {
        let waits_for_somebody = self.recurrence.is_some() && self.terms.allocation.opens_with_beacon();
        let problem =
            "a sale that recurs can have a beacon only if it is drawn at_end: each round would wait for it to open";
        require(!waits_for_somebody, "allocation.beacon", problem)
    }

    /// The first window after the latest round's that is not over at `now`.
    pub fn next_window(&self, now: EpochMs) -> Option<Window> {
        self.recurrence.as_ref()?.next_window(self.hours.as_ref()?, now)
    }
}
