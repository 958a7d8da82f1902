//! Operators update a sale while it runs.

use stock::Counters;

use crate::prelude::*;

/// Has users buy until nothing is left. Returns how many could.
async fn sell_out(lab: &Lab, crowd: &str) -> u32 {
    lab.sell_returned().await;
    for sold in 0.. {
        let name = format!("{crowd}-{sold}");
        let answer = lab.answer(&Ask::reserve(SALE, &name)).await;
        if answer.status != 202 {
            answer.problem(409, "sold_out");
            return sold;
        }
        let reservation = lab.reservation_of(answer, &name).await;
        assert!(lab.deliver(&[&reservation]).await.batch_item_failures.is_empty());
    }
    unreachable!()
}

/// The round is loaded by then, and Redis was not told of the pause.
#[tokio::test]
async fn a_sale_that_is_paused_before_it_opens_opens_paused() {
    let lab = Lab::publishing(rounds::from_to(300, 3600, terms(3, 1))).await;
    assert_eq!(warmup::handle(&lab.warmup()).await.unwrap().loaded, 1);
    rounds::change(&lab.ledger, &round(SALE, 1), |round| round.paused = true).await;
    assert!(!lab.counters().await.paused);
    let summary = lab.reconcile().await;
    assert_eq!((summary.failed, summary.rebuilt), (0, 0), "{summary:?}");
    assert!(lab.counters().await.paused);
}

#[tokio::test]
async fn a_paused_sale_sells_nothing_until_it_is_resumed() {
    let lab = Lab::selling(terms(3, 1)).await;
    let alice = Ask::reserve(SALE, "alice").header("idempotency-key", "key-1");
    let reservation = lab.accepted(&alice, "alice").await;

    let pause = Ask::update("pause", json!({}));
    assert_eq!(lab.answer(&pause).await.expect(200).body["paused"], true);
    let refused = lab.answer(&Ask::reserve(SALE, "bob")).await.problem(503, "paused");
    assert_eq!(refused.header("retry-after"), "10");
    assert_eq!(lab.accepted(&alice, "alice").await, reservation, "her earlier reservation");
    assert!(lab.deliver(&[&reservation]).await.batch_item_failures.is_empty(), "what was sold is ordered");
    assert_eq!(lab.clean_audit().await, (2, 0, 1));

    assert_eq!(lab.update("resume", json!({})).await["paused"], false);
    assert_eq!(lab.answer(&pause).await.expect(200).body["paused"], false, "a late copy does not pause again");
    lab.buy("bob").await;
    assert_eq!(lab.clean_audit().await, (1, 0, 2));
}

#[tokio::test]
async fn a_closed_round_is_over() {
    let lab = Lab::selling(terms(3, 1)).await;
    let alice = Ask::reserve(SALE, "alice").header("idempotency-key", "key-1");
    let reservation = lab.accepted(&alice, "alice").await;
    let closed = lab.update("close", json!({})).await;
    lab.answer(&Ask::reserve(SALE, "bob")).await.problem(410, "closed");
    assert_eq!(lab.accepted(&alice, "alice").await, reservation, "her earlier reservation");
    assert_eq!(lab.update("close", json!({})).await["closes_at"], closed["closes_at"], "it keeps its end");
    lab.answer(&Ask::update("resume", json!({}))).await.problem(409, "not_amendable");
    lab.answer(&Ask::reserve(SALE, "bob")).await.problem(410, "closed");
}

#[tokio::test]
async fn drafts_are_not_updated() {
    let lab = Lab::new().await;
    rounds::draft(&lab.ledger, SALE, &terms(3, 1), None).await;
    let before = lab.offer().await;
    for what in ["pause", "resume", "close"] {
        lab.answer(&Ask::update(what, json!({}))).await.problem(409, "not_amendable");
    }
    lab.answer(&Ask::update("restock", json!({ "units": 1 }))).await.problem(409, "not_amendable");
    assert_eq!(lab.offer().await, before);
}

#[tokio::test]
async fn what_redis_does_not_hear_reconciliation_tells_it() {
    let lab = Lab::selling(terms(2, 1)).await;
    assert_eq!(sell_out(&lab, "early").await, 2);
    let stock = Stock::new("redis://127.0.0.1:1").unwrap();
    let deps = admin::AdminDeps { stock, ..lab.admin() };
    let answer = deps.answer(&Ask::update("restock", json!({ "units": 3 }))).await;
    assert_eq!(answer.expect(200).body["total"], 5);
    lab.answer(&Ask::reserve(SALE, "late")).await.problem(409, "sold_out");

    heal(&lab).await;
    assert_eq!(lab.audit().await.total, 5);
    assert_eq!(sell_out(&lab, "late").await, 3);
    assert_eq!(lab.clean_audit().await, (0, 0, 5));
}

#[tokio::test]
async fn a_round_that_redis_lost_comes_back_as_it_was_updated() {
    let lab = Lab::selling(terms(2, 1)).await;
    lab.buy("alice").await;
    lab.update("pause", json!({})).await;
    lab.update("restock", json!({ "units": 3 })).await;
    let earlier = lab.round().await.terms.closes_at_ms.0 - 600_000;
    rounds::change(&lab.ledger, &round(SALE, 1), |round| round.terms.closes_at_ms.0 = earlier).await;
    heal(&lab).await;
    let before = lab.counters().await;
    assert_eq!((before.paused, before.closes_at_ms.0, before.last_unit), (true, earlier, 5));

    lab.redis(&["FLUSHALL"]).await;
    let summary = lab.reconcile().await;
    assert_eq!((summary.rebuilt, summary.failed), (1, 0));
    let after = lab.counters().await;
    assert!(after.epoch_ms > before.epoch_ms, "the round was made again");
    let terms =
        |of: &Counters| (of.last_unit, of.paused, of.opens_at_ms, of.closes_at_ms, of.expires_at_ms, of.version);
    assert_eq!(terms(&after), terms(&before));
    lab.answer(&Ask::reserve(SALE, "bob")).await.problem(503, "paused");
    lab.update("resume", json!({})).await;
    assert_eq!(sell_out(&lab, "late").await, 4);
    assert_eq!(lab.clean_audit().await, (0, 0, 5));
}
