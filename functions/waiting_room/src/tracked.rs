//! How a line is looked at and moved.

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use api::{Code, Problem};
use ledger::{KeptLine, LedgerError};
use pass::line::{
    Admitted, Advance, Flow, InvalidProgress, Late, LineDocument, LineKeys, LineOrder, LineState, People, Progress,
    Units, Watermark, advance, ceiling, stand,
};
use runtime::{ANSWER_TIMEOUT, Moment};
use sale::{EpochMs, LineTerms, Round, Settlement};
use stock::{Counters, LineMoved, LineSnapshot, LineStep, RoundStock, StockError};
use tokio::time::timeout;

use crate::deps::WaitingRoomDeps;
use crate::lines::{LineResult, Tracked};
use crate::of_round::{expires_at, tickets_from};

/// The time limit for reading a line, so that those who wait still get an answer if it fails.
const READ_TIMEOUT: Duration = Duration::from_secs(5);
const _: () = assert!(READ_TIMEOUT.as_millis() + 1_000 < ANSWER_TIMEOUT.as_millis());
/// The time limit for recording the line's position in the ledger: all who poll, and the line, wait for it.
const NOTE_TIMEOUT: Duration = Duration::from_secs(1);
const NOTE_AGAIN_AFTER: Duration = Duration::from_secs(2);
/// How often the number of people is recorded in the ledger before the opening.
const NOTE_PEOPLE_EVERY: Duration = Duration::from_secs(10);
/// How long after the end of the last payment window units may still come back, in seconds: expiry may be behind.
const EXPIRY_LAGS_S: u32 = 120;
/// How many reservations are checked for one without a confirmed order; those at the front are the oldest.
const MOST_OPEN_ORDERS: usize = 100;
/// When to retry a line whose seed the ledger does not have, in seconds.
const NO_SEED_RETRY_S: u32 = 5;
/// How often clients poll, in milliseconds.
const POLL_BEFORE_MS: u64 = 30_000;
const POLL_MOVING_MS: u64 = 2_000;
/// All polls together, in a second: half of CloudFront's limit. With more people, each polls less often.
const MOST_POLLS_PER_S: u64 = 125_000;
const POLL_STANDING_MS: u64 = 5_000;
const POLL_SOLD_OUT_MS: u64 = 10_000;
/// If no unit is known that could come back. Operators may still add some, or an order takes longer than anybody saw.
const POLL_OVER_MS: u64 = 60_000;

/// How far a line is, as just read or moved.
struct LinePosition {
    snapshot: LineSnapshot,
    progress: Progress,
    /// `None` if Redis has lost the round.
    units: Option<UnitTotals>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct UnitTotals {
    total: u64,
    /// Units that somebody holds or has ordered.
    taken: u64,
    free: u64,
    /// When the last unit was handed out. `None` if a lane is unknown.
    last_won_at: Option<EpochMs>,
    /// How many of the taken units may come back at most.
    may_return: u64,
}

/// The public document of a round's line, from a look that ended at most a second ago. Fails with 503 if the ledger or
/// Redis does not answer: the order cannot be known without its seed.
pub(crate) async fn look_at(deps: &WaitingRoomDeps, round: &Round, line: LineTerms, per_s: u32) -> LineResult {
    let read = async |tracked: &mut Tracked| {
        let mut look = Look { deps, round, tracked };
        let result = timeout(deps.clock.limit(READ_TIMEOUT), look.read(line, per_s)).await;
        result.unwrap_or_else(|late| Err(Problem::unanswered(late))).map(Arc::new)
    };
    deps.lines.0.at_line(&round.id, deps.clock, read).await
}

impl Tracked {
    fn may_note(&self, now: Moment) -> bool {
        self.unheard.is_none_or(|at| now.since(at) >= NOTE_AGAIN_AFTER)
    }

    /// Whether this number of people should be recorded in the ledger now.
    fn is_to_note(&self, people: u64, now: Moment) -> bool {
        self.kept.as_ref().is_some_and(|kept| people > kept.people)
            && self.noted_people.is_none_or(|at| now.since(at) >= NOTE_PEOPLE_EVERY)
    }

