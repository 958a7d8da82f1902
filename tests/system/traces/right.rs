//! Runs of the functions as they are.

use model::trace::How;
use tests::When::{After, Before};

use super::world::{LONG_S, RECEIVES, World, at};
use crate::prelude::*;

pub(super) struct Scenario {
    pub(super) name: &'static str,
    pub(super) units: u8,
    pub(super) limit: u8,
    pub(super) run: for<'a> fn(&'a World) -> BoxFuture<'a, ()>,
}

/// `scenario!(name, units, limit, function)`: `function(world)` is run, once the round is loaded.
macro_rules! scenario {
    ($name:literal, $units:literal, $limit:literal, $run:ident $(, $nth:literal)?) => {
        $crate::traces::right::Scenario {
            name: $name,
            units: $units,
            limit: $limit,
            run: |world| Box::pin($run(world $(, $nth)?)),
        }
    };
}
pub(super) use scenario;

pub(super) const RIGHT: &[Scenario] = &[
    scenario!("a-round", 2, 1, a_round),
    scenario!("crashes-1", 1, 1, crashes, 0),
    scenario!("crashes-2", 1, 1, crashes, 1),
    scenario!("crashes-3", 1, 1, crashes, 2),
    scenario!("two-keys", 2, 2, two_keys),
    scenario!("three-consumers", 1, 1, three_consumers),
    scenario!("pay-or-expire", 2, 1, pay_or_expire),
    scenario!("cancel-or-order", 2, 1, cancel_or_order),
    scenario!("release-or-confirm", 1, 1, release_or_confirm),
    scenario!("the-last-unit", 1, 1, the_last_unit),
    scenario!("all-lost", 2, 1, all_lost),
    scenario!("returned-and-lost", 2, 1, returned_and_lost),
    scenario!("failover", 2, 1, failover),
    scenario!("forgotten-order", 2, 1, forgotten_order),
    scenario!("outbox", 1, 1, outbox),
    scenario!("dead-letter", 1, 1, dead_letter),
    scenario!("overdue", 1, 1, overdue),
];

/// Two are paid, one too late; one cancels; one is refused at first.
async fn a_round(world: &World) {
    let (alice, bob) = (world.reserve("alice").await, world.reserve("bob").await);
    world.ask("carol", "key", None).await.unwrap().problem(409, "sold_out");
    world.order(&alice, None).await;
    world.order(&bob, None).await;
    world.pay(&alice).await;
    world.pay(&alice).await;
    world.cancel(&alice, None).await.unwrap().problem(409, "not_cancellable");
    world.cancel(&bob, None).await.unwrap().expect(200);
    let carol = world.buy("carol").await;
    world.expire(&alice, None).await;
    world.expire(&bob, None).await;
    world.expire(&carol, None).await;
    assert_eq!(world.pay(&carol).await.text("outcome"), "refund_due");
    world.ask("bob", "key", None).await.unwrap().expect(202);
    world.reconcile().await;
}

/// Each function dies at its effects, and runs again.
async fn crashes(world: &World, nth: usize) {
    let place = "TransactWriteItems";
    let reserve = [("EVALSHA reserve", After), ("SendMessage", Before), ("SendMessage", After)][nth];
    let order = [
        [(place, Before), (place, After)],
        [("EVALSHA confirm", Before), ("EVALSHA confirm", After)],
        [("SendMessage", Before), ("SendMessage", After)],
    ][nth];
    let expire = [("EVALSHA release", Before), ("EVALSHA release", After), (place, After)][nth];
    let cancel = [("EVALSHA release", After), (place, After), (place, Before)][nth];
    assert!(world.ask("alice", "key", at(reserve.0, reserve.1)).await.is_none());
    world.ask("alice", "key", None).await.unwrap().expect(202);
    let alice = world.reservation("alice").await;
    for (kind, when) in order {
        assert_eq!(world.order(&alice, at(kind, when)).await, How::Died);
    }
    assert_eq!(world.order(&alice, None).await, How::Done);
    assert_eq!(world.expire(&alice, at(expire.0, expire.1)).await, How::Died);
    assert_eq!(world.expire(&alice, None).await, How::Done);

    let bob = world.buy("bob").await;
    assert!(world.cancel(&bob, at(cancel.0, cancel.1)).await.is_none());
    world.cancel(&bob, None).await.unwrap().expect(200);
}

async fn two_keys(world: &World) {
    let ask = async |key| world.ask("alice", key, None).await.unwrap();
    let (first, second) = futures::join!(ask("first"), ask("second"));
    ask("third").await.problem(409, "limit_reached");
    let mut reservations = Vec::new();
    for answer in [first, second] {
        reservations.push(world.lab.reservation_of(answer, "alice").await);
    }
    futures::join!(world.order(&reservations[0], None), world.order(&reservations[1], None));
    world.cancel(&reservations[0], None).await.unwrap().expect(200);
    world.lab.sell_returned().await;
    ask("third").await.expect(202);
}

/// The same message goes to three consumers at once.
async fn three_consumers(world: &World) {
    let alice = world.reserve("alice").await;
    let order = || world.order(&alice, None);
    assert_eq!(futures::join!(order(), order(), order()), (How::Done, How::Done, How::Done));
    let expire = || world.expire(&alice, None);
    futures::join!(expire(), expire());
    world.buy("bob").await;
}

