//! Every function dies at each of its effects, before it and after it. Then the caller asks again, the system's own
//! retries and schedules run, and every unit must be in exactly one place. The effects are found by running the flows, so
//! a new one is covered automatically.
//!
//! An effect is identified by its kind and by how many of that kind came before it. Runs still differ: on a busy machine a
//! request may be repeated, or a run may give up early. So only some points are owed: those that all runs without a fault
//! have. The test fails if no run dies at an owed point. Any other point that a run showed is tried as well; if no run
//! reaches it again, the runs that were to die there have ended cleanly without it.
//!
//! No point is tried twice. Reads change nothing, so dying before a change, or at a read with no change beside it, leaves
//! behind what dying after the change before it did.

mod early_access;
mod events;
mod flow;
mod lanes;
mod lines;
mod lotteries;
mod packets;
mod paying;
mod purchase;
mod repairing;
mod rounds;
mod updates;
mod world;

use tests::{Calm, Effect, Fault, Point, When};
use tokio::sync::Semaphore;
use tokio::task::JoinError;

use crate::packets::unclaimed;
use crate::prelude::*;
use flow::Flow;
use world::World;

const FLOWS: [&[Flow]; 11] = [
    events::FLOWS,
    repairing::FLOWS,
    purchase::FLOWS,
    rounds::FLOWS,
    updates::FLOWS,
    paying::FLOWS,
    packets::FLOWS,
    early_access::FLOWS,
    lotteries::FLOWS,
    lanes::FLOWS,
    lines::FLOWS,
];

/// So many runs at once: each spends much of its time waiting for its table and queues.
static PERMITS: Semaphore = Semaphore::const_new(8);
/// How often an owed point is tried. A run may miss it by chance, if an answer came too late.
const TRIES: usize = 20;
/// How often a point that is not owed is tried.
const EXTRA_TRIES: usize = 2;
/// How often a run without a fault is repeated that gave up before it had all effects that its flow must have.
const CLEAN_TRIES: usize = 5;
/// Fewer owed points than this mean that effects are overlooked. Raise it with every new flow.
const OWED_AT_LEAST: usize = 1_100;
/// Fewer deaths at owed points than this mean that points are taken for the same that are not. How many of the
/// effects of an order coincide varies from run to run.
const DEATHS_AT_LEAST: usize = 205;

/// Flows that talk to a merchant's address, which has no proxy: there, something may lie between two effects.
const TALK_TO_OTHERS: [&str; 2] = ["event that the merchant's address does not take", "notification of winners"];

/// The kinds of effects that a run lacks of those that it must have. A kind that is named twice must be there twice.
fn lacks(effects: &BTreeSet<Effect>, kinds: &'static [&'static str]) -> Vec<&'static str> {
    let mut left = kinds.to_vec();
    for effect in effects {
        if let Some(at) = left.iter().position(|kind| *kind == effect.kind) {
            left.remove(at);
        }
    }
    left
}

/// Runs a flow in a world with this fault. Returns the lab, what is reserved in it, and whether the flow ended by itself.
async fn run(flow: &Flow, fault: &Arc<Fault>) -> (Lab, Vec<Reservation>, bool) {
    let lab = Lab::new().await;
    let reserved = (flow.prepare)(&lab).await;
    let world = World::new(&lab, fault).await;
    let ended = fault.run((flow.run)(&lab, &world, &reserved)).await;
    drop(world);
    (lab, reserved, ended)
}

/// Runs a flow whose world ends at a point, then heals. A run that did not reach the point must heal too. Returns whether it
/// died, and its effects.
async fn crash(flow: &Flow, point: Point) -> (bool, BTreeSet<Effect>) {
    let fault = Fault::new(Some(point));
    let (lab, reserved, ended) = run(flow, &fault).await;
    for again in flow.again {
        again(&lab, &reserved).await;
    }
    heal(&lab).await;
    for end in flow.end {
        end(&lab, &reserved).await;
    }
    let audit = lab.audit().await;
    assert!(audit.is_clean(), "{audit:?}");
    assert_eq!(audit.held, 0, "a reservation is in limbo");
    for Reservation { id, .. } in &reserved {
        assert!(lab.ledger.order(id).await.unwrap().is_some(), "{id} has no order");
    }
    sell(&lab, audit.free).await;
    assert!(lab.audit().await.is_clean());
    let allocation = lab.round().await.terms.allocation;
    if allocation.has_awards() && !allocation.is_drawn_at_end() {
        assert_eq!(unclaimed(&lab).await, 0, "a sold-out packet has no amount left");
    }
    lab.check_history_of_a_crash(&format!("crash-{}", lab.table)).await;
    (!ended, fault.effects())
}