    /// How far the line may be, according to the last successful record in the ledger.
    fn recorded_ceiling(&self) -> Watermark {
        self.kept.as_ref().and_then(|kept| kept.ceiling).unwrap_or_default()
    }
}

type Unnoted = Box<dyn Error + Send + Sync>;

struct Look<'a> {
    deps: &'a WaitingRoomDeps,
    round: &'a Round,
    tracked: &'a mut Tracked,
}

impl Look<'_> {
    fn stock(&self) -> RoundStock<'_> {
        self.deps.stock.of(self.round)
    }

    async fn read(&mut self, line: LineTerms, per_s: u32) -> Result<LineDocument, Problem> {
        let (deps, round) = (self.deps, self.round);
        if self.tracked.kept.is_none() {
            self.tracked.kept = deps.ledger.line(&round.id).await.map_err(Problem::unanswered)?;
        }
        let kept =
            self.tracked.kept.clone().ok_or_else(|| Problem::new(Code::Overloaded).retry_after_s(NO_SEED_RETRY_S))?;
        let snapshot = self.stock().read_line_and_keep(expires_at(round)).await;
        let snapshot = snapshot.map_err(Problem::unanswered)?;
        // Only Redis's clock decides who is early, so it also decides when the order becomes public. The opening of a
        // round that is not loaded can still be postponed.
        if snapshot.now < round.terms.opens_at_ms || round.loaded_at_ms.is_none() {
            self.note_people(snapshot.people).await;
            return Ok(before(&snapshot, &kept, line, round));
        }
        deps.missed.forget(&round.id);
        let position = self.advance(per_s, snapshot).await?;
        let flow = flow(round, per_s, &position);
        let watermark = self.publishable(&position.progress, flow.per_s).await;
        let keys = deps.keys.get().await.map_err(Problem::unanswered)?;
        let sealed = watermark.seal(&LineOrder::of(&kept.seed), &LineKeys::of(&keys), &round.id);
        let seed = Some(LineDocument::seed_text(&kept.seed));
        let opened = LineDocument { seed, watermark: Some(sealed), ..before(&position.snapshot, &kept, line, round) };
        Ok(after(opened, &position, &flow, watermark, round.terms.closes_at_ms))
    }

    /// Records the number of people in the ledger from time to time. If that fails, it is tried again the next time.
    async fn note_people(&mut self, people: u64) {
        let (round, now) = (&self.round.id, Moment::now(self.deps.clock));
        if !self.tracked.is_to_note(people, now) {
            return;
        }
        self.tracked.noted_people = Some(now);
        match self.noted(self.deps.ledger.note_people_in_line(round, people)).await {
            Ok(known) => {
                if let Some(kept) = &mut self.tracked.kept {
                    kept.people = known;
                }
            }
            Err(error) => {
                let error = &*error as &dyn Error;
                tracing::warn!(error, %round, "the number of people in line could not be recorded in the ledger");
            }
        }
    }

    /// Moves the line if it is time and nobody else has.
    async fn advance(&mut self, per_s: u32, snapshot: LineSnapshot) -> Result<LinePosition, Problem> {
        let round = self.round;
        let read: Option<Progress> =
            snapshot.progress.as_deref().map(str::parse).transpose().map_err(|error: InvalidProgress| {
                tracing::error!(error = &error as &dyn Error, round = %round.id, "what is kept cannot be right");
                Problem::new(Code::Internal)
            })?;
        let units = self.units(&snapshot, read.map_or(0, |progress| progress.taken)).await?;
        let mut position = LinePosition { snapshot, progress: read.unwrap_or_default(), units };
        if read.is_none() {
            position.progress = self.restored(&position).await?;
            // Written before it moves: a process that finds no line takes it to be as far as the ledger knows.
            if position.units.is_none() || !self.begin(&mut position).await? {
                return Ok(position);
            }
        }
        let flow = flow(round, per_s, &position);
        let due = if position.units.is_some() {
            advance(&position.progress, &flow)
        } else {
            stand(&position.progress, &flow).map(|progress| Advance { progress, late: Late::Stay })
        };
        let Some(due) = due else { return Ok(position) };
        match self.move_on(&position, &flow, due).await? {
            Some(progress) => position.progress = progress,
            None => position.read_again(self.stock()).await?,
        }
        Ok(position)
    }

    /// Moves the line, but not beyond what the ledger knows: anything beyond could not be published, and would be
    /// admitted all at once later. Returns `None` if somebody else has moved it.
    async fn move_on(
        &mut self,
        position: &LinePosition,
        flow: &Flow,
        due: Advance,
    ) -> Result<Option<Progress>, Problem> {
        let before = position.snapshot.progress.as_deref();
        let stood = stand(&position.progress, flow).unwrap_or(position.progress);
        let stood = Advance { progress: stood, late: Late::Stay };
        let (mut step, mut most) = (due, self.tracked.recorded_ceiling());
        if step.progress.watermark > most {
            match self.raised(&step.progress, flow.per_s).await {
                Some(ceiling) if ceiling >= step.progress.watermark => most = ceiling,
                _ => step = stood,
            }
        }
        let mut moved = self.move_line(before, &step, most).await?;
        // Only Redis knows who the next late users are.
        if let LineMoved::Beyond(late_s, late_ppb) = moved {
            let watermark = Watermark { late_s, late_ppb, ..step.progress.watermark };
            if let Some(most) = self.raised(&Progress { watermark, ..step.progress }, flow.per_s).await {
                moved = self.move_line(before, &step, most).await?;
            }
        }
        if matches!(moved, LineMoved::Beyond(..)) {
            step = stood;
            moved = self.move_line(before, &step, most).await?;
        }
        let Advance { progress: next, .. } = step;
        Ok(match moved {
            LineMoved::To(late_s, late_ppb) => {
                Some(Progress { watermark: Watermark { late_s, late_ppb, ..next.watermark }, ..next })
            }
            LineMoved::Beyond(..) | LineMoved::Overtaken => None,
        })
    }

    /// What is known about the round's units. While one of several lanes is away or lost, the others go on selling and
    /// the line goes on moving for them; as nothing is known of that lane's units, no more count as taken than before.
    async fn units(&mut self, snapshot: &LineSnapshot, taken_before: u64) -> Result<Option<UnitTotals>, Problem> {
        let (round, stock) = (self.round, self.deps.stock.of(self.round));
        let known = match stock.partial_counters().await {
            Ok(known) => known,
            // Units keep moving between lanes, none of which has any.
            Err(StockError::OnTheWay) => return Ok(None),
            Err(error) => return Err(Problem::unanswered(error)),
        };
        let Some(counters) = &known.counters else { return Ok(None) };
        let units = if known.are_all() {
            UnitTotals::of(counters, snapshot.now)
        } else {
            let unknown = known.unknown();
            tracing::warn!(round = %round.id, ?unknown, "some lanes do not say what is left");
            let lanes = (0..).zip(&counters.lanes).filter(|(index, _)| !unknown.contains(index));
            let lanes: Vec<Counters> = lanes.map(|(_, counters)| counters.clone()).collect();
            UnitTotals::of_some(&lanes, round.terms.total.into(), taken_before, snapshot.now)
        };
        // Lanes about which too little is known may have units: the line stands still.
        if units.free == 0 && (!known.are_all() || counters.short.is_some()) {
            return Ok(None);
        }
        // While units are free it does not matter what may come back.
        let are_taken = units.free == 0 && units.taken > 0;
        // There may be a reservation without a confirmed order.
        let is_open = are_taken && !matches!(stock.held_since(MOST_OPEN_ORDERS).await, Ok(None));
        if is_open {
            self.tracked.open_at = Some(snapshot.now);
        }
        let may_return = is_open || units.may_be_unpaid(round, self.tracked.open_at, snapshot.now);
        Ok(Some(UnitTotals { may_return: if may_return { units.taken } else { 0 }, ..units }))
    }

    /// Restores a line that Redis does not have, as it has not moved yet or was lost, from what the ledger knows.
    async fn restored(&mut self, position: &LinePosition) -> Result<Progress, Problem> {
        let LinePosition { snapshot, units, .. } = position;
        let round = &self.round.id;
        self.tracked.kept = self.deps.ledger.line(round).await.map_err(Problem::unanswered)?;
        let Some(KeptLine { ceiling, people, .. }) = self.tracked.kept else { return Ok(Progress::default()) };
        if ceiling.is_some() || snapshot.people < people {
            tracing::warn!(%round, people, "Redis has lost the line; it continues from what the ledger knows");
        }
        let taken = units.map_or(0, |units| units.taken);
        Ok(Progress::restored(ceiling, people, snapshot.people, snapshot.now.0.unsigned_abs(), taken))
    }

    /// The watermark that may be published: the ledger must first have a ceiling above it.
    async fn publishable(&mut self, progress: &Progress, per_s: u64) -> Watermark {
        let mut watermark = progress.watermark;
        let known = self.tracked.recorded_ceiling();
        if watermark > known {
            watermark = self.raised(progress, per_s).await.map_or(known, |ceiling| watermark.min(ceiling));
        }
        self.tracked.published = self.tracked.published.max(watermark);
        self.tracked.published
    }

    /// Records in the ledger how far the line may be. `None` if that fails, which then is not tried for a while.
    async fn raised(&mut self, progress: &Progress, per_s: u64) -> Option<Watermark> {
        let (round, deps) = (&self.round.id, self.deps);
        if !self.tracked.may_note(Moment::now(deps.clock)) {
            return None;
        }
        match self.noted(deps.ledger.raise_line(round, &ceiling(progress, per_s), progress.people)).await {
            Ok(ceiling) => {
                self.tracked.unheard = None;
                if let Some(kept) = &mut self.tracked.kept {
                    (kept.ceiling, kept.people) = (Some(ceiling), progress.people);
                }
                Some(ceiling)
            }
            Err(error) => {
                self.tracked.unheard = Some(Moment::now(deps.clock));
                let error = &*error as &dyn Error;
                tracing::warn!(error, %round, "the line stands still: its position could not be recorded in the ledger");
                None
            }
        }
    }

    async fn noted<T>(&self, note: impl Future<Output = Result<T, LedgerError>>) -> Result<T, Unnoted> {
        Ok(timeout(self.deps.clock.limit(NOTE_TIMEOUT), note).await??)
    }

    /// Writes a line that Redis does not have. Returns whether this process did.
    async fn begin(&self, position: &mut LinePosition) -> Result<bool, Problem> {
        let step = Advance { progress: position.progress, late: Late::Stay };
        match self.move_line(None, &step, position.progress.watermark).await? {
            LineMoved::To(..) => {
                position.snapshot.progress = Some(position.progress.to_string());
                Ok(true)
            }
            LineMoved::Beyond(..) | LineMoved::Overtaken => {
                position.read_again(self.stock()).await?;
                Ok(false)
            }
        }
    }

    /// Moves Redis's line if nobody has moved it since it was read.
    async fn move_line(&self, before: Option<&str>, step: &Advance, most: Watermark) -> Result<LineMoved, Problem> {
        let Advance { progress, late } = step;
        let step = LineStep {
            before: before.map(str::to_owned),
            head: progress.head(),
            tail: progress.tail(),
            late: if let Late::More(count) = late { Some(*count) } else { None },
            late_s: progress.watermark.late_s,
            late_ppb: progress.watermark.late_ppb,
            late_most: Some((most.late_s, most.late_ppb)),
            expires_at: expires_at(self.round),
        };
        self.stock().move_line(&step).await.map_err(Problem::unanswered)
    }
}

