//! Runs with a fault in a script or a DynamoDB condition, which is added on the way: the proxy makes Redis run another
//! text, or changes the request. What a wrong order of steps looks like is tried in `tests/model/tests/traces.rs`.

use model::trace::{Function, How};
use tests::Mutants;
use tests::When::{After, Before};

use super::right::{Scenario, scenario};
use super::world::{World, at};
use crate::prelude::*;

/// A run with a fault that the model must notice.
pub(super) struct Mutated {
    pub(super) scenario: Scenario,
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

async fn confirm(context: &Context, reservation: &Reservation) {
    context.stock().unwrap().round(&reservation.id.round).confirm(reservation).await.unwrap();
}

/// The order is cancelled after its function has written it and before the function confirms it.
async fn confirmed_late(world: &World) {
    let alice = world.reserve("alice").await;
    let steps = async |context: &Context| {
        let now = context.clock().now();
        let pay_by = now.plus_s(900);
        let order = Order::pending(alice.clone(), terms(1, 1).price, now, pay_by);
        let placed = context.ledger().unwrap().place_within(order, &[], false).await.unwrap();
        assert!(matches!(placed, Placed::Order(_)), "{placed:?}");
        world.cancel(&alice, None).await;
        confirm(context, &alice).await;
        context.expiry_queue().unwrap().send(&ExpiryMessage::new(alice.id.clone(), pay_by), now).await.unwrap();
    };
    world.steps(Function::Order, &alice.id, steps).await;
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
            OrderState::Expired => {
                context.stock().unwrap().round(&alice.id.round).release(&alice, None, true).await.unwrap();
            }
            _ => confirm(context, &alice).await,
        }
    };
    world.steps(Function::Expiry, &alice.id, steps).await;
}

/// A failover forgets an order, and its unit is reserved again.
async fn sold_twice(world: &World) {
    world.lose_what(world.buy("alice")).await;
    let bob = world.reserve("bob").await;
    assert_eq!(world.order(&bob, at("SendMessage", Before)).await, How::Died);
    world.order(&bob, None).await;
}
