//! The next round of sales that come again.

use runtime::Clock;
use sale::{Claim, EpochMs, OrderState, Recurrence, RoundNumber, Terms};
use tests::{round, terms};

use super::flow::Flow;
use super::purchase::{all_end_as, expire};
use crate::lab::{Lab, SALE};

pub(super) const FLOWS: &[Flow] = &[Flow {
    name: "daily reset",
    effects: &["Query", "GetItem", "TransactWriteItems"],
    prepare: |lab| Box::pin(with_rounds_over(lab)),
    run: |_, world, _| {
        Box::pin(async {
            let _ = daily_reset::handle(&world.start(daily_reset::Deps::new)).await;
        })
    },
    again: |lab, _| Box::pin(reset_and_warm_up(lab)),
    end: |lab, reserved| Box::pin(next_rounds_began_once(lab, reserved)),
}];

/// Two sales, so that a run can die between them.
const SALES: [&str; 2] = [SALE, "vase"];
const DAY_MS: i64 = 24 * 60 * 60 * 1000;
/// Wider than clocks are put forward or back.
const HALF_MS: i64 = 3 * 60 * 60 * 1000;

/// Rounds that were a day ago, of one of which alice has an order and bob's message is still on its way.
async fn with_rounds_over(lab: &Lab) -> Vec<Claim> {
    let now = Clock::system().now().0;
    let (opens_at_ms, closes_at_ms) = (EpochMs(now - HALF_MS), EpochMs(now + HALF_MS));
    let terms = Terms { opens_at_ms, closes_at_ms, ..terms(4, 1) };
    let daily = Recurrence::daily("Europe/Berlin").unwrap();
    for sale in SALES.map(|sale| sale.parse().unwrap()) {
        lab.ledger.create_sale(&sale, &terms, Some(&daily)).await.unwrap();
        lab.ledger.publish_sale(&sale).await.unwrap();
    }
    lab.load(SALE).await;
    let reserved = vec![lab.buy("alice").await, lab.reserve("bob").await];
    for sale in SALES.map(|sale| sale.parse().unwrap()) {
        let passed = lab.ledger.amend_sale(&sale, "a day", |sale| {
            sale.terms.opens_at_ms.0 -= DAY_MS;
            sale.terms.closes_at_ms.0 -= DAY_MS;
            Ok::<_, ()>(())
        });
        passed.await.unwrap();
    }
    reserved
}

/// Both schedules come again.
async fn reset_and_warm_up(lab: &Lab) {
    let reset = lab.daily_reset();
    assert_eq!(daily_reset::handle(&reset).await.unwrap().failed, 0);
    let loaded = warmup::handle(&lab.warmup()).await.unwrap();
    assert_eq!((loaded.loaded, loaded.failed), (SALES.len(), 0));
}

async fn next_rounds_began_once(lab: &Lab, reserved: &[Claim]) {
    for sale in SALES.map(|sale| sale.parse().unwrap()) {
        let sale = lab.ledger.sale(&sale).await.unwrap().unwrap();
        // Created, published, a day passed, next round.
        assert_eq!((sale.round, sale.version), (RoundNumber(2), 4));
    }
    all_end_as(lab, reserved, OrderState::Pending).await;
    expire(lab, &reserved[0]).await;
    let now = Clock::system().now();
    let old = fulfilment::audit(&lab.stock, &lab.ledger, &lab.sale().await, &round(SALE, 1), now).await.unwrap().audit;
    assert!(old.is_clean(), "{old:?}");
    assert_eq!((old.free, old.held, old.ordered), (3, 0, 1));
    assert_eq!(lab.clean_audit().await, (4, 0, 0), "yesterday's stragglers leave today alone");
}