impl LinePosition {
    /// Reads the line again after somebody else was faster; their move is as good.
    async fn read_again(&mut self, stock: RoundStock<'_>) -> Result<(), Problem> {
        let snapshot = stock.read_line().await.map_err(Problem::unanswered)?;
        self.progress = snapshot.progress.as_deref().and_then(|text| text.parse().ok()).unwrap_or(self.progress);
        self.snapshot = snapshot;
        Ok(())
    }
}

impl UnitTotals {
    fn of(counters: &Counters, now: EpochMs) -> Self {
        let lanes = if counters.lanes.is_empty() { std::slice::from_ref(counters) } else { &counters.lanes };
        let total = u64::from(counters.total());
        // Units on their way from one lane to another are in neither.
        let in_lanes: u64 = lanes.iter().map(|lane| u64::from(lane.free())).sum();
        let on_the_way = u64::from(counters.free()).saturating_sub(in_lanes);
        Self {
            total,
            taken: total.saturating_sub(counters.free().into()),
            free: on_the_way + sellable(lanes, now),
            last_won_at: lanes.iter().map(|lane| lane.last_won_at_ms).max(),
            may_return: 0,
        }
    }

    fn of_some(lanes: &[Counters], total: u64, taken_before: u64, now: EpochMs) -> Self {
        let free: u64 = lanes.iter().map(|lane| u64::from(lane.free())).sum();
        let taken = taken_before.min(total.saturating_sub(free));
        Self { total, taken, free: sellable(lanes, now), last_won_at: None, may_return: 0 }
    }

