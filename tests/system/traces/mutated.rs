//! Runs with a fault in them. A fault in a script or a DynamoDB condition is added on the way: the proxy makes Redis
//! run another text, or changes the request. A fault in the order of a function's steps is a function here that makes
//! the same calls as the real one.

use context::Context;
use ledger::Placed;
use model::trace::{Function, How};
use queue::{ExpiryMessage, OrderMessage};
use sale::{BuyerClass, Claim, Entry, EpochMs, Order, OrderState, ReservationId, Transition};
use stock::{Reserve, RoundLoad};
use tests::When::{After, Before};
use tests::{Mutants, round, terms, user};

use super::right::Scenario;
use super::world::{LONG_S, World, at};
use crate::lab::SALE;

/// A run with a fault that the model must notice.
pub(super) struct Mutated {
    pub(super) scenario: Scenario,
    /// The fault in Redis or DynamoDB. Empty if the scenario itself goes wrong when told to.
    pub(super) mutants: fn() -> Mutants,
    /// The record that the model cannot explain.
    pub(super) rejected_at: &'static str,
}

pub(super) const MUTATED: &[Mutated] = &[
    Mutated {
        scenario: Scenario {
            name: "release-without-its-check",
            units: 1,
            limit: 1,
            run: |world| Box::pin(released_twice(world)),
        },
        mutants: || script("release", "at and state ~= 'r'", "at"),
        rejected_at: "Release { id: 0",
    },
    Mutated {
        scenario: Scenario {
            name: "reserve-without-the-limit",
            units: 2,
            limit: 1,
            run: |world| Box::pin(asked_twice(world)),
        },
        mutants: || script("reserve", "if #live >= per_user_limit then", "if false then"),
        rejected_at: "Reserve { id: 1",
    },
    Mutated {
        scenario: Scenario {
            name: "adopt-without-the-unit",
            units: 2,
            limit: 1,
            run: |world| Box::pin(forgotten(world)),
        },
        mutants: || script("adopt", "elseif unit >= next_unit then", "elseif false then"),
        rejected_at: "Adopt",
    },
    Mutated {
        scenario: Scenario {
            name: "confirm-of-what-is-released",
            units: 1,
            limit: 1,
            run: |world| Box::pin(confirmed_late(world)),
        },
        mutants: || script("confirm", "if state == 'r' then return 'already_released' end", ""),
        rejected_at: "Confirm { id: 0",
    },
    Mutated {
        scenario: Scenario {
            name: "confirm-before-the-write",
            units: 1,
            limit: 1,
            run: |world| Box::pin(confirmed_first(world)),
        },
        mutants: Mutants::default,
        rejected_at: "Confirm { id: 0",
    },
    Mutated {
        scenario: Scenario {
            name: "release-before-the-write",
            units: 1,
            limit: 1,
            run: |world| Box::pin(released_first(world)),
        },
        mutants: Mutants::default,
        rejected_at: "Release { id: 0",
    },
    Mutated {
        scenario: Scenario {
            name: "cancel-without-a-fence",
            units: 1,
            limit: 1,
            run: |world| Box::pin(cancelled_unfenced(world)),
        },
        mutants: Mutants::default,
        rejected_at: "Release { id: 0",
    },
    Mutated {
        scenario: Scenario {
            name: "load-without-the-ledger",
            units: 2,
            limit: 1,
            run: |world| Box::pin(loaded_blindly(world)),
        },
        mutants: Mutants::default,
        rejected_at: "Load",
    },
    Mutated {
        scenario: Scenario {
            name: "answer-before-the-message",
            units: 1,
            limit: 1,
            run: |world| Box::pin(answered_first(world)),
        },
        mutants: Mutants::default,
        rejected_at: "Ends { how: Done }",
    },
    Mutated {
        scenario: Scenario {
            name: "acknowledgement-before-the-order",
            units: 1,
            limit: 1,
            run: |world| Box::pin(acknowledged_first(world)),
        },
        mutants: Mutants::default,
        rejected_at: "Ends { how: Done }",
    },
    Mutated {
        scenario: Scenario {
            name: "expiry-of-what-is-paid",
            units: 1,
            limit: 1,
            run: |world| Box::pin(expired_late(world)),
        },
        mutants: || request("#state = :from AND pay_by_ms <= :now", "#state = :from OR pay_by_ms <= :now"),
        rejected_at: "End { id: 0",
    },
    Mutated {
        scenario: Scenario {
            name: "order-without-the-unit-guard",
            units: 2,
            limit: 1,
            run: |world| Box::pin(sold_twice(world)),
        },
        mutants: || request("\"attribute_not_exists(pk)\"", "\"attribute_not_exists(pk) OR attribute_exists(pk)\""),
        rejected_at: "Place",
    },
];

/// A script with one part replaced.
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
    world.warm_up().await;
    let alice = world.buy("alice").await;
    assert_eq!(world.expire(&alice, at("EVALSHA release", After)).await, How::Died);
    world.buy("bob").await;
    world.expire(&alice, None).await;
}

pub(super) async fn asked_twice(world: &World) {
    world.warm_up().await;
    for key in ["first", "second"] {
        world.ask("alice", key, None).await.unwrap();
    }
}

/// A failover forgets an order.
async fn forgotten(world: &World) {
    world.warm_up().await;
    world
        .lose_what(async {
            world.buy("alice").await;
        })
        .await;
    world.reconcile().await;
}

fn pending(context: &Context, claim: &Claim) -> Order {
    let now = context.clock().now();
    Order::pending(claim.clone(), terms(1, 1).price, now, now.plus_s(900))
}

async fn confirm(context: &Context, claim: &Claim) {
    context.stock().unwrap().round(&claim.id.round).confirm(claim).await.unwrap();
}

