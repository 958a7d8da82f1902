//! A round as one object, for stateright: each request takes effect at once.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroU32;

use history::{Answer, Name, Question, Refusal, Status};
use stateright::semantics::SequentialSpec;

/// Whose reservation it is, such as `1.2`. Its key has the same name.
fn user_of(reservation: Name) -> Option<&'static str> {
    reservation.text().split('.').next()
}

/// The unit of each reservation, and whether it is still held.
type State = BTreeMap<Name, (u32, bool)>;
type Outcome = (Answer, State);

/// All states that the round may be in, since the spec leaves open which unit a user gets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RoundSpec {
    units: u32,
    limit: u32,
    states: BTreeSet<State>,
}

impl RoundSpec {
    pub(crate) fn new(units: u32, limit: u32) -> Self {
        Self { units, limit, states: BTreeSet::from([State::new()]) }
    }

    /// The possible answers to a request, each with the state after it.
    pub(crate) fn outcomes(&self, state: &State, question: Question) -> Vec<Outcome> {
        let with = |reservation, unit, is_live| {
            let mut after = state.clone();
            after.insert(reservation, (unit, is_live));
            after
        };
        let unchanged = |answer| vec![(answer, state.clone())];
        let cancelled = Answer::Is { status: Status::Cancelled, unit: None };
        match question {
            Question::Look { reservation } | Question::Cancel { reservation } => match state.get(&reservation) {
                None => unchanged(Answer::Refused(Refusal::UnknownReservation)),
                Some((unit, _)) if matches!(question, Question::Cancel { .. }) => {
                    vec![(cancelled, with(reservation, *unit, false))]
                }
                Some((unit, true)) => unchanged(Answer::Is { status: Status::Queued, unit: NonZeroU32::new(*unit) }),
                Some((_, false)) => unchanged(cancelled),
            },
            Question::Reserve { key } => {
                let reservation = key.expect("every request has a key");
                let accepted = |unit| Answer::Accepted { reservation, unit: NonZeroU32::new(unit) };
                if let Some((unit, _)) = state.get(&reservation) {
                    return unchanged(accepted(*unit));
                }
                let live = || state.iter().filter(|(_, (_, is_live))| *is_live);
                if live().filter(|(of, _)| user_of(**of) == user_of(reservation)).count() >= self.limit as usize {
                    return unchanged(Answer::Refused(Refusal::LimitReached));
                }
                let free = (1..=self.units).filter(|unit| live().all(|(_, (taken, _))| taken != unit));
                let taken: Vec<_> = free.map(|unit| (accepted(unit), with(reservation, unit, true))).collect();
                if taken.is_empty() { unchanged(Answer::Refused(Refusal::SoldOut)) } else { taken }
            }
            Question::Pay { .. } => unreachable!("nothing is paid here"),
        }
    }

    fn all_outcomes(&self, question: Question) -> impl Iterator<Item = Outcome> {
        self.states.iter().flat_map(move |state| self.outcomes(state, question))
    }
}

impl SequentialSpec for RoundSpec {
    type Op = Question;
    type Ret = Answer;

    /// Stateright calls this only for requests whose answer was lost.
    fn invoke(&mut self, question: &Question) -> Answer {
        self.states = self.all_outcomes(*question).map(|(_, state)| state).collect();
        Answer::Unknown
    }

    fn is_valid_step(&mut self, question: &Question, answer: &Answer) -> bool {
        let told = self.all_outcomes(*question).filter(|(told, _)| told == answer);
        self.states = told.map(|(_, state)| state).collect();
        !self.states.is_empty()
    }
}
