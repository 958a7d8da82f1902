//! Runs with a fault in them. A fault in a script or a DynamoDB condition is added on the way: the proxy makes Redis
//! run another text, or changes the request. A fault in the order of a function's steps is a function here that makes
//! the same calls as the real one.

use model::trace::{Function, How};
use stock::{Reserve, RoundLoad};
use tests::When::{After, Before};
use tests::{Mutants, unsold};

use super::right::{Scenario, scenario};
use super::world::{World, at};
use crate::prelude::*;

/// A run with a fault that the model must notice.
pub(super) struct Mutated {
    pub(super) scenario: Scenario,
    /// The fault in Redis or DynamoDB. Empty if the scenario itself goes wrong when told to.
    pub(super) mutants: fn() -> Mutants,
    pub(super) rejected_at: &'static str,
}

pub(super) const MUTATED: &[Mutated] = &[
    Mutated {
        scenario: scenario!("release-without-its-check", 1, 1, released_twice),
        mutants: || script("release", "at and state ~= 'r'", "at"),
        rejected_at: "Release { id: 0",
    },
    Mutated {
        scenario: scenario!("reserve-without-the-limit", 2, 1, asked_twice),
        mutants: || script("reserve", "if #live >= per_user_limit then", "if false then"),
        rejected_at: "Reserve { id: 1",
    },
    Mutated {
        scenario: scenario!("adopt-without-the-unit", 2, 1, forgotten),
        mutants: || script("adopt", "if unit >= next_unit and unit <= last_unit then", "if false then"),
        rejected_at: "Adopt",
    },
    Mutated {
        scenario: scenario!("confirm-of-what-is-released", 1, 1, confirmed_late),
        mutants: || script("confirm", "if state == 'r' then return 'already_released' end", ""),
        rejected_at: "Confirm { id: 0",
    },
    wrong_steps(scenario!("confirm-before-the-write", 1, 1, confirmed_first), "Confirm { id: 0"),
    wrong_steps(scenario!("release-before-the-write", 1, 1, released_first), "Release { id: 0"),
    wrong_steps(scenario!("cancel-without-a-fence", 1, 1, cancelled_unfenced), "Release { id: 0"),
    wrong_steps(scenario!("load-without-the-ledger", 2, 1, loaded_blindly), "Load"),
    wrong_steps(scenario!("answer-before-the-message", 1, 1, answered_first), "Ends { how: Done }"),
    wrong_steps(scenario!("acknowledgement-before-the-order", 1, 1, acknowledged_first), "Ends { how: Done }"),
    Mutated {
        scenario: scenario!("expiry-of-what-is-paid", 1, 1, expired_late),
        mutants: || request("#state = :from AND pay_by_ms <= :now", "#state = :from OR pay_by_ms <= :now"),
        rejected_at: "End { id: 0",
    },
    Mutated {
        scenario: scenario!("order-without-the-unit-guard", 2, 1, sold_twice),
        mutants: || request("\"attribute_not_exists(pk)\"", "\"attribute_not_exists(pk) OR attribute_exists(pk)\""),
        rejected_at: "Place",
    },
];

const fn wrong_steps(scenario: Scenario, rejected_at: &'static str) -> Mutated {
    Mutated { scenario, mutants: Mutants::default, rejected_at }
}

fn script(name: &str, part: &str, other: &str) -> Mutants {
    let (_, text) = stock::expanded::ALL.iter().find(|(known, _)| *known == name).expect("a script");
    assert!(text.contains(part), "{name} has no {part}");
    Mutants { scripts: [(name.to_owned(), text.replace(part, other))].into(), ..Mutants::default() }
}

/// Requests to DynamoDB with one part replaced.
fn request(part: &str, other: &str) -> Mutants {
    Mutants { requests: vec![(part.to_owned(), other.to_owned())], ..Mutants::default() }
}

/// The expiry function dies after the release. Another buyer has the unit when its message comes again.
async fn released_twice(world: &World) {
    let alice = world.buy("alice").await;
    assert_eq!(world.expire(&alice, at("EVALSHA release", After)).await, How::Died);
    world.buy("bob").await;
    world.expire(&alice, None).await;
}

async fn asked_twice(world: &World) {
    for key in ["first", "second"] {
        world.ask("alice", key, None).await.unwrap();
    }
}

/// A failover forgets an order.
async fn forgotten(world: &World) {
    world.lose_what(world.buy("alice")).await;
    world.reconcile().await;
}

fn pending(context: &Context, reservation: &Reservation) -> Order {
    let now = context.clock().now();
    Order::pending(reservation.clone(), terms(1, 1).price, now, now.plus_s(900))
}

async fn confirm(context: &Context, reservation: &Reservation) {
    context.stock().unwrap().round(&reservation.id.round).confirm(reservation).await.unwrap();
}

async fn release(context: &Context, reservation: &Reservation) {
    context.stock().unwrap().round(&reservation.id.round).release(reservation, None, true).await.unwrap();
}

