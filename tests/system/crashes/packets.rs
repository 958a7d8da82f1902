//! Rounds with awards: their seed, their table and their orders.

use super::flow::{Flow, flow, open, repeat};
use super::purchase::{all_end_as, deliver};
use super::repairing::{warm_up, warm_up_again};
use super::updates::{PUBLISHED, ask};
use crate::packets::{packet, unclaimed};
use crate::prelude::*;

pub(super) const FLOWS: &[Flow] = &[
    flow!(
        "publish of a packet",
        ["GetItem", "TransactWriteItems"],
        prepare = |lab| async {
            rounds::draft(&lab.ledger, SALE, &packet(PARTS), None).await;
            Vec::new()
        },
        run = |_, world, _| world.ask(ask("publish")),
        again = |lab, _| repeat(lab, ask("publish")),
        end = |lab, _| async {
            let (offer, round) = (lab.offer().await, lab.round().await);
            assert_eq!((offer.state, offer.version), (SaleState::Published, PUBLISHED));
            assert_eq!((round.version, round.terms), (1, offer.terms));
            adds_up(lab).await;
        },
    ),
    flow!(
        "warmup of a packet",
        ["Query", "GetItem", "PutItem", "UpdateItem", "EVALSHA load"],
        prepare = |lab| async {
            lab.publish(SALE, &packet(PARTS)).await;
            Vec::new()
        },
        run = |_, world, _| warm_up(world),
        again = |lab, _| warm_up_again(lab, 1),
        end = |lab, _| adds_up(lab),
    ),
    flow!(
        "order of a packet",
        ["GetItem", "TransactWriteItems", "EVALSHA confirm"],
        prepare = |lab| open(lab, packet(PARTS), &[], &["alice", "bob"]),
        run = |_, world, reserved| deliver(world, reserved),
        end = |lab, reserved| async {
            all_end_as(lab, reserved, OrderState::Granted).await;
            adds_up(lab).await;
        },
    ),
];

const PARTS: u32 = 4;

/// Every order has its unit's award, and the unclaimed awards are the rest of the packet.
async fn adds_up(lab: &Lab) {
    lab.load(SALE).await;
    unclaimed(lab).await;
}
