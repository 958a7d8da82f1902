//! Traces of real runs, recorded by `tests/system/traces`: the model explains each as it is, but no edited version of it.

use model::IDS;
use model::trace::{Answer, Effect, Explained, Function, How, Trace, Unexplained, What, Written, explain};

const TRACES: [(&str, &str); 3] = [
    ("a round", include_str!("traces/a-round.jsonl")),
    ("a failover", include_str!("traces/failover.jsonl")),
    ("all lost", include_str!("traces/all-lost.jsonl")),
];

fn judged(trace: &Trace) -> Result<Explained, Box<Unexplained>> {
    explain(trace).expect("the model has room for it")
}

fn steps(trace: &Trace) -> Vec<usize> {
    let explained = judged(trace).expect("it is explained");
    let is_effect = |at: &usize| matches!(trace.records[*at].what, What::Does { .. });
    let mut steps: Vec<usize> =
        explained.path.iter().filter(|(_, actions)| !actions.is_empty()).filter_map(|(record, _)| *record).collect();
    steps.retain(is_effect);
    steps.sort_unstable();
    steps
}

/// Effects that influence what comes later.
fn changes(trace: &Trace) -> impl Iterator<Item = (usize, &Effect)> {
    trace.records.iter().enumerate().filter_map(|(at, record)| match &record.what {
        What::Does { effect, .. } if makes_a_difference(effect) => Some((at, effect)),
        _ => None,
    })
}

#[track_caller]
fn is_rejected(name: &str, edit: &str, trace: &Trace) {
    let Err(unexplained) = judged(trace) else { panic!("{name} is explained though {edit}") };
    assert!(!unexplained.gave_up && unexplained.record.is_some(), "{name}, {edit}: {unexplained}");
}

fn traces() -> impl Iterator<Item = (&'static str, Trace)> {
    TRACES.into_iter().map(|(name, text)| (name, Trace::read(text).unwrap()))
}

#[test]
fn it_is_explained_as_it_is() {
    for (name, trace) in traces() {
        let explained = judged(&trace).unwrap_or_else(|unexplained| panic!("{name}: {unexplained}"));
        assert_eq!(explained.broken, Vec::<&str>::new(), "{name}");
        assert_eq!(Trace::read(&trace.to_lines()).unwrap(), trace);
        println!("{name}: {explained}");
    }
}

#[test]
fn no_step_can_be_left_out() {
    for (name, trace) in traces() {
        for (at, effect) in changes(&trace) {
            let mut edited = trace.clone();
            edited.records.remove(at);
            is_rejected(name, &format!("line {} is left out: {effect:?}", at + 2), &edited);
        }
    }
}

#[test]
fn no_step_can_be_done_twice() {
    use Effect::{Refund, Restore, SendExpiry, SendOrder};
    for (name, trace) in traces() {
        for (at, effect) in changes(&trace) {
            // A message may be sent again, and the model allows `restore` whether or not units have moved.
            if matches!(effect, SendOrder { .. } | SendExpiry { .. } | Refund { .. } | Restore { .. }) {
                continue;
            }
            let mut edited = trace.clone();
            edited.records.insert(at + 1, edited.records[at].clone());
            is_rejected(name, &format!("line {} comes twice: {effect:?}", at + 2), &edited);
        }
    }
}

/// Whether an effect changed Redis, the ledger or a queue, according to its answer.
fn makes_a_difference(effect: &Effect) -> bool {
    match effect {
        Effect::Reserve { answer, .. }
        | Effect::Confirm { answer, .. }
        | Effect::Release { answer, .. }
        | Effect::Reseat { answer, .. }
        | Effect::Adopt { answer, .. }
        | Effect::Restore { answer, .. }
        | Effect::Load { answer, .. } => matches!(
            answer,
            Answer::Reserved
                | Answer::Confirmed
                | Answer::Released
                | Answer::Reseated
                | Answer::Adopted
                | Answer::Restored
                | Answer::Loaded
        ),
        Effect::Place { answer, .. } | Effect::Fence { answer, .. } | Effect::End { answer, .. } => {
            *answer == Written::Made
        }
        Effect::Pay { taken, .. } => *taken,
        Effect::Refund { .. } | Effect::SendOrder { .. } | Effect::SendExpiry { .. } => true,
        Effect::ReadOrder { .. } | Effect::ReadUnit { .. } | Effect::Unknown { .. } => false,
    }
}