    /// Whether one of the orders may be unpaid. `open_at` is when a reservation without an order was last seen.
    fn may_be_unpaid(&self, round: &Round, open_at: Option<EpochMs>, now: EpochMs) -> bool {
        let Some(last_won_at) = self.last_won_at else { return true };
        let last_ordered = open_at.map_or(last_won_at, |at| at.max(last_won_at));
        let last_return = last_ordered.plus_s(round.terms.payment_window_s).plus_s(EXPIRY_LAGS_S);
        round.terms.settlement != Settlement::Free && now <= last_return
    }
}

/// Units that can be handed out now. Returned units are in cooldown at first, during which requests get "sold out".
fn sellable(lanes: &[Counters], now: EpochMs) -> u64 {
    lanes.iter().filter(|lane| lane.cooldown_until_ms <= now).map(|lane| u64::from(lane.available(now))).sum()
}

fn flow(round: &Round, per_s: u32, position: &LinePosition) -> Flow {
    let LinePosition { snapshot, units, .. } = position;
    let UnitTotals { free, taken, may_return, .. } = units.unwrap_or_default();
    Flow {
        now_ms: snapshot.now.0.unsigned_abs(),
        opens_at_ms: round.terms.opens_at_ms.0.unsigned_abs(),
        people: snapshot.people,
        late_waiting: snapshot.late.saturating_sub(snapshot.late_admitted),
        free,
        taken,
        may_return,
        per_s: per_s.into(),
    }
}

