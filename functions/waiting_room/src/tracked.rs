//! What a process remembers of lines, and how it moves them on.

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use api::{Code, Problem};
use cache::Moment;
use ledger::{KeptLine, LedgerError};
use line::{
    Admitted, Advance, Flow, Front, Late, LineDocument, LineKeys, LineState, Order, People, Progress, Units, advance,
    ceiling,
};
use moka::future::Cache;
use runtime::ANSWER_TIMEOUT;
use sale::{EpochMs, LineTerms, Round, RoundId, Settlement};
use stock::{Counters, LineLook, LineStep};
use tokio::sync::Mutex;
use tokio::time::timeout;

use crate::{Deps, expires_at, tickets_from};

/// How long this process goes by a document, or by the answer that there is none. With the second for which the CDN keeps it, it is
/// what a change takes to be seen.
const FRESH: Duration = Duration::from_millis(900);
/// Longest look: who waits for it can be answered when it fails.
const LOOK_TIMEOUT: Duration = Duration::from_secs(5);
const _: () = assert!(LOOK_TIMEOUT.as_millis() + 1_000 < ANSWER_TIMEOUT.as_millis());
/// Longest wait for the ledger to take how far a line is: all who look wait with it, and without it the line stands.
const NOTE_TIMEOUT: Duration = Duration::from_secs(1);
/// How long it is not told again once it did not answer.
const NOTE_AGAIN_AFTER: Duration = Duration::from_secs(2);
/// How often the ledger is told how many people have come, before the opening.
const NOTE_PEOPLE_EVERY: Duration = Duration::from_secs(10);
/// Lines that are remembered: several times the sales that are ever open at once.
const MAX_LINES: u64 = 1_000;
/// How long after the end of the last payment window units may still come back: expiry may be behind.
const EXPIRY_LAGS_S: u32 = 120;
/// When to ask again for a line whose seed the ledger does not have.
const NO_SEED_RETRY_S: u32 = 5;
/// Clients look this often.
const POLL_BEFORE_MS: u64 = 30_000;
const POLL_MOVING_MS: u64 = 2_000;
const POLL_STANDING_MS: u64 = 5_000;
const POLL_SOLD_OUT_MS: u64 = 10_000;

/// The lines that this process has looked at.
#[derive(Clone)]
pub struct Lines(Cache<RoundId, Arc<Mutex<Tracked>>>);

/// A line, locked while it is looked at: one look is for all who ask at once.
#[derive(Default)]
struct Tracked {
    kept: Option<KeptLine>,
    /// The farthest front that this process has published: clocks of replicas differ, and a line never moves back.
    published: Front,
    /// When the ledger was last told how many people have come.
    noted_people: Option<Moment>,
    /// When the ledger last did not take how far the line is.
    unheard: Option<Moment>,
    last: Option<(Moment, Looked)>,
}

/// What came of a look, for all who ask within a second.
type Looked = Result<Arc<LineDocument>, Problem>;

/// How far a line is, as it was just read or moved.
struct Standing {
    look: LineLook,
    progress: Progress,
    counters: Option<Counters>,
}

impl Lines {
    pub(crate) fn new() -> Self {
        Self(Cache::new(MAX_LINES))
    }

    /// What everybody may know of the line of a round, a second old at most.
    ///
    /// # Errors
    /// 503 if the ledger or Redis does not answer: without its seed nobody guesses an order.
    pub(crate) async fn document(&self, deps: &Deps, round: &Round, line: LineTerms, per_s: u32) -> Looked {
        let tracked = self.0.get_with_by_ref(&round.id, async { Arc::default() }).await;
        let mut tracked = tracked.lock().await;
        if let Some(last) = tracked.at_hand(Moment::now(deps.clock)) {
            return last;
        }
        let looked = timeout(LOOK_TIMEOUT, tracked.look(deps, round, line, per_s)).await;
        let looked = looked.unwrap_or_else(|late| Err(Problem::unanswered(late))).map(Arc::new);
        tracked.last = Some((Moment::now(deps.clock), looked.clone()));
        looked
    }
}

impl Tracked {
    /// What came of the last look, as long as it is fresh. A failure is kept like a document: a crowd that looks again does not help
    /// what does not answer.
    fn at_hand(&self, now: Moment) -> Option<Looked> {
        self.last.as_ref().filter(|(at, _)| now.since(*at) < FRESH).map(|(_, looked)| looked.clone())
    }

