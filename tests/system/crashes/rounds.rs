//! The next round of recurring sales.

use super::flow::{Flow, flow};
use super::purchase::{all_end_as, expire};
use crate::packets::{TOTAL_MINOR, packet, table_of};
use crate::prelude::*;

pub(super) const FLOWS: &[Flow] = &[flow!(
    "daily reset",
    ["Query", "BatchGetItem", "GetItem", "TransactWriteItems"],
    prepare = |lab| with_rounds_over(lab),
    run = |_, world, _| async {
        let _ = daily_reset::handle(&world.start(daily_reset::DailyResetDeps::new)).await;
    },
    again = |lab, _| async {
        assert_eq!(daily_reset::handle(&lab.daily_reset()).await.unwrap().failed, 0);
        let loaded = warmup::handle(&lab.warmup()).await.unwrap();
        assert_eq!((loaded.loaded, loaded.failed), (SALES.len(), 0));
    },
    end = |lab, reserved| next_rounds_began_once(lab, reserved),
)];

const PACKET: &str = "vase";
/// Two sales, so that a run can die between them.
const SALES: [&str; 2] = [SALE, PACKET];
/// Wider than a daylight saving change.
const HALF_S: i64 = 3 * 60 * 60;

/// Rounds of a day ago. In one of them alice has an order and bob's message is still on its way.
async fn with_rounds_over(lab: &Lab) -> Vec<Reservation> {
    let offered = [terms(4, 1), packet(4)].map(|terms| rounds::from_to(-HALF_S, HALF_S, terms));
    let daily = Recurrence::daily("Europe/Berlin").unwrap();
    for (sale, terms) in SALES.into_iter().zip(&offered) {
        rounds::draft(&lab.ledger, sale, terms, Some(&daily)).await;
        rounds::publish(&lab.ledger, sale).await;
    }
    lab.load(SALE).await;
    let reserved = vec![lab.buy("alice").await, lab.reserve("bob").await];
    for sale in SALES {
        rounds::pass_a_day(&lab.ledger, sale).await;
    }
    reserved
}

async fn next_rounds_began_once(lab: &Lab, reserved: &[Reservation]) {
    for sale in SALES.map(|sale| sale.parse().unwrap()) {
        let latest = lab.ledger.latest(&sale).await.unwrap().unwrap();
        // Versions: created, published, moved back a day, next round.
        assert_eq!((latest.offer.latest_round, latest.offer.version), (RoundNumber(2), 4));
        assert_eq!(latest.round.unwrap().version, 1);
    }
    all_end_as(lab, reserved, OrderState::Pending).await;
    expire(lab, &reserved[0]).await;
    let old = lab.ledger.round(&round(SALE, 1)).await.unwrap().unwrap();
    let old = lab.audited(&old).await.audit;
    assert!(old.is_clean(), "{old:?}");
    assert_eq!((old.free, old.held, old.ordered), (3, 0, 1));
    assert_eq!(lab.clean_audit().await, (4, 0, 0), "late messages of yesterday's round do not touch today's");
    adds_up(lab).await;
}

/// The packet's next round has a seed of its own, and its whole amount is unclaimed.
async fn adds_up(lab: &Lab) {
    let next = rounds::latest_round(&lab.ledger, &PACKET.parse().unwrap()).await;
    let first = table_of(lab, &round(PACKET, 1)).await;
    assert_ne!(table_of(lab, &next.id).await.values(), first.values());
    let audited = lab.audited(&next).await;
    let awarded = audited.awarded.expect("it has awards");
    assert!(audited.audit.is_clean() && awarded.is_exact(), "{awarded:?}");
    let amount = awarded.amount.expect("it is an amount");
    let total = i64::try_from(TOTAL_MINOR).unwrap();
    assert_eq!((awarded.orders, amount.total, amount.unclaimed), (0, total, total));
}
