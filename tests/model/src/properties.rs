//! What must hold in every state, or in every state at rest. Both are plain invariants, which the checker decides
//! soundly; [`crate::longest_run`] separately shows that every run comes to rest.

use stateright::Property;

use crate::job::{After, Job, Next, Who};
use crate::state::State;
use crate::stored::{Order, OrderState, ReservationState};
use crate::{Action, Protocol};

/// A job with more effects than this is assumed to run for ever.
const MOST_EFFECTS: usize = 20;

type Condition = fn(&Protocol, &State) -> bool;

/// These hold in every state.
const ALWAYS: [(&str, Condition); 11] = [
    ("a repair that is found changes something", repairs_change_something),
    ("no unit is in two live orders", one_order_for_a_unit),
    ("no user has more live orders than the limit", within_the_limit),
    ("paid is final", paid_is_final),
    ("a 202 has its message or its order", accepted_is_kept),
    ("a promise fails only for a reason that is true", reasons_are_true),
    ("a payment is taken or given back", payments_are_answered),
    ("Redis offers no unit twice", |p, s| (0..p.scope.units).all(|unit| s.redis.free(unit) <= 1)),
    ("Redis calls ordered only what the ledger has", ordered_is_written),
    ("a rebuilt round offers nothing that is taken", |_, state| !state.ghost.offered_taken),
    ("while Redis loses nothing every unit is in one place", in_one_place_without_loss),
];

/// These hold when nothing is under way and reconciliation has nothing to do.
const AT_REST: [(&str, Condition); 5] = [
    ("at rest a 202 is an order or a release", |p, s| !p.is_at_rest(s) || accepted_has_ended(s)),
    ("at rest no reservation is without its order", |p, s| !p.is_at_rest(s) || reservations_have_orders(s)),
    ("at rest an unpaid order will expire", |p, s| !p.is_at_rest(s) || unpaid_will_expire(p, s)),
    ("at rest every unit is in one place", |p, s| !p.is_at_rest(s) || units_are_in_one_place(p, s)),
    ("at rest Redis has what live orders have", |p, s| !p.is_at_rest(s) || redis_agrees(p, s)),
];

/// These hold in some state. If the model never got there, it would prove nothing.
const SOMETIMES: [(&str, Condition); 12] = [
    ("rest", |protocol, state| protocol.is_at_rest(state) && state.left.tries[0] == 0),
    ("paid", |_, state| has_order(state, OrderState::Paid)),
    ("expired", |_, state| has_order(state, OrderState::Expired)),
    ("cancelled", |_, state| has_order(state, OrderState::Cancelled)),
    ("sold out", |_, state| has_order(state, OrderState::SoldOut)),
    ("failed", |_, state| has_order(state, OrderState::Failed)),
    ("refund due", |_, state| state.ledger.refunds.contains(&true)),
    ("dead letter", |_, state| state.jobs.iter().any(|job| job.who == Who::DeadLetter)),
    ("reseat", |_, state| has_next(state, |next| matches!(next, Next::Reseat(..)))),
    ("adopt", |_, state| has_next(state, |next| matches!(next, Next::Adopt | Next::AdoptThenGo(_)))),
    ("restore", |_, state| has_next(state, |next| matches!(next, Next::Restore))),
    ("rebuild", |_, state| state.left.tries[0] == 0 && has_next(state, |next| matches!(next, Next::Load(_)))),
];

pub(crate) fn all() -> Vec<Property<Protocol>> {
    let always = ALWAYS.iter().chain(&AT_REST).map(|(name, condition)| Property::always(name, *condition));
    let sometimes = SOMETIMES.iter().map(|(name, condition)| Property::sometimes(name, *condition));
    always.chain([Property::always("twice is once", twice_is_once)]).chain(sometimes).collect()
}

fn has_order(state: &State, in_state: OrderState) -> bool {
    state.ledger.orders.iter().flatten().any(|order| order.state == in_state)
}

fn has_next(state: &State, is: fn(&Next) -> bool) -> bool {
    state.jobs.iter().any(|job| is(&job.next))
}

/// The live orders: user and unit.
fn live_orders(state: &State) -> impl Iterator<Item = (u8, u8)> {
    let live = |(order, id): (&Option<Order>, u8)| order.filter(|order| order.is_live()).map(|order| (id, order.unit));
    state.ledger.orders.iter().zip(0..).filter_map(live)
}

fn one_order_for_a_unit(protocol: &Protocol, state: &State) -> bool {
    (0..protocol.scope.units).all(|unit| live_orders(state).filter(|order| order.1 == unit).count() <= 1)
}

fn within_the_limit(protocol: &Protocol, state: &State) -> bool {
    live_orders(state).all(|(id, _)| {
        let user = protocol.user(id);
        live_orders(state).filter(|order| protocol.user(order.0) == user).count() <= usize::from(protocol.scope.limit)
    })
}

fn paid_is_final(_: &Protocol, state: &State) -> bool {
    state.ledger.orders.iter().zip(0..).zip(state.ghost.paid).all(|((order, id), paid)| {
        !paid
            || order.is_some_and(|order| {
                order.state == OrderState::Paid && state.ledger.units[usize::from(order.unit)] == Some((id, order.slot))
            })
    })
}

