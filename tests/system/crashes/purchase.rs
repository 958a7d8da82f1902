//! A purchase, up to its payment.

use super::flow::{Flow, accepted, at_rest, four, load_as_if_nothing_was_sold, nobody, open, repeat};
use super::world::World;
use crate::prelude::*;

pub(super) const FLOWS: &[Flow] = &[
    Flow {
        name: "reserve",
        effects: &["EVALSHA reserve", "SendMessage"],
        prepare: |lab| Box::pin(open(lab, four(), &[], &[])),
        run: |_, world, _| Box::pin(ask(world, Ask::reserve(SALE, "alice"))),
        again: nobody,
        end: at_rest,
    },
    Flow {
        name: "reserve with a key",
        effects: &["EVALSHA reserve", "SendMessage"],
        prepare: |lab| Box::pin(open(lab, four(), &[], &[])),
        run: |_, world, _| Box::pin(ask(world, reserve_with_key())),
        again: |lab, _| Box::pin(accepted(lab, reserve_with_key())),
        end: |lab, _| Box::pin(async { assert_eq!(lab.clean_audit().await, (3, 0, 1), "once") }),
    },
    Flow {
        name: "order",
        effects: &["TransactWriteItems", "EVALSHA confirm", "SendMessage"],
        prepare: |lab| Box::pin(open(lab, four(), &[], &["alice", "bob"])),
        run: |_, world, reserved| Box::pin(deliver(world, reserved)),
        again: nobody,
        end: |lab, reserved| Box::pin(all_end_as(lab, reserved, OrderState::Pending)),
    },
    Flow {
        name: "order whose unit is another's",
        effects: &["TransactWriteItems", "EVALSHA reseat", "SendMessage"],
        prepare: |lab| Box::pin(with_unit_sold_twice(lab)),
        run: |_, world, reserved| Box::pin(deliver(world, reserved)),
        again: nobody,
        end: |lab, reserved| {
            Box::pin(async {
                all_end_as(lab, reserved, OrderState::Pending).await;
                assert_ne!(lab.order_of(&reserved[0]).await.reservation.unit, Unit(1), "unit 1 is alice's");
            })
        },
    },
    Flow {
        name: "cancel before the order",
        effects: &["PutItem", "EVALSHA release"],
        prepare: |lab| Box::pin(open(lab, four(), &[], &["alice"])),
        run: |_, world, reserved| Box::pin(ask(world, Ask::cancel(&reserved[0]))),
        again: |lab, reserved| Box::pin(repeat(lab, Ask::cancel(&reserved[0]))),
        end: |lab, reserved| Box::pin(all_end_as(lab, reserved, OrderState::Cancelled)),
    },
    Flow {
        name: "cancel after the order",
        effects: &["TransactWriteItems", "EVALSHA release"],
        prepare: |lab| Box::pin(open(lab, four(), &["alice"], &[])),
        run: |_, world, reserved| Box::pin(ask(world, Ask::cancel(&reserved[0]))),
        again: |lab, reserved| Box::pin(repeat(lab, Ask::cancel(&reserved[0]))),
        end: |lab, reserved| Box::pin(all_end_as(lab, reserved, OrderState::Cancelled)),
    },
    Flow {
        name: "expire",
        effects: &["TransactWriteItems", "EVALSHA release"],
        prepare: |lab| Box::pin(open(lab, four(), &["alice"], &[])),
        run: |_, world, reserved| {
            Box::pin(async {
                expiry::handle(&world.expiry_in(LONG_S), events::batch([expiry_message(&reserved[0])])).await;
            })
        },
        again: |lab, reserved| Box::pin(expire(lab, &reserved[0])),
        end: |lab, reserved| Box::pin(all_end_as(lab, reserved, OrderState::Expired)),
    },
    Flow {
        name: "dead letter that becomes an order",
        effects: &["GetItem", "TransactWriteItems", "EVALSHA confirm", "SendMessage"],
        prepare: |lab| Box::pin(open(lab, four(), &[], &["alice"])),
        run: |_, world, reserved| Box::pin(deliver_dead_letter(world, reserved)),
        again: |lab, reserved| Box::pin(deliver_dead_letter_again(lab, reserved)),
        end: |lab, reserved| Box::pin(all_end_as(lab, reserved, OrderState::Pending)),
    },
    Flow {
        name: "dead letter that never can be an order",
        effects: &["TransactWriteItems", "PutItem", "EVALSHA reseat"],
        prepare: |lab| Box::pin(with_nothing_left(lab)),
        run: |_, world, reserved| Box::pin(deliver_dead_letter(world, reserved)),
        again: |lab, reserved| Box::pin(deliver_dead_letter_again(lab, reserved)),
        end: |lab, reserved| Box::pin(all_end_as(lab, reserved, OrderState::Failed)),
    },
];

/// Longer than any payment window here.
const LONG_S: i64 = 10_000;

pub(super) async fn ask(world: &World, ask: Ask) {
    ask_reservation(&world.recorder, &world.start(reservation::ReservationDeps::new), &ask).await;
}

pub(super) async fn deliver(world: &World, reserved: &[Reservation]) {
    order::handle(&world.start(order::OrderDeps::new), message_batch(&reserved.iter().collect::<Vec<_>>())).await;
}

async fn deliver_dead_letter(world: &World, reserved: &[Reservation]) {
    dead_letter::handle(&world.start(dead_letter::DeadLetterDeps::new), message_batch(&[&reserved[0]])).await;
}

/// In a process that does not die.
async fn deliver_dead_letter_again(lab: &Lab, reserved: &[Reservation]) {
    let delivered = dead_letter::handle(&lab.dead_letter(), message_batch(&[&reserved[0]])).await;
    assert!(delivered.batch_item_failures.is_empty());
}

fn reserve_with_key() -> Ask {
    Ask::reserve(SALE, "alice").header("idempotency-key", "key-1")
}

fn expiry_message(reservation: &Reservation) -> String {
    ExpiryMessage::new(reservation.id.clone(), EpochMs(0)).to_body()
}

/// Delivers the order's expiry message after its payment window.
pub(super) async fn expire(lab: &Lab, reservation: &Reservation) {
    let delivered = expiry::handle(&lab.expiry_in(LONG_S), events::batch([expiry_message(reservation)])).await;
    assert!(delivered.batch_item_failures.is_empty());
}

pub(super) async fn all_end_as(lab: &Lab, reserved: &[Reservation], state: OrderState) {
    for reservation in reserved {
        assert_eq!(lab.order_of(reservation).await.state, state);
    }
}

/// Four orders that Redis forgot cover all units, and bob got one of these units.
async fn with_nothing_left(lab: &Lab) -> Vec<Reservation> {
    open(lab, four(), &["alice", "carol", "dave", "erin"], &[]).await;
    lab.redis(&["FLUSHALL"]).await;
    load_as_if_nothing_was_sold(lab).await;
    let bob = lab.reserve("bob").await;
    // Redis has the others' orders again, so no unit is left for bob.
    let _ = reconciliation::handle(&lab.reconciliation()).await;
    vec![bob]
}

/// Alice has an order on unit 1 that Redis forgot, and bob got the same unit.
async fn with_unit_sold_twice(lab: &Lab) -> Vec<Reservation> {
    open(lab, four(), &["alice"], &[]).await;
    lab.redis(&["FLUSHALL"]).await;
    load_as_if_nothing_was_sold(lab).await;
    let bob = lab.reserve("bob").await;
    assert_eq!(bob.unit, Unit(1));
    vec![bob]
}
