use crate::prelude::*;

#[tokio::test]
async fn a_round_can_be_taken_whole() {
    let round = TestRound::start_empty();
    round.load(terms(1200, 1), (1..=1200).map(|unit| round.fresh_reservation(&user(unit), unit, 0)).collect()).await;
    let view = round.view().await;
    assert_eq!((view.counters.free(), view.reservations.len()), (0, 1200));
    assert!(matches!(round.reserve(&user("late")).await, Reserve::SoldOut(_)));
}

/// A script stops everybody else: one for a hundred thousand gaps would do so for a tenth of a second.
#[tokio::test]
async fn no_call_of_a_load_grows_with_the_gaps() {
    let round = TestRound::start_empty();
    let mut redis = round.redis().await;
    for (setting, value) in [("slowlog-log-slower-than", 0), ("slowlog-max-len", 1000)] {
        let () = redis::cmd("CONFIG").arg("SET").arg(setting).arg(value).query_async(&mut redis).await.unwrap();
    }
    round.load(terms(6000, 1), (1..=3000).map(|nth| round.fresh_reservation(&user(nth), 2 * nth, 0)).collect()).await;
    let log: Vec<redis::Value> = redis::cmd("SLOWLOG").arg("GET").arg(-1).query_async(&mut redis).await.unwrap();
    // Each entry shows 32 arguments at most, and counts the others.
    let more = |entry: &redis::Value| {
        let text = format!("{entry:?}");
        let (before, _) = text.split_once(" more arguments)")?;
        before.rsplit_once('(')?.1.parse::<usize>().ok()
    };
    let most = log.iter().filter_map(more).max().unwrap();
    assert!(most < 1100, "{most} arguments more in one call");
    let view = round.view().await;
    assert_eq!((view.counters.returned, view.free.len()), (3000, 3000));
    assert_eq!(round.buy(&user("late")).await.unit, Unit(1));
}

#[tokio::test]
async fn loading_does_not_grow_with_the_stock() {
    let round = TestRound::start_empty();
    round.load(terms(10_000_000, 1), vec![round.fresh_reservation(&user("alice"), 10_000_000, 0)]).await;
    let view = round.view().await;
    assert_eq!((view.counters.free(), view.free), (9_999_999, vec![1..=9_999_999]));
    assert_eq!(round.buy(&user("bob")).await.unit, Unit(1));
    assert_eq!(round.view().await.free, [2..=9_999_999]);
}
