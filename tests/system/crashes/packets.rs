//! Rounds with awards: their seed, their table and their orders.

use runtime::Clock;
use sale::{Claim, EpochMs, OrderState, Recurrence, RoundNumber, Terms, Unit};

use super::flow::{Flow, nobody, repeat};
use super::purchase::{all_end_as, deliver, deliver_dead_letter, deliver_dead_letter_again};
use super::repairing::{load_as_if_nothing_was_sold, warm_up, warm_up_again};
use super::rounds::reset;
use super::steering::{ask, operate};
use crate::lab::{Lab, SALE};
use crate::packets::{packet, unclaimed};
use crate::rounds;

pub(super) const FLOWS: &[Flow] = &[
    Flow {
        name: "publish of a packet",
        effects: &["GetItem", "TransactWriteItems"],
        prepare: |lab| {
            Box::pin(async {
                rounds::draft(&lab.ledger, SALE, &packet(PARTS), None).await;
                Vec::new()
            })
        },
        run: |_, world, _| Box::pin(operate(world, ask("publish"))),
        again: |lab, _| Box::pin(repeat(lab, ask("publish"))),
        end: |lab, _| Box::pin(adds_up(lab)),
    },
    Flow {
        name: "warmup of a packet",
        effects: &["Query", "GetItem", "PutItem", "UpdateItem", "EVALSHA load"],
        prepare: |lab| {
            Box::pin(async {
                lab.publish(SALE, &packet(PARTS)).await;
                Vec::new()
            })
        },
        run: |_, world, _| Box::pin(warm_up(world)),
        again: |lab, _| Box::pin(warm_up_again(lab, 1)),
        end: |lab, _| Box::pin(adds_up(lab)),
    },
    Flow {
        name: "rebuild of a packet",
        effects: &["Query", "GetItem", "EVALSHA load"],
        prepare: |lab| {
            Box::pin(async {
                let reserved = with_two_reserved(lab).await;
                lab.buy("carol").await;
                lab.redis(&["FLUSHALL"]).await;
                reserved
            })
        },
        run: |_, world, _| Box::pin(warm_up(world)),
        again: |lab, _| Box::pin(warm_up_again(lab, 1)),
        end: |lab, _| Box::pin(adds_up(lab)),
    },
    Flow {
        name: "order of a packet",
        effects: &["GetItem", "TransactWriteItems", "EVALSHA confirm"],
        prepare: |lab| Box::pin(with_two_reserved(lab)),
        run: |_, world, reserved| Box::pin(deliver(world, reserved)),
        again: nobody,
        end: |lab, reserved| Box::pin(all_are_granted(lab, reserved)),
    },
    Flow {
        name: "order of a packet whose unit is another's",
        effects: &["GetItem", "TransactWriteItems", "EVALSHA reseat"],
        prepare: |lab| Box::pin(with_unit_given_twice(lab)),
        run: |_, world, reserved| Box::pin(deliver(world, reserved)),
        again: nobody,
        end: |lab, reserved| {
            Box::pin(async {
                all_are_granted(lab, reserved).await;
                assert_ne!(lab.order_of(&reserved[0]).await.claim.unit, Unit(1), "unit 1 is alice's");
            })
        },
    },
    Flow {
        name: "dead letter of a packet",
        effects: &["GetItem", "TransactWriteItems", "EVALSHA confirm"],
        prepare: |lab| Box::pin(with_two_reserved(lab)),
        run: |_, world, reserved| Box::pin(deliver_dead_letter(world, reserved)),
        again: |lab, reserved| Box::pin(deliver_dead_letter_again(lab, reserved)),
        end: |lab, reserved| Box::pin(all_are_granted(lab, reserved)),
    },
    Flow {
        name: "daily reset of a packet",
        effects: &["Query", "BatchGetItem", "GetItem", "TransactWriteItems"],
        prepare: |lab| Box::pin(with_round_over(lab)),
        run: |_, world, _| Box::pin(reset(world)),
        again: |lab, _| {
            Box::pin(async {
                assert_eq!(daily_reset::handle(&lab.daily_reset()).await.unwrap().failed, 0);
            })
        },
        end: |lab, _| {
            Box::pin(async {
                let second = lab.round().await;
                assert_eq!((second.id.number, second.version), (RoundNumber(2), 1));
                lab.load(SALE).await;
                lab.refresh_snapshots().await;
                adds_up(lab).await;
            })
        },
    },
];

const PARTS: u32 = 4;
/// Wider than a daylight saving change.
const HALF_MS: i64 = 3 * 60 * 60 * 1000;

/// Every order has its unit's award, and the unclaimed awards are the rest of the packet.
async fn adds_up(lab: &Lab) {
    lab.load(SALE).await;
    unclaimed(lab).await;
}

async fn all_are_granted(lab: &Lab, reserved: &[Claim]) {
    all_end_as(lab, reserved, OrderState::Granted).await;
    adds_up(lab).await;
}

async fn with_two_reserved(lab: &Lab) -> Vec<Claim> {
    lab.publish(SALE, &packet(PARTS)).await;
    lab.load(SALE).await;
    vec![lab.reserve("alice").await, lab.reserve("bob").await]
}

/// Alice has an order on unit 1 that Redis forgot, and bob got the same unit.
async fn with_unit_given_twice(lab: &Lab) -> Vec<Claim> {
    lab.publish(SALE, &packet(PARTS)).await;
    lab.load(SALE).await;
    lab.buy("alice").await;
    lab.redis(&["FLUSHALL"]).await;
    load_as_if_nothing_was_sold(lab).await;
    let bob = lab.reserve("bob").await;
    assert_eq!(bob.unit, Unit(1));
    vec![bob]
}

/// A daily packet whose round was a day ago.
async fn with_round_over(lab: &Lab) -> Vec<Claim> {
    let now = Clock::system().now().0;
    let (opens_at_ms, closes_at_ms) = (EpochMs(now - HALF_MS), EpochMs(now + HALF_MS));
    let terms = Terms { opens_at_ms, closes_at_ms, ..packet(PARTS) };
    rounds::draft(&lab.ledger, SALE, &terms, Some(&Recurrence::daily("Etc/UTC").unwrap())).await;
    rounds::publish(&lab.ledger, SALE).await;
    rounds::pass_a_day(&lab.ledger, SALE).await;
    Vec::new()
}