    /// Whether the ledger may be told how far the line is.
    fn may_note(&self, now: Moment) -> bool {
        self.unheard.is_none_or(|at| now.since(at) >= NOTE_AGAIN_AFTER)
    }

    /// Whether the ledger is to be told now that so many people have come.
    fn is_to_note(&self, people: u64, now: Moment) -> bool {
        self.kept.as_ref().is_some_and(|kept| people > kept.people)
            && self.noted_people.is_none_or(|at| now.since(at) >= NOTE_PEOPLE_EVERY)
    }

    async fn look(&mut self, deps: &Deps, round: &Round, line: LineTerms, per_s: u32) -> Result<LineDocument, Problem> {
        if self.kept.is_none() {
            self.kept = deps.ledger.line(&round.id).await.map_err(Problem::unanswered)?;
        }
        let kept = self.kept.clone().ok_or_else(|| Problem::new(Code::Overloaded).retry_after_s(NO_SEED_RETRY_S))?;
        let look = deps.stock.of(round).look_at_line().await.map_err(Problem::unanswered)?;
        // Redis's clock alone says who is early, so it alone says when the order may be known. The opening of a round that is not
        // loaded can still be put off.
        if look.now < round.terms.opens_at_ms || round.loaded_at_ms.is_none() {
            self.note_people(deps, round, look.people).await;
            return Ok(document(round, line, &kept, before(&look, kept.people, round)));
        }
        let standing = self.advance(deps, round, per_s, look).await?;
        let flow = flow(round, per_s, &standing);
        let front = self.publishable(deps, round, &standing.progress, per_s).await;
        let keys = deps.keys.ring().await.map_err(Problem::unanswered)?;
        let sealed = front.seal(&Order::of(&kept.seed), &LineKeys::of(&keys), &round.id);
        Ok(document(round, line, &kept, after(&standing, &flow, front, sealed, round)))
    }

    /// Tells the ledger how many people have come, now and then. If it does not hear, the next look tells it.
    async fn note_people(&mut self, deps: &Deps, round: &Round, people: u64) {
        let now = Moment::now(deps.clock);
        if !self.is_to_note(people, now) {
            return;
        }
        self.noted_people = Some(now);
        match noted(deps.ledger.note_people_in_line(&round.id, people)).await {
            Ok(known) => {
                if let Some(kept) = &mut self.kept {
                    kept.people = known;
                }
            }
            Err(error) => {
                let error = &*error as &dyn Error;
                tracing::warn!(error, round = %round.id, "the ledger does not hear how many people are in line");
            }
        }
    }

    /// Moves the line on if it is time and nobody else has.
    async fn advance(&mut self, deps: &Deps, round: &Round, per_s: u32, look: LineLook) -> Result<Standing, Problem> {
        let stock = deps.stock.of(round);
        let counters = match stock.counters().await {
            Ok(counters) => counters.filter(|counters| counters.known_available(look.now).is_some()),
            // A lane is away: the line stands, and its document says so.
            Err(error) if error.is_away() && round.terms.lanes > 1 => {
                tracing::warn!(error = &error as &dyn Error, round = %round.id, "a lane does not say what is left");
                None
            }
            Err(error) => return Err(Problem::unanswered(error)),
        };
        let progress = look.progress.as_deref().map(str::parse).transpose().map_err(Problem::unanswered)?;
        let is_there = progress.is_some();
        let progress = match progress {
            Some(progress) => progress,
            None => self.restored(deps, round, &look, counters.as_ref()).await?,
        };
        let mut standing = Standing { look, progress, counters };
        let due = advance(&standing.progress, &flow(round, per_s, &standing));
        let step = match due {
            // Nothing is known of the units: it stands, and the time does not count.
            _ if standing.counters.is_none() => None,
            Some(Advance { progress, late }) => Some((progress, late)),
            None if !is_there => Some((standing.progress, Late::Stay)),
            None => None,
        };
        let Some((next, late)) = step else { return Ok(standing) };
        let move_on = LineStep {
            before: standing.look.progress.clone(),
            head: next.head(),
            tail: next.tail(),
            late: if let Late::More(count) = late { Some(count) } else { None },
            late_s: next.front.late_s,
            late_ppb: next.front.late_ppb,
            expires_at: expires_at(round),
        };
        match stock.move_line(&move_on).await.map_err(Problem::unanswered)? {
            Some((late_s, late_ppb)) => {
                standing.progress = Progress { front: Front { late_s, late_ppb, ..next.front }, ..next };
            }
            None => {
                // Somebody else was quicker; theirs is as good.
                let look = stock.look_at_line().await.map_err(Problem::unanswered)?;
                let read = look.progress.as_deref().and_then(|text| text.parse().ok());
                standing.progress = read.unwrap_or(standing.progress);
                standing.look = look;
            }
        }
        Ok(standing)
    }