/// The document before the line opens.
fn before(snapshot: &LineSnapshot, kept: &KeptLine, line: LineTerms, round: &Round) -> LineDocument {
    LineDocument {
        sale: round.id.sale.clone(),
        round: round.id.number.0,
        state: LineState::Before,
        commitment: kept.commitment.to_string(),
        seed: None,
        opens_at: round.terms.opens_at_ms.into(),
        tickets_from: tickets_from(round, line).into(),
        // Whatever Redis has lost since they were recorded.
        people: People::of(snapshot.people.max(kept.people), snapshot.late),
        admitted: Admitted::of(&Watermark::default(), 0, 0, snapshot.now),
        units: Units { total: round.terms.total.into(), sold: 0, may_return: 0 },
        poll_after_ms: round.terms.opens_at_ms.since_ms(snapshot.now).clamp(1_000, POLL_BEFORE_MS),
        watermark: None,
    }
}

/// The document since the line opened, from the one before.
fn after(
    before: LineDocument,
    position: &LinePosition,
    flow: &Flow,
    watermark: Watermark,
    closes_at_ms: EpochMs,
) -> LineDocument {
    let LinePosition { snapshot, progress, units: known } = position;
    let (early, late) = (progress.people.max(snapshot.people), snapshot.late);
    let of_known = |UnitTotals { total, taken, may_return, .. }| Units { total, sold: taken, may_return };
    let units = known.map_or(before.units, of_known);
    let state = if snapshot.now >= closes_at_ms {
        LineState::Ended
    } else if known.is_some_and(|units| units.free == 0) {
        LineState::SoldOut
    } else if flow.per_s == 0 || known.is_none() {
        LineState::Paused
    } else {
        LineState::Moving
    };
    // Units that are still to drop are free, although nobody can get them yet.
    let is_over = state == LineState::SoldOut && units.may_return == 0 && units.sold == units.total;
    let poll_after_ms = match state {
        LineState::Ended => 0,
        LineState::SoldOut if is_over => POLL_OVER_MS,
        LineState::SoldOut => POLL_SOLD_OUT_MS,
        LineState::Paused => POLL_STANDING_MS,
        LineState::Before | LineState::Moving => ((early + late) * 1000 / MOST_POLLS_PER_S).max(POLL_MOVING_MS),
    };
    LineDocument {
        state,
        people: People::of(early, late),
        admitted: Admitted::of(&watermark, snapshot.late_admitted, flow.per_s, snapshot.now),
        units,
        poll_after_ms,
        ..before
    }
}

