use crate::prelude::*;

/// The round is loaded with version 1.
fn changed(round: &TestRound, version: u32, paused: bool, terms: Terms) -> Round {
    Round { version, paused, ..first_version(round.id.clone(), terms) }
}

/// Applies the change and returns the version in force.
async fn amend(round: &TestRound, changed: &Round) -> Option<u32> {
    round.stock().amend(changed).await.unwrap();
    round.stock().counters().await.unwrap().map(|counters| counters.version)
}

#[tokio::test]
async fn pause_and_resume() {
    let terms = terms(3, 1);
    let round = TestRound::start(terms.clone()).await;
    assert_eq!(amend(&round, &changed(&round, 2, true, terms.clone())).await, Some(2));
    assert_eq!(round.reserve(&user("alice")).await, Reserve::Paused);
    assert_eq!(amend(&round, &changed(&round, 3, false, terms.clone())).await, Some(3));
    round.buy(&user("alice")).await;
    // The pause arrives late.
    assert_eq!(amend(&round, &changed(&round, 2, true, terms)).await, Some(3));
    round.buy(&user("bob")).await;
}

#[tokio::test]
async fn more_units_while_selling_and_after_selling_out() {
    let mut terms = terms(2, 1);
    let round = TestRound::start(terms.clone()).await;
    round.buy(&user("alice")).await;
    round.buy(&user("bob")).await;
    assert!(matches!(round.reserve(&user("carol")).await, Reserve::SoldOut(_)));
    terms.total = 4;
    let more = changed(&round, 2, false, terms.clone());
    assert_eq!(amend(&round, &more).await, Some(2));
    let once = round.view().await.counters;
    assert_eq!(amend(&round, &more).await, Some(2));
    assert_eq!(round.view().await.counters, once);
    assert_eq!(round.buy(&user("carol")).await.unit, Unit(3));
    assert_eq!(round.view().await.counters.free(), 1);
    // The number of units never shrinks, since they may be sold.
    terms.total = 1;
    assert_eq!(amend(&round, &changed(&round, 3, false, terms)).await, Some(3));
    assert_eq!(round.view().await.counters.last_unit, 4);
}

#[tokio::test]
async fn an_earlier_end_and_its_expiry() {
    let mut terms = terms(2, 1);
    let round = TestRound::start(terms.clone()).await;
    let reservation = round.buy(&user("alice")).await;
    let before = round.view().await.counters;
    terms.closes_at_ms = EpochMs(terms.opens_at_ms.0 + 1);
    assert_eq!(amend(&round, &changed(&round, 2, false, terms)).await, Some(2));
    assert_eq!(round.reserve(&user("bob")).await, Reserve::Closed);
    assert!(matches!(round.reserve_as(&reservation.id, &user("alice")).await, Reserve::Replayed(_)));
    let after = round.view().await.counters;
    assert!(after.expires_at_ms < before.expires_at_ms);
    let mut redis = round.redis().await;
    let keys: Vec<String> = redis.keys("*").await.unwrap();
    for key in keys {
        let expires: i64 = redis::cmd("PEXPIRETIME").arg(&key).query_async(&mut redis).await.unwrap();
        assert_eq!(expires, after.expires_at_ms.0, "{key}");
    }
    assert_eq!((before.epoch_ms, before.per_user_limit), (after.epoch_ms, after.per_user_limit));
}

#[tokio::test]
async fn a_round_that_is_not_there_is_unknown() {
    let round = TestRound::start_empty();
    assert_eq!(amend(&round, &changed(&round, 2, true, terms(1, 1))).await, None);
}
