use stateright::Model;

use super::effect::{Effect, Written};
use super::moves::{Move, RunFacts, Runs, Stand};
use super::record::Function;
use crate::job::{After, Job, Next, Who};
use crate::protocol::cancellation;
use crate::state::State;
use crate::stored::OrderState;
use crate::{Action, Protocol};

impl Protocol {
    /// Invisible steps: reconciliation finds something that it visibly does later, and a cancellation reads Redis before it
    /// writes the fence. `wanted` is what runs still have to do, with their numbers.
    pub(super) fn unseen(&self, state: &State, runs: &Runs, wanted: &[(u32, RunFacts, &Effect)]) -> Vec<Move> {
        let mut offered = Vec::new();
        self.actions(state, &mut offered);
        let repairs = wanted.iter().filter(|(_, known, _)| known.function == Function::Reconciliation);
        let to_do = |deed: &Effect| repairs.clone().filter(|(.., effect)| effect.is_same_deed(deed)).count();
        let mut moves = Vec::new();
        for action in offered {
            let mut runs = runs.clone();
            match action {
                Action::Repair(job) => {
                    let found = state.jobs.iter().filter(|other| **other == job).count();
                    let deed = self.sights(state, job).0.into_iter().next();
                    if deed.is_none_or(|deed| to_do(&deed) <= found) {
                        continue;
                    }
                }
                Action::Overdue(id) => {
                    let deed = Effect::End { id, to: OrderState::Expired, answer: Written::Made };
                    let is_its =
                        |job: &&Job| job.who == Who::Reconciliation && job.next == Next::Start && job.seat.id == id;
                    if to_do(&deed) <= state.jobs.iter().filter(is_its).count() {
                        continue;
                    }
                }
                Action::Cancel(id) => {
                    let job = cancellation(state, id);
                    let (sights, After::Goes(next)) = self.sights(state, job) else { continue };
                    let fences = |(run, known, effect): &&(u32, RunFacts, &Effect)| {
                        let is_its = known.function == Function::Cancel && known.id == Some(id);
                        let is_fence = matches!(effect, Effect::Fence { .. });
                        is_its && is_fence && runs.get(run) == Some(&Stand::Fresh)
                    };
                    let Some((run, ..)) = wanted.iter().find(fences).filter(|_| sights.is_empty()) else { continue };
                    runs.insert(*run, Stand::At(job.at(next)));
                }
                _ => continue,
            }
            if let Some(state) = self.next_state(state, action) {
                moves.push(Move { actions: vec![action], state, runs });
            }
        }
        moves
    }
}
