//! Rounds with awards: their seed, their table and their orders.

use super::flow::{Flow, flow, nobody, open, repeat};
use super::purchase::{all_end_as, deliver};
use super::repairing::{warm_up, warm_up_again};
use super::updates::{PUBLISHED, ask, operate};
use crate::packets::{packet, unclaimed};
use crate::prelude::*;

pub(super) const FLOWS: &[Flow] = &[
    flow!(
        "publish of a packet",
        ["GetItem", "TransactWriteItems"],
        |lab| async {
            rounds::draft(&lab.ledger, SALE, &packet(PARTS), None).await;
            Vec::new()
        },
        |_, world, _| operate(world, ask("publish")),
        |lab, _| repeat(lab, ask("publish")),
        |lab, _| async {
            let (offer, round) = (lab.offer().await, lab.round().await);
            assert_eq!((offer.state, offer.version), (SaleState::Published, PUBLISHED));
            assert_eq!((round.version, round.terms), (1, offer.terms));
            adds_up(lab).await;
        },
    ),
    flow!(
        "warmup of a packet",
        ["Query", "GetItem", "PutItem", "UpdateItem", "EVALSHA load"],
        |lab| async {
            lab.publish(SALE, &packet(PARTS)).await;
            Vec::new()
        },
        |_, world, _| warm_up(world),
        |lab, _| warm_up_again(lab, 1),
        |lab, _| adds_up(lab),
    ),
    flow!(
        "order of a packet",
        ["GetItem", "TransactWriteItems", "EVALSHA confirm"],
        |lab| open(lab, packet(PARTS), &[], &["alice", "bob"]),
        |_, world, reserved| deliver(world, reserved),
        |_, _| nobody(),
        |lab, reserved| all_are_granted(lab, reserved),
    ),
];

const PARTS: u32 = 4;

/// Every order has its unit's award, and the unclaimed awards are the rest of the packet.
async fn adds_up(lab: &Lab) {
    lab.load(SALE).await;
    unclaimed(lab).await;
}

async fn all_are_granted(lab: &Lab, reserved: &[Reservation]) {
    all_end_as(lab, reserved, OrderState::Granted).await;
    adds_up(lab).await;
}