/// Sells everything that is available, which shows that ended orders block no slot. A closed sale sells nothing.
async fn sell(lab: &Lab, free: u32) {
    let round = lab.round().await;
    let reserve = |name: &str| Ask::reserve_in(SALE, round.id.number.0, name);
    if round.is_over(now()) {
        lab.answer(&reserve("late")).await.problem(410, "closed");
        return;
    }
    lab.sell_returned_in(&round.id, round.terms.lanes).await;
    // Units that are not available yet cannot be bought.
    let counters = lab.stock.of(&round).counters().await.unwrap().expect("the round is loaded");
    let to_come = counters.free() - counters.available(now());
    let mut sold = Vec::new();
    for number in 0..free - to_come {
        let name = format!("late-{number}");
        sold.push(lab.accepted(&reserve(&name), &name).await);
    }
    let delivered = order::handle(&lab.order(), message_batch(&sold)).await;
    assert!(delivered.batch_item_failures.is_empty());
    lab.answer(&reserve("too-late")).await.problem(409, "sold_out");
}

/// Tries a point up to this many times. Returns whether a run died at it, or the check's panic if the system did not heal;
/// and the effects that the runs had.
async fn try_point(flow: &'static Flow, point: &Point, tries: usize) -> (Result<bool, JoinError>, BTreeSet<Effect>) {
    let mut effects = BTreeSet::new();
    for _ in 0..tries {
        let _permit = PERMITS.acquire().await.unwrap();
        match tokio::spawn(crash(flow, point.clone())).await {
            Ok((died, had)) => {
                effects.extend(had);
                if died {
                    return (Ok(true), effects);
                }
            }
            Err(panic) => return (Err(panic), effects),
        }
    }
    (Ok(false), effects)
}

/// Runs a flow without a fault until it has the kinds of effects that it must have. On a very busy machine a run may give up
/// before.
async fn whole_run(flow: &Flow) -> Arc<Fault> {
    for _ in 0..CLEAN_TRIES {
        let _permit = PERMITS.acquire().await.unwrap();
        let fault = Fault::new(None);
        assert!(run(flow, &fault).await.2, "nothing ends the run");
        let lacks = lacks(&fault.effects(), flow.effects);
        if lacks.is_empty() {
            return fault;
        }
        eprintln!("{}: a run without a fault lacks {lacks:?} and only had {:?}", flow.name, fault.effects());
    }
    panic!("{}: {CLEAN_TRIES} runs without a fault lacked effects that it must have, see above", flow.name)
}

/// The effects that are owed, and the points that leave behind what another does, which is tried.
///
/// Owed are those of two runs without a fault, so that an odd run adds none. One that it hides is still tried, since the runs
/// that die after it have it.
async fn owed(flow: &Flow) -> (BTreeSet<Effect>, BTreeSet<Point>) {
    let (one, other) = tokio::join!(whole_run(flow), whole_run(flow));
    let effects = &one.effects() & &other.effects();
    let (of_one, of_other) = (one.calms(), other.calms());
    let mut same: BTreeMap<&Calm, Vec<&Effect>> = BTreeMap::new();
    if !TALK_TO_OTHERS.contains(&flow.name) && std::env::var_os("EVERY_POINT").is_none() {
        for effect in &effects {
            if let Some(calm) = of_one.get(effect).filter(|calm| of_other.get(effect) == Some(*calm)) {
                same.entry(calm).or_default().push(effect);
            }
        }
    }
    let mut elsewhere = BTreeSet::new();
    for (calm, same) in same {
        let before = same.iter().map(|effect| Point { effect: (*effect).clone(), when: When::Before });
        // If no change stands for them, the first of them does.
        let is_tried = calm.after.as_ref().is_some_and(|change| effects.contains(change));
        elsewhere.extend(before.skip(usize::from(!is_tried)));
        let reads = same.into_iter().filter(|effect| effect.is_read());
        elsewhere.extend(reads.map(|read| Point { effect: read.clone(), when: When::After }));
    }
    (effects, elsewhere)
}