#[test]
fn two_steps_of_a_run_cannot_change_places() {
    for (name, trace) in traces() {
        let steps = steps(&trace);
        for (first, second) in steps.iter().zip(steps.iter().skip(1)) {
            let is_one_message = trace.records.iter().any(|record| {
                let What::Begins { function, .. } = &record.what else { return false };
                record.run == trace.records[*first].run && *function != Function::Reconciliation
            });
            if trace.records[*first].run != trace.records[*second].run || !is_one_message {
                continue;
            }
            let mut edited = trace.clone();
            let what = edited.records[*first].what.clone();
            edited.records[*first].what = std::mem::replace(&mut edited.records[*second].what, what);
            is_rejected(name, &format!("lines {} and {} change places", first + 2, second + 2), &edited);
        }
    }
}

/// Changes the effect to another unit, or to another reservation if it names no unit.
fn of_another(effect: &mut Effect) {
    match effect {
        Effect::Reserve { seat: Some(seat), .. }
        | Effect::Reseat { to: Some(seat), .. }
        | Effect::Adopt { seat, .. }
        | Effect::Place { seat, .. }
        | Effect::Fence { seat, .. }
        | Effect::SendOrder { seat } => seat.unit ^= 1,
        Effect::Restore { units, .. } => units.iter_mut().for_each(|unit| *unit ^= 1),
        Effect::Load { taken: Some(taken), .. } => taken.rotate_left(1),
        Effect::Confirm { id, .. }
        | Effect::Release { id, .. }
        | Effect::End { id, .. }
        | Effect::Pay { id, .. }
        | Effect::Refund { id }
        | Effect::ReadOrder { id, .. }
        | Effect::SendExpiry { id }
        | Effect::Reserve { id, .. } => *id = (*id + 1) % IDS as u8,
        _ => {}
    }
}

#[test]
fn no_step_can_be_of_another() {
    for (name, trace) in traces() {
        for at in steps(&trace) {
            let mut edited = trace.clone();
            let What::Does { effect, .. } = &mut edited.records[at].what else { continue };
            let before = effect.clone();
            of_another(effect);
            // An empty load has nothing to change.
            if *effect != before {
                is_rejected(name, &format!("line {} is {effect:?}", at + 2), &edited);
            }
        }
    }
}

#[test]
fn redis_holds_what_the_model_says() {
    for (name, trace) in traces() {
        for at in 0..trace.records.len() {
            let mut edited = trace.clone();
            match &mut edited.records[at].what {
                What::Does { redis: Some(redis), .. } | What::Holds { redis, .. } => redis.next ^= 1,
                _ => continue,
            }
            is_rejected(name, &format!("line {} has another next unit", at + 2), &edited);
        }
    }
}

#[test]
fn a_message_is_not_handled_before_it_is_sent_nor_acknowledged_before_it_is_handled() {
    for (name, trace) in traces() {
        for (at, record) in trace.records.iter().enumerate() {
            let What::Begins { function: Function::Order | Function::Expiry, .. } = record.what else { continue };
            let mut edited = trace.clone();
            // At the start there are no requests yet.
            let mut begins = edited.records.remove(at);
            (begins.from, begins.to) = (0, 0);
            edited.records.insert(0, begins);
            is_rejected(name, &format!("line {} comes first", at + 2), &edited);

            let ends = |what: &What| matches!(what, What::Ends { how: How::Done });
            let last = trace.records.iter().position(|other| other.run == record.run && ends(&other.what));
            let Some(last) = last else { continue };
            let mut edited = trace.clone();
            let mut acknowledges = edited.records.remove(last);
            (acknowledges.from, acknowledges.to) = (record.to, record.to);
            edited.records.insert(at + 1, acknowledges);
            is_rejected(name, &format!("line {} comes right after line {}", last + 2, at + 2), &edited);
        }
    }
}
