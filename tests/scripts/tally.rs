use crate::prelude::*;

async fn tally(round: &TestRound, counts: &[(&'static str, u64)]) {
    round.stock().tally(&counts.iter().copied().collect()).await.unwrap();
}

#[tokio::test]
async fn counts_add_up_and_leave_with_the_round() {
    let round = TestRound::start(terms(1, 1)).await;
    tally(&round, &[("accepted", 1), ("sold_out", 1_000_000)]).await;
    tally(&round, &[("sold_out", 5), ("closed", 2)]).await;
    let answers = round.stock().answers().await.unwrap();
    let expected = [("accepted", 1), ("closed", 2), ("sold_out", 1_000_005)];
    assert_eq!(answers, BTreeMap::from(expected.map(|(code, count)| (code.to_owned(), count))));
    let mut redis = round.redis().await;
    let expires: [i64; 2] =
        [redis.expire_time("sale:{lamp:1:0}").await.unwrap(), redis.expire_time("answers:{lamp:1:0}").await.unwrap()];
    assert!(expires[0] > 0 && expires[0] == expires[1], "{expires:?}");
}

#[tokio::test]
async fn an_unknown_round_leaves_no_key() {
    let round = TestRound::start_empty();
    tally(&round, &[("sold_out", 1)]).await;
    assert_eq!(keys_like(&round, "*").await, [""; 0]);
}
