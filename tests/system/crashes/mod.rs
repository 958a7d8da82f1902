//! Every function dies at every effect that it has, before it and after it; then whoever asked asks again, the system's
//! own retries and schedules run, and every unit must be in exactly one place. The effects are found by running, so that
//! a new one is covered without anybody remembering.

mod flow;
mod paying;
mod purchase;
mod repairing;
mod rounds;
mod steering;
mod world;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use futures::future::join_all;
use runtime::Clock;
use sale::Reservation;
use tests::{Fault, When};
use tokio::sync::Semaphore;

use crate::ask::Ask;
use crate::calls::redis_calls;
use crate::heal::heal;
use crate::lab::{Lab, SALE, message_batch};
use flow::Flow;
use world::World;

const FLOWS: [&[Flow]; 5] = [repairing::FLOWS, purchase::FLOWS, rounds::FLOWS, steering::FLOWS, paying::FLOWS];

/// Points that are tried beside each other: two keep two cores busy, and with many the emulator answers too late.
const AT_ONCE: usize = 4;
/// Tries to reach a point. What is asked of Redis before it answers counts as one effect, and how much that is varies: a run
/// may have an effect less than the one before.
const TRIES: usize = 5;

/// Runs a flow to its end, and counts its effects. It must have those that it is known for: a flow that does nothing
/// would have no points.
async fn effects(flow: &Flow) -> usize {
    let lab = Lab::new().await;
    let reserved = (flow.prepare)(&lab).await;
    let fault = Fault::new(usize::MAX, When::Before);
    let world = World::new(&lab, &fault).await;
    let (ended, redis) = redis_calls(&lab.valkey.url(), fault.run((flow.run)(&lab, &world, &reserved))).await;
    assert!(ended);
    let kinds: BTreeSet<String> = redis.into_iter().chain(world.operations()).collect();
    for kind in flow.effects {
        assert!(kinds.contains(*kind), "{} has no {kind}: {kinds:?}", flow.name);
    }
    fault.effects()
}

/// Runs a flow with its world ending at the effect `at`, and heals. Whether it got that far.
async fn crash(flow: &Flow, at: usize, when: When) -> bool {
    let lab = Lab::new().await;
    let reserved = (flow.prepare)(&lab).await;
    let fault = Fault::new(at, when);
    let world = World::new(&lab, &fault).await;
    let ended = fault.run((flow.run)(&lab, &world, &reserved)).await;
    drop(world);

    (flow.again)(&lab, &reserved).await;
    heal(&lab).await;
    (flow.end)(&lab, &reserved).await;
    let audit = lab.audit().await;
    assert!(audit.is_clean(), "{audit:?}");
    assert_eq!(audit.held, 0, "a reservation is in limbo");
    for Reservation { id, .. } in &reserved {
        assert!(lab.ledger.order(id).await.unwrap().is_some(), "{id} came to nothing");
    }
    sell(&lab, audit.free).await;
    assert!(lab.audit().await.is_clean());
    !ended
}

/// Whatever is free can be sold: nobody's slot is taken by what ended. In a sale that was closed nothing can, and in one
/// that was paused once it goes on.
async fn sell(lab: &Lab, free: u32) {
    let sale = lab.sale().await;
    let reserve = |name: &str| Ask::reserve_in(SALE, sale.round.0, name);
    if sale.terms.closes_at_ms <= Clock::system().now() {
        lab.answer(&reserve("late")).await.problem(410, "closed");
        return;
    }
    if sale.paused {
        lab.answer(&reserve("late")).await.problem(503, "paused");
        lab.answer(&steering::ask("resume")).await.expect(200);
    }
    tests::until_sellable(&lab.stock, &sale.id, sale.round).await;
    let mut sold = Vec::new();
    for number in 0..free {
        let name = format!("late-{number}");
        let answer = lab.answer(&reserve(&name)).await.expect(202);
        sold.push(lab.reservation_of(answer.text("reservation_id"), &name).await);
    }
    let delivered = order::handle(&lab.order(), message_batch(&sold.iter().collect::<Vec<_>>())).await;
    assert!(delivered.batch_item_failures.is_empty());
    lab.answer(&reserve("too-late")).await.problem(409, "sold_out");
}

/// What became of a point.
enum Point {
    Reached,
    NeverReached,
    /// It was reached, and the system did not come to rest as it should. The panic has been printed.
    Broken,
}

async fn try_point(flow: &'static Flow, at: usize, when: When, tries: usize, permits: Arc<Semaphore>) -> Point {
    for _ in 0..tries {
        let _permit = permits.acquire().await.unwrap();
        match tokio::spawn(crash(flow, at, when)).await {
            Ok(true) => return Point::Reached,
            Ok(false) => {}
            Err(_) => return Point::Broken,
        }
    }
    Point::NeverReached
}

/// Tries every point of a flow. How many there are, and which of them ended badly.
async fn try_flow(flow: &'static Flow, permits: Arc<Semaphore>) -> (usize, Vec<String>) {
    let counted = {
        let _permit = permits.acquire().await.unwrap();
        effects(flow).await
    };
    let both = |at| [(at, When::Before), (at, When::After)];
    let tried = (0..counted).flat_map(both).map(async |(at, when)| {
        let point = try_point(flow, at, when, TRIES, Arc::clone(&permits)).await;
        (at, when, point)
    });
    let mut tried = join_all(tried).await;
    // Past the counted end: the run that was counted may have been the one with an effect less.
    for at in counted.. {
        let past = join_all(both(at).map(|(at, when)| try_point(flow, at, when, 1, Arc::clone(&permits)))).await;
        let past: Vec<_> =
            both(at).into_iter().zip(past).filter(|(_, point)| !matches!(point, Point::NeverReached)).collect();
        if past.is_empty() {
            break;
        }
        tried.extend(past.into_iter().map(|((at, when), point)| (at, when, point)));
    }
    let bad = tried.iter().filter_map(|(at, when, point)| match point {
        Point::Reached => None,
        Point::NeverReached => Some(format!("{} never came to effect {at} ({when:?})", flow.name)),
        Point::Broken => Some(format!("{} died {when:?} effect {at}", flow.name)),
    });
    let bad = bad.collect();
    (tried.len(), bad)
}

#[tokio::test(flavor = "multi_thread")]
async fn every_function_may_die_at_every_effect() {
    let permits = Arc::new(Semaphore::new(AT_ONCE));
    let flows = FLOWS.into_iter().flatten().map(|flow| (flow.name, tokio::spawn(try_flow(flow, Arc::clone(&permits)))));
    let (mut points, mut bad) = (BTreeMap::new(), Vec::new());
    for (name, tried) in flows.collect::<Vec<_>>() {
        let (number, bad_ones) = tried.await.unwrap_or_else(|error| panic!("{name}: {error}"));
        points.insert(name, number);
        bad.extend(bad_ones);
    }
    let all: usize = points.values().sum();
    eprintln!("{all} points: {points:?}");
    assert!(bad.is_empty(), "{bad:#?}");
}