    /// A line that Redis does not have: it has not moved yet, or was lost. It goes on from what the ledger was told last.
    async fn restored(
        &mut self,
        deps: &Deps,
        round: &Round,
        look: &LineLook,
        counters: Option<&Counters>,
    ) -> Result<Progress, Problem> {
        let kept = deps.ledger.line(&round.id).await.map_err(Problem::unanswered)?;
        self.kept = kept;
        let Some(KeptLine { ceiling, people, .. }) = self.kept else { return Ok(Progress::default()) };
        if ceiling.is_some() || look.people < people {
            tracing::warn!(round = %round.id, people, "Redis has lost the line: it goes on from what the ledger knows");
        }
        let taken = counters.map_or(0, |counters| u64::from(counters.total() - counters.free().min(counters.total())));
        Ok(Progress::restored(ceiling, people, look.people, look.now.0.unsigned_abs(), taken))
    }

    /// The front as it may be published: not before the ledger has a ceiling above it.
    async fn publishable(&mut self, deps: &Deps, round: &Round, progress: &Progress, per_s: u32) -> Front {
        let mut front = progress.front;
        let known = self.kept.as_ref().and_then(|kept| kept.ceiling).unwrap_or_default();
        if front > known {
            front = self.raised(deps, round, progress, per_s).await.map_or(known, |ceiling| front.min(ceiling));
        }
        self.published = self.published.max(front);
        self.published
    }

    /// Tells the ledger how far the line may be. None if it does not hear, and then for a while it is not asked again.
    async fn raised(&mut self, deps: &Deps, round: &Round, progress: &Progress, per_s: u32) -> Option<Front> {
        if !self.may_note(Moment::now(deps.clock)) {
            return None;
        }
        let above = ceiling(progress, per_s.into());
        match noted(deps.ledger.raise_line(&round.id, &above, progress.people)).await {
            Ok(ceiling) => {
                self.unheard = None;
                if let Some(kept) = &mut self.kept {
                    (kept.ceiling, kept.people) = (Some(ceiling), progress.people);
                }
                Some(ceiling)
            }
            Err(error) => {
                self.unheard = Some(Moment::now(deps.clock));
                let error = &*error as &dyn Error;
                tracing::warn!(error, round = %round.id, "the line stands: the ledger does not hear of it");
                None
            }
        }
    }
}

/// What the ledger has noted, if it says so in time.
async fn noted<T>(note: impl Future<Output = Result<T, LedgerError>>) -> Result<T, Box<dyn Error + Send + Sync>> {
    Ok(timeout(NOTE_TIMEOUT, note).await??)
}

/// Units of a round at a moment: all, those that are gone, those that can be had, and those of the gone that may come back.
fn units(round: &Round, counters: Option<&Counters>, now: EpochMs) -> (Units, u64) {
    let Some(counters) = counters else {
        let total = u64::from(round.terms.total);
        return (Units { total, sold: 0, may_return: 0 }, 0);
    };
    let (total, free) = (counters.total(), counters.free());
    let sold = u64::from(total.saturating_sub(free));
    let last_return = counters.last_won_at_ms.plus_s(round.terms.payment_window_s).plus_s(EXPIRY_LAGS_S);
    let may_return = if round.terms.settlement == Settlement::Free || now > last_return { 0 } else { sold };
    (Units { total: total.into(), sold, may_return }, counters.available(now).into())
}

fn flow(round: &Round, per_s: u32, standing: &Standing) -> Flow {
    let Standing { look, counters, .. } = standing;
    let (Units { sold: taken, may_return, .. }, free) = units(round, counters.as_ref(), look.now);
    Flow {
        now_ms: look.now.0.unsigned_abs(),
        opens_at_ms: round.terms.opens_at_ms.0.unsigned_abs(),
        people: look.people,
        late_waiting: look.late.saturating_sub(look.late_admitted),
        free,
        taken,
        may_return,
        per_s: per_s.into(),
    }
}

/// What changes from one document of a line to the next.
struct Changing {
    state: LineState,
    is_open: bool,
    people: People,
    admitted: Admitted,
    units: Units,
    poll_after_ms: u64,
    front: Option<String>,
}