async fn pay_or_expire(world: &World) {
    let (alice, bob) = (world.buy("alice").await, world.buy("bob").await);
    futures::join!(world.pay(&alice), world.expire(&alice, None), world.expire(&bob, None), world.pay(&bob));
}

/// A buyer cancels before there is an order, and while it is made.
async fn cancel_or_order(world: &World) {
    let alice = world.reserve("alice").await;
    world.cancel(&alice, None).await.unwrap().expect(200);
    world.order(&alice, None).await;
    let bob = world.reserve("bob").await;
    let (made, answer) = futures::join!(world.order(&bob, None), world.cancel(&bob, None));
    assert_eq!(made, How::Done);
    answer.unwrap().expect(200);
    assert_eq!(world.lab.order_of(&bob).await.state, OrderState::Cancelled);
}

/// An order is confirmed by a function that read it as PENDING while it is cancelled.
async fn release_or_confirm(world: &World) {
    let alice = world.reserve("alice").await;
    assert_eq!(world.order(&alice, at("EVALSHA confirm", Before)).await, How::Died);
    let (_, answer) = futures::join!(world.order(&alice, None), world.cancel(&alice, None));
    answer.unwrap().expect(200);
    assert_eq!(world.lab.order_of(&alice).await.state, OrderState::Cancelled);
    world.buy("bob").await;
}

async fn the_last_unit(world: &World) {
    let ask = |name| world.ask(name, "key", None);
    let (alice, bob) = futures::join!(ask("alice"), ask("bob"));
    let won = [alice, bob].into_iter().filter(|answer| answer.as_ref().unwrap().status == 202).count();
    assert_eq!(won, 1);
}

/// Redis loses all keys, two functions restore them at once, and the held unit is sold to another buyer.
async fn all_lost(world: &World) {
    let alice = world.buy("alice").await;
    let bob = world.reserve("bob").await;
    world.lose().await;
    world.ask("carol", "key", None).await.unwrap().problem(503, "overloaded");
    futures::join!(world.warm_up(), world.reconcile(), world.pay(&alice));
    let carol = world.buy("carol").await;
    assert_eq!(carol.unit, bob.unit);
    assert_eq!(world.order(&bob, None).await, How::Done);
    assert_eq!(world.lab.order_of(&bob).await.state, OrderState::Failed);
    world.expire(&carol, None).await;
    world.reconcile().await;
}

/// Redis loses all keys while a unit is returned, and is loaded with it.
async fn returned_and_lost(world: &World) {
    let alice = world.buy("alice").await;
    world.buy("bob").await;
    world.cancel(&alice, None).await.unwrap().expect(200);
    world.lose().await;
    world.warm_up().await;
    assert_eq!(world.buy("carol").await.unit, alice.unit);
}

/// A failover forgets an order, and its unit is sold again. Then the unit that is in no place is restored.
async fn failover(world: &World) {
    world.lose_what(world.buy("alice")).await;
    let alice = world.lab.ledger.guards(&tests::round("lamp", 1)).await.unwrap().remove(0);
    let bob = world.reserve("bob").await;
    assert_eq!(bob.unit, alice.unit);
    world.order(&bob, None).await;
    assert_ne!(world.lab.order_of(&bob).await.reservation.unit, alice.unit);
    // Redis does not know alice's order, and its unit is in no place.
    world.expire(&alice, None).await;
    assert!(world.lab.free().await.is_empty());
    world.reconcile().await;
    assert_eq!(world.lab.free().await, [alice.unit]);
    world.buy("carol").await;
}

/// A failover forgets an order, and reconciliation tells Redis of it. Another failover forgets how an order ended.
async fn forgotten_order(world: &World) {
    world.lose_what(world.buy("alice")).await;
    world.reconcile().await;
    let bob = world.buy("bob").await;
    world.lose_what(world.cancel(&bob, None)).await;
    world.reconcile().await;
    world.buy("carol").await;
}

/// The function dies before it sends, and its client does not retry.
async fn outbox(world: &World) {
    assert!(world.ask("alice", "key", at("SendMessage", Before)).await.is_none());
    let alice = world.reservation("alice").await;
    world.reconcile().await;
    assert_eq!(world.order(&alice, None).await, How::Done);
}

async fn dead_letter(world: &World) {
    let alice = world.reserve("alice").await;
    for _ in 0..RECEIVES {
        assert_eq!(world.order(&alice, at("TransactWriteItems", Before)).await, How::Died);
    }
    assert_eq!(world.dead_letter(&alice, at("EVALSHA confirm", Before)).await, How::Died);
    assert_eq!(world.dead_letter(&alice, None).await, How::Done);
}

/// The message that would expire the order is lost.
async fn overdue(world: &World) {
    let alice = world.buy("alice").await;
    for _ in 0..RECEIVES {
        assert_eq!(world.expire(&alice, at("GetItem", Before)).await, How::Died);
    }
    world.reconcile_in(LONG_S).await;
    assert_eq!(world.lab.order_of(&alice).await.state, OrderState::Expired);
}