fn accepted_is_kept(_: &Protocol, state: &State) -> bool {
    let has_message =
        |id| state.jobs.iter().any(|job| job.seat.id == id && matches!(job.who, Who::Order | Who::DeadLetter));
    let ids = state.ghost.accepted.into_iter().zip(state.ledger.orders).zip(0..);
    ids.into_iter().all(|((accepted, order), id)| !accepted || order.is_some() || has_message(id))
}

/// Judged when a function found the reason: what it writes later says what was true then.
fn reasons_are_true(_: &Protocol, state: &State) -> bool {
    let failed = |order: &Order| matches!(order.state, OrderState::Failed | OrderState::SoldOut);
    let found = state.ledger.orders.iter().zip(state.ghost.untrue);
    found.into_iter().all(|(order, untrue)| !untrue || !order.as_ref().is_some_and(failed))
}

fn payments_are_answered(_: &Protocol, state: &State) -> bool {
    let answered = state.ghost.paid.into_iter().zip(state.ledger.refunds);
    state.ghost.charged.into_iter().zip(answered).all(|(charged, (paid, refund))| !charged || paid || refund)
}

fn ordered_is_written(_: &Protocol, state: &State) -> bool {
    let reservations = state.redis.reservations.iter().zip(state.ledger.orders);
    reservations.into_iter().all(|(reservation, order)| {
        !reservation.is_some_and(|reservation| reservation.state == ReservationState::Ordered) || order.is_some()
    })
}

fn in_one_place_without_loss(protocol: &Protocol, state: &State) -> bool {
    let loses = protocol.scope.failovers > 0 || protocol.scope.wipes > 0;
    loses
        || !state.redis.loaded
        || (0..protocol.scope.units).all(|unit| {
            let holders: Vec<u8> = state.redis.holders(unit).collect();
            let guard = state.ledger.units[usize::from(unit)].map(|guard| guard.0);
            state.redis.free(unit) + holders.len() == 1 && guard.is_none_or(|id| holders == [id])
        })
}

fn accepted_has_ended(state: &State) -> bool {
    state.ghost.accepted.iter().zip(state.ledger.orders).all(|(accepted, order)| !accepted || order.is_some())
}

fn reservations_have_orders(state: &State) -> bool {
    state.redis.live().all(|seat| state.ledger.orders[usize::from(seat.id)].is_some_and(|order| order.is_live()))
}

fn units_are_in_one_place(protocol: &Protocol, state: &State) -> bool {
    state.redis.loaded
        && (0..protocol.scope.units).all(|unit| {
            let mut holders = state.redis.holders(unit);
            match state.ledger.units[usize::from(unit)] {
                Some((id, _)) => {
                    let has_it = live_orders(state).any(|order| order == (id, unit));
                    has_it && state.redis.free(unit) == 0 && holders.all(|holder| holder == id)
                }
                None => state.redis.free(unit) == 1 && holders.next().is_none(),
            }
        })
}

fn unpaid_will_expire(protocol: &Protocol, state: &State) -> bool {
    let ids = state.ledger.orders.iter().zip(0..);
    ids.filter(|(order, _)| order.is_some_and(|order| order.state == OrderState::Pending)).all(|(_, id)| {
        let has_message = state.jobs.iter().any(|job| job.who == Who::Expiry && job.seat.id == id);
        has_message || protocol.finds_overdue(state, id)
    })
}

fn redis_agrees(protocol: &Protocol, state: &State) -> bool {
    (0..protocol.scope.units).all(|unit| {
        state.ledger.units[usize::from(unit)]
            .is_none_or(|(id, slot)| state.redis.live().any(|seat| (seat.id, seat.unit, seat.slot) == (id, unit, slot)))
    })
}

/// Otherwise every run of reconciliation finds the same and never repairs it. Missing keys do get created.
fn repairs_change_something(protocol: &Protocol, state: &State) -> bool {
    let mut found = Vec::new();
    protocol.repairs(state, &mut found);
    found.into_iter().all(|action| {
        let Action::Repair(job) = action else { return true };
        if matches!(job.next, Next::Load(_)) {
            return true;
        }
        let mut after = state.clone();
        protocol.step(&mut after, job);
        after.redis != state.redis
    })
}

/// Whether a message that is handled and then delivered again changes nothing, and likewise a request.
fn twice_is_once(protocol: &Protocol, state: &State) -> bool {
    let waits = |job: &&Job| job.who.is_message() && job.next == Next::Start;
    let messages = state.jobs.iter().filter(waits).all(|job| {
        let mut first = state.clone();
        run(protocol, &mut first, *job);
        let mut second = first.clone();
        run(protocol, &mut second, *job);
        (first.redis, first.ledger) == (second.redis, second.ledger)
    });
    messages
        && (0..protocol.scope.requests.len() as u8).all(|id| {
            let mut first = state.redis;
            if state.left.tries[usize::from(id)] > 0 {
                protocol.reserve(&mut first, id);
            }
            let mut second = first;
            protocol.reserve(&mut second, id);
            first.reservations[usize::from(id)].is_none() || first == second
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
