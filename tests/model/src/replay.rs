use crate::Protocol;
use crate::job::{After, Job, Next};
use crate::state::State;

/// A job with more effects than this is assumed to run for ever.
const MOST_EFFECTS: usize = 20;

/// Whether a message that is handled and then delivered again changes nothing, and likewise a request and a payment.
pub(crate) fn twice_is_once(protocol: &Protocol, state: &State) -> bool {
    let waits = |job: &&Job| job.who.is_message() && job.next == Next::Start;
    let messages = state.jobs.iter().filter(waits).all(|job| {
        let mut first = state.clone();
        run(protocol, &mut first, *job);
        let mut second = first.clone();
        run(protocol, &mut second, *job);
        (first.redis, first.ledger) == (second.redis, second.ledger)
    });
    messages
        && protocol.scope.requests.iter().zip(0..).all(|(_, id)| {
            let mut first = (state.redis, state.ledger);
            if state.left.tries[usize::from(id)] > 0 {
                protocol.reserve(&mut first.0, id);
            }
            if state.left.payments > 0 {
                protocol.pay(&mut first.1, id);
            }
            let mut second = first;
            protocol.reserve(&mut second.0, id);
            first.0.reservations[usize::from(id)].is_none() || first.0 == second.0
        })
}

fn run(protocol: &Protocol, state: &mut State, mut job: Job) {
    for _ in 0..MOST_EFFECTS {
        match protocol.step(state, job) {
            After::Goes(next) => job = job.at(next),
            After::Done | After::Failed => return,
        }
    }
}
