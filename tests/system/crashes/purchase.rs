//! A purchase, up to its payment.

use super::flow::{Flow, flow, forget_what_was_sold, open, repeat};
use super::world::World;
use crate::prelude::*;

pub(super) const FLOWS: &[Flow] = &[
    flow!(
        "reserve",
        ["EVALSHA reserve", "SendMessage"],
        prepare = |lab| open(lab, terms(4, 1), &[], &[]),
        run = |_, world, _| world.ask(Ask::reserve(SALE, "alice")),
    ),
    flow!(
        "reserve with a key",
        ["EVALSHA reserve", "SendMessage"],
        prepare = |lab| open(lab, terms(4, 1), &[], &[]),
        run = |_, world, _| world.ask(reserve_with_key()),
        again = |lab, _| repeat(lab, reserve_with_key()),
        end = |lab, _| async { assert_eq!(lab.clean_audit().await, (3, 0, 1), "once") },
    ),
    flow!(
        "order",
        ["TransactWriteItems", "EVALSHA confirm", "SendMessage"],
        prepare = |lab| open(lab, terms(4, 1), &[], &["alice", "bob"]),
        run = |_, world, reserved| deliver(world, reserved),
        end = |lab, reserved| all_end_as(lab, reserved, OrderState::Pending),
    ),
    flow!(
        "order whose unit is another's",
        ["TransactWriteItems", "EVALSHA reseat", "SendMessage"],
        prepare = |lab| with_unit_sold_twice(lab),
        run = |_, world, reserved| deliver(world, reserved),
        end = |lab, reserved| async {
            all_end_as(lab, reserved, OrderState::Pending).await;
            assert_ne!(lab.order_of(&reserved[0]).await.reservation.unit, Unit(1), "unit 1 is alice's");
        },
    ),
    flow!(
        "cancel before the order",
        ["PutItem", "EVALSHA release"],
        prepare = |lab| open(lab, terms(4, 1), &[], &["alice"]),
        run = |_, world, reserved| world.ask(Ask::cancel(&reserved[0])),
        again = |lab, reserved| repeat(lab, Ask::cancel(&reserved[0])),
        end = |lab, reserved| all_end_as(lab, reserved, OrderState::Cancelled),
    ),
    flow!(
        "cancel after the order",
        ["TransactWriteItems", "EVALSHA release"],
        prepare = |lab| open(lab, terms(4, 1), &["alice"], &[]),
        run = |_, world, reserved| world.ask(Ask::cancel(&reserved[0])),
        again = |lab, reserved| repeat(lab, Ask::cancel(&reserved[0])),
        end = |lab, reserved| all_end_as(lab, reserved, OrderState::Cancelled),
    ),
    flow!(
        "expire",
        ["TransactWriteItems", "EVALSHA release"],
        prepare = |lab| open(lab, terms(4, 1), &["alice"], &[]),
        run = |_, world, reserved| async {
            expiry::handle(&world.start_in(LONG_S, expiry::ExpiryDeps::new), expiry_batch([&reserved[0]])).await;
        },
        again = |lab, reserved| expire(lab, &reserved[0]),
        end = |lab, reserved| all_end_as(lab, reserved, OrderState::Expired),
    ),
    flow!(
        "dead letter that becomes an order",
        ["GetItem", "TransactWriteItems", "EVALSHA confirm", "SendMessage"],
        prepare = |lab| open(lab, terms(4, 1), &[], &["alice"]),
        run = |_, world, reserved| deliver_dead_letter(world, reserved),
        again = |lab, reserved| deliver_dead_letter_again(lab, reserved),
        end = |lab, reserved| all_end_as(lab, reserved, OrderState::Pending),
    ),
    flow!(
        "dead letter that never can be an order",
        ["TransactWriteItems", "PutItem", "EVALSHA reseat"],
        prepare = |lab| with_nothing_left(lab),
        run = |_, world, reserved| deliver_dead_letter(world, reserved),
        again = |lab, reserved| deliver_dead_letter_again(lab, reserved),
        end = |lab, reserved| all_end_as(lab, reserved, OrderState::Failed),
    ),
];

/// Longer than any payment window here.
const LONG_S: i64 = 10_000;

pub(super) async fn deliver(world: &World, reserved: &[Reservation]) {
    order::handle(&world.start(order::OrderDeps::new), message_batch(reserved)).await;
}

async fn deliver_dead_letter(world: &World, reserved: &[Reservation]) {
    dead_letter::handle(&world.start(dead_letter::DeadLetterDeps::new), message_batch([&reserved[0]])).await;
}

/// In a process that does not die.
async fn deliver_dead_letter_again(lab: &Lab, reserved: &[Reservation]) {
    let delivered = dead_letter::handle(&lab.dead_letter(), message_batch([&reserved[0]])).await;
    assert!(delivered.batch_item_failures.is_empty());
}

fn reserve_with_key() -> Ask {
    Ask::reserve(SALE, "alice").header("idempotency-key", "key-1")
}

/// Delivers the order's expiry message after its payment window.
pub(super) async fn expire(lab: &Lab, reservation: &Reservation) {
    lab.expire(&[reservation], LONG_S).await;
}

pub(super) async fn all_end_as(lab: &Lab, reserved: &[Reservation], state: OrderState) {
    for reservation in reserved {
        assert_eq!(lab.order_of(reservation).await.state, state);
    }
}

/// Four orders that Redis forgot cover all units, and bob got one of these units.
async fn with_nothing_left(lab: &Lab) -> Vec<Reservation> {
    open(lab, terms(4, 1), &["alice", "carol", "dave", "erin"], &[]).await;
    forget_what_was_sold(lab).await;
    let bob = lab.reserve("bob").await;
    // Redis has the others' orders again, so no unit is left for bob.
    let _ = reconciliation::handle(&lab.reconciliation()).await;
    vec![bob]
}

/// Alice has an order on unit 1 that Redis forgot, and bob got the same unit.
async fn with_unit_sold_twice(lab: &Lab) -> Vec<Reservation> {
    open(lab, terms(4, 1), &["alice"], &[]).await;
    forget_what_was_sold(lab).await;
    let bob = lab.reserve("bob").await;
    assert_eq!(bob.unit, Unit(1));
    vec![bob]
}