#[cfg(test)]
mod tests {
    use sale::EpochMs;
    use sale::award::{Commitment, Seed};
    use tokio::time::Instant;

    use super::*;

    /// Moments this many milliseconds after the first.
    fn clock() -> impl Fn(u64) -> Moment {
        let began = Instant::now();
        move |ms| Moment::of(began + Duration::from_millis(ms), EpochMs(1_000_000 + ms as i64))
    }

    #[test]
    fn a_ledger_that_does_not_answer_is_left_alone_for_a_while() {
        let at = clock();
        let mut tracked = Tracked::default();
        assert!(tracked.may_note(at(0)));
        tracked.unheard = Some(at(0));
        assert_eq!([0, 1999, 2000].map(|ms| tracked.may_note(at(ms))), [false, false, true]);
    }

    fn lane(free: u32, cooldown_until_ms: i64, last_won_at_ms: i64) -> Counters {
        Counters {
            next_unit: 11,
            last_unit: 10,
            returned: free,
            cooldown_until_ms: EpochMs(cooldown_until_ms),
            last_won_at_ms: EpochMs(last_won_at_ms),
            ..Counters::default()
        }
    }

    #[test]
    fn what_came_back_is_not_free_while_nobody_gets_it() {
        let one = lane(2, 1500, 7);
        let free = |counters: &Counters, now| UnitTotals::of(counters, EpochMs(now)).free;
        assert_eq!([1499, 1500].map(|now| free(&one, now)), [0, 2]);
        assert_eq!(UnitTotals::of(&one, EpochMs(1499)).taken, 8, "it is not taken either");
        let lanes = vec![lane(2, 1500, 7), lane(0, 0, 9), lane(3, 900, 8)];
        let all =
            Counters { next_unit: 31, last_unit: 30, returned: 6, last_won_at_ms: EpochMs(i64::MAX), lanes, ..one };
        assert_eq!([899, 900, 1500].map(|now| free(&all, now)), [1, 4, 6], "one is on its way");
        let known = UnitTotals::of(&all, EpochMs(1500));
        assert_eq!((known.total, known.taken, known.last_won_at), (30, 24, Some(EpochMs(9))));
    }

    #[test]
    fn what_is_not_known_of_a_lane_is_neither_free_nor_taken() {
        let some = UnitTotals::of_some(&[lane(4, 0, 7)], 20, 3, EpochMs(10));
        assert_eq!(some, UnitTotals { total: 20, taken: 3, free: 4, last_won_at: None, may_return: 0 });
    }

    #[test]
    fn the_ledger_hears_of_more_people_every_ten_seconds() {
        let at = clock();
        let mut tracked = Tracked::default();
        assert!(!tracked.is_to_note(5, at(0)), "the ledger's value is unknown");
        let (seed, commitment) = (Seed([7; 32]), Commitment([8; 32]));
        tracked.kept = Some(KeptLine { seed, commitment, ceiling: None, people: 5 });
        assert_eq!([4, 5, 6].map(|people| tracked.is_to_note(people, at(0))), [false, false, true]);
        tracked.noted_people = Some(at(0));
        assert_eq!([9_999, 10_000].map(|ms| tracked.is_to_note(6, at(ms))), [false, true]);
    }
}