/// The result of a flow: at how many owed and other points it died, which points no run reached, and what failed.
#[derive(Debug, Default)]
struct Report {
    owed: usize,
    /// Owed points that are the same as another.
    same: usize,
    others: usize,
    /// Points without which all runs ended cleanly.
    missed: Vec<String>,
    bad: Vec<String>,
}

/// Tries every owed point of a flow, and every other point that shows up meanwhile.
async fn try_flow(flow: &'static Flow) -> Report {
    let (owed, elsewhere) = owed(flow).await;
    let mut report = Report::default();
    let (mut known, mut next) = (owed.clone(), owed.clone());
    while !next.is_empty() {
        let both = |effect: &Effect| [When::Before, When::After].map(|when| Point { effect: effect.clone(), when });
        let (same, points): (Vec<Point>, Vec<Point>) =
            next.iter().flat_map(both).partition(|point| elsewhere.contains(point));
        report.same += same.len();
        let is_owed = |point: &Point| owed.contains(&point.effect);
        let tries = points.iter().map(|point| try_point(flow, point, if is_owed(point) { TRIES } else { EXTRA_TRIES }));
        let mut seen = BTreeSet::new();
        for (point, (outcome, effects)) in points.iter().zip(join_all(tries).await) {
            seen.extend(effects);
            let what = format!("{}, {:?} {} {}", flow.name, point.when, point.effect.kind, point.effect.nth);
            match outcome {
                Ok(true) if is_owed(point) => report.owed += 1,
                Ok(true) => report.others += 1,
                // A busy machine repeats calls that are slow, and such a call is an effect of its own. The runs above may have
                // had one each, so it is owed only if a run without a fault still has it.
                Ok(false) if is_owed(point) && whole_run(flow).await.effects().contains(&point.effect) => {
                    let why = format!("none of {TRIES} runs reached it, and a run without a fault has it");
                    report.bad.push(format!("{what}: {why}"));
                }
                Ok(false) => report.missed.push(what),
                Err(panic) => report.bad.push(format!("{what}: it does not heal: {panic}")),
            }
        }
        next = seen.difference(&known).cloned().collect();
        known.extend(seen);
    }
    report
}

/// Tries all flows, or those whose name contains the environment variable `CRASHES`. With `EVERY_POINT`, points that leave
/// behind the same are tried too.
#[tokio::test(flavor = "multi_thread")]
async fn every_function_may_die_at_every_effect() {
    let wanted = std::env::var("CRASHES").ok();
    let has_flow = |name: &str| FLOWS.into_iter().flatten().any(|flow| flow.name == name);
    assert!(TALK_TO_OTHERS.into_iter().all(has_flow), "a flow of {TALK_TO_OTHERS:?} has another name now");
    let is_wanted = |flow: &&Flow| wanted.as_ref().is_none_or(|wanted| flow.name.contains(wanted));
    assert!(FLOWS.into_iter().flatten().any(|flow| is_wanted(&flow)), "no flow has {wanted:?} in its name");
    let wanted_flows = FLOWS.into_iter().flatten().filter(is_wanted);
    let flows: Vec<_> = wanted_flows.map(|flow| (flow.name, tokio::spawn(try_flow(flow)))).collect();
    let mut reports = BTreeMap::new();
    for (name, tried) in flows {
        reports.insert(name, tried.await.unwrap_or_else(|error| panic!("{name}: {error}")));
    }
    let sum = |count: fn(&Report) -> usize| reports.values().map(count).sum::<usize>();
    let (owed, same, others) = (sum(|of| of.owed), sum(|of| of.same), sum(|of| of.others));
    eprintln!("{reports:#?}\ndied at {owed} owed points, which cover {same} more, and at {others} that were not owed");
    let bad: Vec<&String> = reports.values().flat_map(|of| &of.bad).collect();
    assert!(bad.is_empty(), "{bad:#?}");
    assert!(wanted.is_some() || owed + same >= OWED_AT_LEAST, "too few owed points");
    assert!(wanted.is_some() || owed >= DEATHS_AT_LEAST, "too few deaths");
}