async fn place(context: &Context, reservation: &Reservation) -> Order {
    match context.ledger().unwrap().place_within(pending(context, reservation), &[], false).await.unwrap() {
        Placed::Order(order) => order,
        other => panic!("{other:?}"),
    }
}

async fn send_expiry(context: &Context, order: &Order) {
    let message = ExpiryMessage::new(order.reservation.id.clone(), order.pay_by_ms.unwrap_or(EpochMs(0)));
    context.expiry_queue().unwrap().send(&message, context.clock().now()).await.unwrap();
}

/// The order is cancelled after its function has written it and before the function confirms it.
async fn confirmed_late(world: &World) {
    let alice = world.reserve("alice").await;
    let steps = async |context: &Context| {
        let order = place(context, &alice).await;
        world.cancel(&alice, None).await;
        confirm(context, &alice).await;
        send_expiry(context, &order).await;
    };
    world.steps(Function::Order, Some(&alice.id), steps).await;
}

async fn confirmed_first(world: &World) {
    let alice = world.reserve("alice").await;
    let steps = async |context: &Context| {
        if world.is_mutated {
            confirm(context, &alice).await;
        }
        let order = place(context, &alice).await;
        if !world.is_mutated {
            confirm(context, &alice).await;
        }
        send_expiry(context, &order).await;
    };
    world.steps(Function::Order, Some(&alice.id), steps).await;
}

async fn released_first(world: &World) {
    let alice = world.buy("alice").await;
    let steps = async |context: &Context| {
        let (ledger, now) = (context.ledger().unwrap(), context.clock().now());
        let order = ledger.order(&alice.id).await.unwrap().unwrap();
        if world.is_mutated {
            release(context, &alice).await;
        }
        ledger.end_unpaid(&order, Transition::Expire, now).await.unwrap();
        if !world.is_mutated {
            release(context, &alice).await;
        }
    };
    world.steps(Function::Expiry, Some(&alice.id), steps).await;
}

async fn cancelled_unfenced(world: &World) {
    let alice = world.reserve("alice").await;
    let steps = async |context: &Context| {
        if !world.is_mutated {
            let order = Order::cancelled(alice.clone(), context.clock().now());
            context.ledger().unwrap().fence(order).await.unwrap();
        }
        release(context, &alice).await;
    };
    world.steps(Function::Cancel, Some(&alice.id), steps).await;
    world.order(&alice, None).await;
}

async fn loaded_blindly(world: &World) {
    let alice = world.buy("alice").await;
    world.lose().await;
    let steps = async |context: &Context| {
        let (read, id) = (world.lab.round().await, &alice.id.round);
        let taken = context.ledger().unwrap().guards(id).await.unwrap();
        let taken = if world.is_mutated { Vec::new() } else { taken };
        let load = RoundLoad { version: read.version, epoch_ms: context.clock().now(), taken, ..unsold(read.terms) };
        assert!(context.stock().unwrap().round(id).load(&load).await.unwrap());
    };
    world.steps(Function::Reconciliation, None, steps).await;
}

/// 202 is answered before the queue has the message.
async fn answered_first(world: &World) {
    let (id, alice) = (ReservationId::derived(round(SALE, 1), &user("alice"), "key"), user("alice"));
    let steps = async |context: &Context| {
        let stock = context.stock().unwrap();
        let reserved = stock.round(&id.round).reserve(id.uuid, &alice, BuyerClass::EVERYONE).await.unwrap();
        let (Reserve::Reserved(reservation) | Reserve::Replayed(StoredReservation { reservation, .. })) = reserved
        else {
            panic!("{reserved:?}")
        };
        if !world.is_mutated {
            context.order_queue().unwrap().send(&OrderMessage::new(reservation, None)).await.unwrap();
        }
    };
    world.steps(Function::Reservation, None, steps).await;
}

/// The message is acknowledged, and then the process dies.
async fn acknowledged_first(world: &World) {
    let alice = world.reserve("alice").await;
    let steps = async |context: &Context| {
        if !world.is_mutated {
            let order = place(context, &alice).await;
            confirm(context, &alice).await;
            send_expiry(context, &order).await;
        }
    };
    world.steps(Function::Order, Some(&alice.id), steps).await;
}

/// The order is paid after its function has read it as PENDING and before the function ends it.
async fn expired_late(world: &World) {
    let alice = world.buy("alice").await;
    let steps = async |context: &Context| {
        let (ledger, now) = (context.ledger().unwrap(), context.clock().now());
        let order = ledger.order(&alice.id).await.unwrap().unwrap();
        world.pay(&alice).await;
        let ended = ledger.end_unpaid(&order, Transition::Expire, now).await.unwrap().unwrap();
        match ended.state {
            OrderState::Expired => release(context, &alice).await,
            _ => confirm(context, &alice).await,
        }
    };
    world.steps(Function::Expiry, Some(&alice.id), steps).await;
}

/// A failover forgets an order, and its unit is reserved again.
async fn sold_twice(world: &World) {
    world.lose_what(world.buy("alice")).await;
    let bob = world.reserve("bob").await;
    assert_eq!(world.order(&bob, at("SendMessage", Before)).await, How::Died);
    world.order(&bob, None).await;
}
