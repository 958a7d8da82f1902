//! A circuit breaker stops calls to a part that does not answer, and tries it again soon.

use stock::StockError;

use crate::prelude::*;

/// After this many calls without an answer the breaker is open.
const FAILURES: usize = 10;
/// As many come at one time. One of them may try the part, and on a slow machine one more each second.
const AT_ONCE: usize = 20;

/// Buyers who ask at once.
async fn crowd(lab: &Lab, deps: &reservation::ReservationDeps, who: &str, buyers: usize) -> Vec<Answer> {
    let asks: Vec<Ask> = (0..buyers).map(|n| Ask::reserve(SALE, &format!("{who}-{n}"))).collect();
    join_all(asks.iter().map(|ask| ask_function(&lab.recorder, deps, ask))).await
}

/// A busy machine may exceed a limit once or twice.
async fn sells_to(lab: &Lab, deps: &reservation::ReservationDeps, user: &str) {
    let ask = Ask::reserve(SALE, user).header("idempotency-key", "key-1");
    until("it sells", async || (ask_function(&lab.recorder, deps, &ask).await.status == 202).then_some(())).await;
}

#[tokio::test]
async fn a_silent_redis_is_not_waited_for_by_everybody() {
    let lab = Lab::selling(terms(50, 1)).await;
    let bought = lab.buy("alice").await;
    let parts = Parts::of(&lab).await;
    let deps = parts.start(reservation::ReservationDeps::new);
    sells_to(&lab, &deps, "bob").await;
    parts.redis.delay(Duration::MAX);
    for answer in crowd(&lab, &deps, "early", FAILURES).await {
        answer.problem(503, "overloaded");
    }

    for number in 0..3 {
        let answer = ask_function(&lab.recorder, &deps, &Ask::reserve(SALE, &format!("late-{number}"))).await;
        assert_eq!(answer.problem(503, "overloaded").header("retry-after"), "2");
    }
    let sale = round(SALE, 1);
    let of_round = parts.stock.round(&sale);
    let refused = join_all((0..AT_ONCE).map(|_| of_round.counters())).await;
    let not_asked = refused.iter().filter(|refused| matches!(refused, Err(StockError::Open(_)))).count();
    assert!(not_asked > AT_ONCE / 2, "{not_asked} of {AT_ONCE} did not wait for Redis: {refused:?}");
    // These need only the ledger.
    ask_function(&lab.recorder, &deps, &Ask::status(&bought)).await.expect(200);
    ask_function(&lab.recorder, &deps, &Ask::get("/v1/orders").by("alice")).await.expect(200);

    parts.redis.delay(Duration::ZERO);
    for user in ["carol", "dave"] {
        sells_to(&lab, &deps, user).await;
    }
    heal(&lab).await;
    lab.check_history("breaker_of_redis", &[SALE], Redis::Keeps).await;
}

#[tokio::test]
async fn a_silent_queue_is_not_waited_for_by_everybody() {
    let lab = Lab::selling(terms(50, 1)).await;
    let parts = Parts::of(&lab).await;
    let mut deps = parts.start(reservation::ReservationDeps::new);
    // Only the queue has limits: a late Redis has no unit for the buyer to keep.
    (deps.fulfilment.stock, deps.clock) = (lab.stock.clone(), PATIENT);
    sells_to(&lab, &deps, "bob").await;
    parts.aws.set(Service::Sqs, Conduct::Hangs);
    for answer in crowd(&lab, &deps, "early", FAILURES).await {
        answer.problem(503, "overloaded");
    }
    let before = parts.aws.unanswered();
    for answer in crowd(&lab, &deps, "late", AT_ONCE).await {
        let refused = answer.problem(503, "overloaded");
        assert!(refused.text("reservation_id").starts_with(SALE), "the buyer keeps the unit");
    }
    let asked = parts.aws.unanswered() - before;
    assert!(asked < AT_ONCE / 2, "{asked} of {AT_ONCE} asked the queue");
    heal(&lab).await;
    lab.check_history("breaker_of_the_queue", &[SALE], Redis::Keeps).await;
}