async fn release(context: &Context, claim: &Claim) {
    context.stock().unwrap().round(&claim.id.round).release(claim, None, true).await.unwrap();
}

async fn place(context: &Context, claim: &Claim) -> Order {
    match context.ledger().unwrap().place(pending(context, claim)).await.unwrap() {
        Placed::Order(order) => order,
        other => panic!("{other:?}"),
    }
}

async fn send_expiry(context: &Context, order: &Order) {
    let message = ExpiryMessage::new(order.claim.id.clone(), order.pay_by_ms.unwrap_or(EpochMs(0)));
    context.expiry_queue().unwrap().send(&message, context.clock().now()).await.unwrap();
}

/// The order is cancelled after its function has written it and before the function confirms it.
async fn confirmed_late(world: &World) {
    world.warm_up().await;
    let alice = world.reserve("alice").await;
    world
        .run(Function::Order, Some(&alice.id), None, 0, async |context: &Context| {
            let order = place(context, &alice).await;
            world.cancel(&alice, None).await;
            confirm(context, &alice).await;
            send_expiry(context, &order).await;
            How::Done
        })
        .await;
}

async fn confirmed_first(world: &World) {
    world.warm_up().await;
    let alice = world.reserve("alice").await;
    world
        .run(Function::Order, Some(&alice.id), None, 0, async |context: &Context| {
            if world.is_mutated {
                confirm(context, &alice).await;
            }
            let order = place(context, &alice).await;
            if !world.is_mutated {
                confirm(context, &alice).await;
            }
            send_expiry(context, &order).await;
            How::Done
        })
        .await;
}

async fn released_first(world: &World) {
    world.warm_up().await;
    let alice = world.buy("alice").await;
    world
        .run(Function::Expiry, Some(&alice.id), None, LONG_S, async |context: &Context| {
            let (ledger, now) = (context.ledger().unwrap(), context.clock().now());
            let order = ledger.order(&alice.id).await.unwrap().unwrap();
            if world.is_mutated {
                release(context, &alice).await;
            }
            ledger.end_unpaid(&order, Transition::Expire, now).await.unwrap();
            if !world.is_mutated {
                release(context, &alice).await;
            }
            How::Done
        })
        .await;
}

async fn cancelled_unfenced(world: &World) {
    world.warm_up().await;
    let alice = world.reserve("alice").await;
    world
        .run(Function::Cancel, Some(&alice.id), None, 0, async |context: &Context| {
            if !world.is_mutated {
                let order = Order::cancelled(alice.clone(), context.clock().now());
                context.ledger().unwrap().fence(order).await.unwrap();
            }
            release(context, &alice).await;
            How::Done
        })
        .await;
    world.order(&alice, None).await;
}

async fn loaded_blindly(world: &World) {
    world.warm_up().await;
    let alice = world.buy("alice").await;
    world.lose().await;
    world
        .run(Function::Reconciliation, None, None, 0, async |context: &Context| {
            let (read, id) = (world.lab.round().await, &alice.id.round);
            let taken = context.ledger().unwrap().guards(id).await.unwrap();
            let load = RoundLoad {
                terms: read.terms,
                paused: false,
                version: read.version,
                epoch_ms: context.clock().now(),
                taken: if world.is_mutated { Vec::new() } else { taken },
                denied: Vec::new(),
            };
            assert!(context.stock().unwrap().round(id).load(&load).await.unwrap());
            How::Done
        })
        .await;
}

/// 202 is answered before the queue has the message.
async fn answered_first(world: &World) {
    world.warm_up().await;
    let (id, alice) = (ReservationId::derived(round(SALE, 1), &user("alice"), "key"), user("alice"));
    world
        .run(Function::Reservation, None, None, 0, async |context: &Context| {
            let stock = context.stock().unwrap();
            let reserved = stock.round(&id.round).reserve(id.uuid, &alice, BuyerClass::EVERYONE).await.unwrap();
            let (Reserve::Reserved(claim) | Reserve::Replayed(Entry { claim, .. })) = reserved else {
                panic!("{reserved:?}")
            };
            if !world.is_mutated {
                context.order_queue().unwrap().send(&OrderMessage::new(claim, None)).await.unwrap();
            }
            How::Done
        })
        .await;
}

/// The message is acknowledged, and then the process dies.
async fn acknowledged_first(world: &World) {
    world.warm_up().await;
    let alice = world.reserve("alice").await;
    world
        .run(Function::Order, Some(&alice.id), None, 0, async |context: &Context| {
            if !world.is_mutated {
                let order = place(context, &alice).await;
                confirm(context, &alice).await;
                send_expiry(context, &order).await;
            }
            How::Done
        })
        .await;
}

/// The order is paid after its function has read it as PENDING and before the function ends it.
async fn expired_late(world: &World) {
    world.warm_up().await;
    let alice = world.buy("alice").await;
    world
        .run(Function::Expiry, Some(&alice.id), None, LONG_S, async |context: &Context| {
            let (ledger, now) = (context.ledger().unwrap(), context.clock().now());
            let order = ledger.order(&alice.id).await.unwrap().unwrap();
            world.pay(&alice).await;
            let ended = ledger.end_unpaid(&order, Transition::Expire, now).await.unwrap().unwrap();
            match ended.state {
                OrderState::Expired => release(context, &alice).await,
                _ => confirm(context, &alice).await,
            }
            How::Done
        })
        .await;
}

/// A failover forgets an order, and its unit is reserved again.
async fn sold_twice(world: &World) {
    world.warm_up().await;
    world
        .lose_what(async {
            world.buy("alice").await;
        })
        .await;
    let bob = world.reserve("bob").await;
    assert_eq!(world.order(&bob, at("SendMessage", Before)).await, How::Died);
    world.order(&bob, None).await;
}
