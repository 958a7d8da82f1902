//! Repairs: warmup, reconciliation, and operators who redrive dead letters.

use messaging::queue;

use super::flow::{Flow, flow, forget_what_was_sold, open};
use super::purchase::all_end_as;
use super::world::World;
use crate::busy_sales::{answered, noted, throttles};
use crate::prelude::*;

pub(super) const FLOWS: &[Flow] = &[
    flow!(
        "reconciliation with everything to repair",
        ["Query", "GetItem", "SendMessage", "EVALSHA due", "EVALSHA adopt", "EVALSHA release", "EVALSHA restore"],
        prepare = |lab| with_everything_wrong(lab),
        run = |_, world, _| async {
            let _ = reconciliation::handle(&world.start(sending_at_once)).await;
        },
    ),
    flow!(
        "a busy sale that is limited",
        ["BatchGetItem", "GetItem", "PutItem"],
        prepare = |lab| async {
            let none = open(lab, terms(4, 1), &[], &[]).await;
            throttle_if_busy(&lab.reconciliation(), 0).await;
            answered(lab, "challenged", 1_000_000).await;
            none
        },
        run = |_, world, _| async { throttle_if_busy(&world.start(sending_at_once), 1).await },
        again = |lab, _| async { throttle_if_busy(&lab.reconciliation(), 1).await },
        end = |lab, _| async {
            assert_eq!((lab.round().await.throttle_requests_per_s, throttles(lab).await), (Some(LIMIT), 1));
            assert!(noted(lab).await.throttled);
            lab.throttle(None).await;
            lab.refresh_snapshots().await;
        },
    ),
    flow!(
        "rebuild",
        ["Query", "EVALSHA load"],
        prepare = |lab| async {
            let reserved = open(lab, terms(4, 1), &["alice"], &["bob"]).await;
            lab.redis(&["FLUSHALL"]).await;
            reserved
        },
        run = |_, world, _| warm_up(world),
        again = |lab, _| warm_up_again(lab, 1),
    ),
    flow!(
        "warmup",
        ["Query", "EVALSHA load"],
        prepare = |lab| async {
            lab.publish(SALE, &terms(4, 1)).await;
            lab.publish(SOON, &rounds::from_to(300, 3600, terms(4, 1))).await;
            Vec::new()
        },
        run = |_, world, _| warm_up(world),
        again = |lab, _| warm_up_again(lab, 2),
        end = |lab, _| async {
            let is_loaded = lab.stock.round(&round(SOON, 1)).is_loaded().await.unwrap();
            assert!(is_loaded, "a sale is loaded before it opens");
            assert_eq!(lab.clean_audit().await, (4, 0, 0));
        },
    ),
    flow!(
        "redrive",
        ["ReceiveMessage", "SendMessageBatch", "DeleteMessageBatch"],
        prepare = |lab| async {
            let reserved = open(lab, terms(4, 1), &[], &["alice", "bob"]).await;
            let moved = queue::redrive(&lab.sqs, lab.queue("orders"), lab.queue("orders_dlq")).await.unwrap();
            assert_eq!(moved.moved, 2);
            reserved
        },
        run = |_, world, _| world.ask(redrive()),
        again = |lab, _| redrive_until_nothing_is_left(lab),
        end = |lab, reserved| all_end_as(lab, reserved, OrderState::Pending),
    ),
];

const LIMIT: u32 = 50;

/// Runs reconciliation with its clock this many minutes ahead.
async fn throttle_if_busy(deps: &reconciliation::ReconciliationDeps, minute: i64) {
    let (clock, throttle_busy_to) = (Clock::ahead_by_ms(minute * 60_000), Some(LIMIT));
    let _ =
        reconciliation::handle(&reconciliation::ReconciliationDeps { clock, throttle_busy_to, ..deps.clone() }).await;
}

const SOON: &str = "vase";

pub(super) async fn warm_up(world: &World) {
    let _ = warmup::handle(&world.start(warmup::WarmupDeps::new)).await;
}

pub(super) async fn warm_up_again(lab: &Lab, rounds: usize) {
    lab.until_nobody_loads().await;
    let summary = warmup::handle(&lab.warmup()).await.unwrap();
    assert_eq!((summary.loaded + summary.present, summary.failed), (rounds, 0), "{summary:?}");
}

fn redrive() -> Ask {
    Ask::post("/v1/admin/redrive/orders").by_operator()
}

/// A message that the dead run had received is hidden until it comes back by itself.
async fn redrive_until_nothing_is_left(lab: &Lab) {
    while lab.depth("orders_dlq").await != [0, 0, 0] {
        lab.answer(&redrive()).await.expect(200);
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    let moved = lab.depth("orders").await[0];
    assert!(moved >= 2, "{moved} of 2 moved: reconciliation would send the rest again and hide the loss");
}

/// Redis has forgotten alice's order on unit 1, unit 2 is lost, bob's order ended only in the ledger, and carol's
/// reservation waits for its message.
async fn with_everything_wrong(lab: &Lab) -> Vec<Reservation> {
    open(lab, terms(4, 1), &["alice"], &[]).await;
    forget_what_was_sold(lab).await;
    lab.redis(&["SETRANGE", &format!("sale:{{{SALE}:1:0}}"), "0", "\0\0\0\u{3}"]).await;
    let bob = lab.buy("bob").await;
    let order = lab.order_of(&bob).await;
    lab.ledger.end_unpaid(&order, Transition::Cancel, now()).await.unwrap();
    lab.reserve("carol").await;
    Vec::new()
}