/// `known` people had come before, whatever Redis has lost since.
fn before(look: &LineLook, known: u64, round: &Round) -> Changing {
    let (units, _) = units(round, None, look.now);
    Changing {
        state: LineState::Before,
        is_open: false,
        people: People::of(look.people.max(known), look.late),
        admitted: Admitted::of(&Front::default(), 0, look.now),
        units,
        poll_after_ms: round.terms.opens_at_ms.since_ms(look.now).clamp(1_000, POLL_BEFORE_MS),
        front: None,
    }
}

fn after(standing: &Standing, flow: &Flow, front: Front, sealed: String, round: &Round) -> Changing {
    let Standing { look, progress, counters } = standing;
    let (units, free) = units(round, counters.as_ref(), look.now);
    let state = if look.now >= round.terms.closes_at_ms {
        LineState::Ended
    } else if counters.is_some() && free == 0 {
        LineState::SoldOut
    } else if flow.per_s == 0 || counters.is_none() {
        LineState::Paused
    } else {
        LineState::Moving
    };
    // Units of a plan of drops that are still to come are free, if not yet to be had.
    let is_over = state == LineState::SoldOut && units.may_return == 0 && units.sold == units.total;
    let poll_after_ms = match state {
        LineState::Ended => 0,
        LineState::SoldOut if is_over => 0,
        LineState::SoldOut => POLL_SOLD_OUT_MS,
        LineState::Paused => POLL_STANDING_MS,
        LineState::Before | LineState::Moving => POLL_MOVING_MS,
    };
    Changing {
        state,
        is_open: true,
        people: People::of(progress.people.max(look.people), look.late),
        admitted: Admitted::of(&front, flow.per_s, look.now),
        units,
        poll_after_ms,
        front: Some(sealed),
    }
}

fn document(round: &Round, line: LineTerms, kept: &KeptLine, changing: Changing) -> LineDocument {
    let Changing { state, is_open, people, admitted, units, poll_after_ms, front } = changing;
    LineDocument {
        sale: round.id.sale.clone(),
        round: round.id.number.0,
        state,
        commitment: kept.commitment.to_string(),
        seed: is_open.then(|| LineDocument::seed_text(&kept.seed)),
        opens_at: round.terms.opens_at_ms.into(),
        tickets_from: tickets_from(round, line).into(),
        people,
        admitted,
        units,
        poll_after_ms,
        front,
    }
}

#[cfg(test)]
mod tests {
    use award::{Commitment, Seed};
    use sale::EpochMs;
    use tokio::time::Instant;

    use super::*;

    /// Moments so many milliseconds after the first.
    fn clock() -> impl Fn(u64) -> Moment {
        let began = Instant::now();
        move |ms| Moment::of(began + Duration::from_millis(ms), EpochMs(1_000_000 + ms as i64))
    }

    #[test]
    fn a_failure_is_kept_for_as_long_as_a_document() {
        let at = clock();
        let mut tracked = Tracked::default();
        assert!(tracked.at_hand(at(0)).is_none());
        let failed = Problem::new(Code::Overloaded).retry_after_s(2);
        tracked.last = Some((at(0), Err(failed.clone())));
        assert_eq!(tracked.at_hand(at(899)), Some(Err(failed)));
        assert!(tracked.at_hand(at(900)).is_none());
    }

    #[test]
    fn a_ledger_that_does_not_answer_is_left_alone_for_a_while() {
        let at = clock();
        let mut tracked = Tracked::default();
        assert!(tracked.may_note(at(0)));
        tracked.unheard = Some(at(0));
        assert_eq!([0, 1999, 2000].map(|ms| tracked.may_note(at(ms))), [false, false, true]);
    }

    #[test]
    fn the_ledger_hears_of_more_people_every_ten_seconds() {
        let at = clock();
        let mut tracked = Tracked::default();
        assert!(!tracked.is_to_note(5, at(0)), "it is not known what the ledger has");
        let (seed, commitment) = (Seed([7; 32]), Commitment([8; 32]));
        tracked.kept = Some(KeptLine { seed, commitment, ceiling: None, people: 5 });
        assert_eq!([4, 5, 6].map(|people| tracked.is_to_note(people, at(0))), [false, false, true]);
        tracked.noted_people = Some(at(0));
        assert_eq!([9_999, 10_000].map(|ms| tracked.is_to_note(6, at(ms))), [false, true]);
    }
}
