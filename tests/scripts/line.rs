//! Tickets, and the movement of a line.

use stock::{Joined, Joining, LineMoved, LineStep};

use crate::prelude::*;

pub(crate) const HOUR_MS: i64 = 3_600_000;

/// A Redis without rounds, and the time of its clock.
async fn start() -> (TestRound, EpochMs) {
    let round = TestRound::start_empty();
    let now = round.stock().read_line().await.unwrap().now;
    (round, now)
}

/// A request to join the line of a sale that opens in `opens_in_ms`.
pub(crate) fn joining(user: &UserId, now: EpochMs, opens_in_ms: i64) -> Joining<'_> {
    Joining {
        user,
        tickets_from: EpochMs(now.0 + opens_in_ms - HOUR_MS),
        opens_at: EpochMs(now.0 + opens_in_ms),
        closes_at: EpochMs(now.0 + opens_in_ms + HOUR_MS),
        expires_at: EpochMs(now.0 + opens_in_ms + 2 * HOUR_MS),
        expected: Some(10_000),
    }
}

async fn join(round: &TestRound, joining: &Joining<'_>) -> Joined {
    round.stock().join_line(joining).await.unwrap()
}

pub(crate) fn step(before: Option<String>, late: Option<u64>, late_s: u64) -> LineStep {
    let (head, tail) = ("17 5".to_owned(), "1 2 3 4 5".to_owned());
    LineStep { before, head, tail, late, late_s, late_ppb: 0, late_most: None, expires_at: EpochMs(i64::MAX / 1000) }
}

/// Lets this many people come late, all in this second.
async fn came(round: &TestRound, second: u64, people: u64) {
    let mut redis = round.redis().await;
    for n in 0..people {
        let () = redis.zadd("arrivals:{lamp:1:line}", format!("{second}-{n}"), second).await.unwrap();
    }
}

/// Moves the line by a step and returns where it ends.
async fn moved_to(stock: RoundStock<'_>, step: &LineStep) -> (u64, u32) {
    let LineMoved::To(late_s, late_ppb) = stock.move_line(step).await.unwrap() else { panic!("no movement") };
    (late_s, late_ppb)
}

#[tokio::test]
async fn there_are_tickets_from_a_moment_until_the_sale_closes() {
    let ((round, now), alice) = (start().await, user("alice"));
    let early = joining(&alice, now, 2 * HOUR_MS);
    assert_eq!(join(&round, &early).await, Joined::NotOpen(early.tickets_from));
    assert_eq!(join(&round, &joining(&alice, now, -2 * HOUR_MS)).await, Joined::Closed);
    assert_eq!(keys_like(&round, "*").await, [""; 0], "a refused user leaves no keys");
}

#[tokio::test]
async fn early_ones_are_known_again_after_the_opening_and_late_ones_by_their_first_second() {
    let (round, at) = start().await;
    for number in 0..100 {
        assert_eq!(join(&round, &joining(&user(format_args!("early-{number}")), at, HOUR_MS / 2)).await, Joined::Early);
    }
    for number in 0..100 {
        let user = user(format_args!("early-{number}"));
        assert_eq!(join(&round, &joining(&user, at, -1000)).await, Joined::Early, "{user}");
    }
    let bob = user("bob");
    let Joined::Late(second) = join(&round, &joining(&bob, at, -1000)).await else { panic!("bob is late") };
    let look = round.stock().read_line().await.unwrap();
    assert!((at.0 / 1000..=look.now.0 / 1000).contains(&(second as i64)));
    let mut redis = round.redis().await;
    let () = redis.zadd("arrivals:{lamp:1:line}", "bob", second - 9).await.unwrap();
    assert_eq!(join(&round, &joining(&bob, at, -20_000)).await, Joined::Late(second - 9), "the first arrival counts");
    // Six standard errors of a HyperLogLog, which are 0.81 % each.
    assert!((95..=105).contains(&look.people), "{}", look.people);
    assert_eq!((look.late, look.late_admitted, look.progress), (1, 0, None));
    for key in ["people", "early", "arrivals"] {
        let expires: i64 = redis.expire_time(format!("{key}:{{lamp:1:line}}")).await.unwrap();
        assert!(expires > 0, "{key}");
    }
}

/// With 10 bits for each person, 7 of them set, 0.8 % are mistaken for early: 8 of 1,000. More than 30 would be seven standard deviations.
#[tokio::test]
async fn few_late_ones_are_taken_for_early_ones() {
    let (round, at) = start().await;
    let mut redis = round.redis().await;
    // Half of its bits, as once all expected people have come.
    let full: Vec<u8> = (0..12_500_u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    let () = redis.set("early:{lamp:1:line}", full).await.unwrap();
    let mut early = 0;
    for number in 0..1_000 {
        early += u32::from(join(&round, &joining(&user(number), at, -1000)).await == Joined::Early);
    }
    assert!((1..=30).contains(&early), "{early}");
}

#[tokio::test]
async fn a_line_is_moved_by_one_of_those_who_looked() {
    let round = TestRound::start_empty();
    let stock = round.stock();
    assert_eq!(stock.move_line(&step(None, None, 0)).await.unwrap(), LineMoved::To(0, 0));
    assert_eq!(stock.move_line(&step(None, None, 0)).await.unwrap(), LineMoved::Overtaken, "the line exists by now");
    let look = stock.read_line().await.unwrap();
    assert_eq!(look.progress.as_deref(), Some("17 5 0 0 1 2 3 4 5"));
    assert_eq!(stock.move_line(&step(look.progress.clone(), None, 7)).await.unwrap(), LineMoved::To(7, 0));
    let second = stock.move_line(&step(look.progress, None, 8)).await.unwrap();
    assert_eq!(second, LineMoved::Overtaken, "another step was quicker");
}

#[tokio::test]
async fn late_ones_are_admitted_by_their_seconds_and_part_of_a_second() {
    let (round, now) = start().await;
    let (stock, now_s) = (round.stock(), now.0 as u64 / 1000);
    came(&round, now_s - 100, 2).await;
    came(&round, now_s - 95, 4).await;
    came(&round, now_s + 1000, 3).await;
    let (mut late_s, mut late_ppb) = (0, 0);
    let mut moved = Vec::new();
    for more in [0, 1, 1, 1, 2, 1] {
        let before = stock.read_line().await.unwrap();
        let step = LineStep { late_ppb, ..step(before.progress, Some(more), late_s) };
        (late_s, late_ppb) = moved_to(stock, &step).await;
        moved.push((late_s as i64 - now_s as i64, late_ppb, stock.read_line().await.unwrap().late_admitted));
    }
    let last = moved.pop().unwrap();
    let expected = [(-100, 0, 0), (-100, 500_000_000, 1), (-95, 0, 2), (-95, 250_000_000, 3), (-95, 750_000_000, 5)];
    assert_eq!(moved, expected);
    assert!((0..60).contains(&last.0) && (last.1, last.2) == (0, 6), "up to now, since no one else waits: {last:?}");
}

/// For any numbers, a step by one person moves by one: the stored share of a second converts back to the same number of people.
#[tokio::test]
async fn no_number_of_late_ones_in_a_second_stops_the_line() {
    let (round, now) = start().await;
    let (stock, second) = (round.stock(), now.0 as u64 / 1000 - 100);
    let mut redis = round.redis().await;
    for count in [3, 6, 7, 9, 300] {
        let () = redis.del(&["arrivals:{lamp:1:line}", "line:{lamp:1:line}"]).await.unwrap();
        came(&round, second, count).await;
        let (mut late_s, mut late_ppb) = (0, 0);
        for admitted in 1..=count {
            let before = stock.read_line().await.unwrap();
            let step = LineStep { late_ppb, ..step(before.progress, Some(1), late_s) };
            (late_s, late_ppb) = moved_to(stock, &step).await;
            assert_eq!(stock.read_line().await.unwrap().late_admitted, admitted, "of {count}");
        }
    }
}

#[tokio::test]
async fn nobody_is_early_once_the_line_has_opened() {
    let (round, at) = start().await;
    let (alice, bob) = (user("alice"), user("bob"));
    assert_eq!(join(&round, &joining(&alice, at, HOUR_MS / 2)).await, Joined::Early);
    round.stock().move_line(&step(None, None, 0)).await.unwrap();
    assert_eq!(join(&round, &joining(&alice, at, HOUR_MS / 2)).await, Joined::Early);
    let late = join(&round, &joining(&bob, at, HOUR_MS / 2)).await;
    assert!(matches!(late, Joined::Late(second) if second >= at.0 as u64 / 1000), "{late:?}");
    assert_eq!(round.stock().read_line().await.unwrap().people, 1);
}

#[tokio::test]
async fn a_filter_is_large_enough_and_never_too_large() {
    let (round, at) = start().await;
    let mut redis = round.redis().await;
    let alice = user("alice");
    for (expected, bytes) in
        [(None, 1_250_000), (Some(1), 1_250_000), (Some(2_000_000), 2_500_000), (Some(100_000_000), 12_500_000)]
    {
        let () = redis.del("early:{lamp:1:line}").await.unwrap();
        assert_eq!(join(&round, &Joining { expected, ..joining(&alice, at, HOUR_MS / 2) }).await, Joined::Early);
        let length: usize = redis.strlen("early:{lamp:1:line}").await.unwrap();
        assert_eq!(length, bytes, "{expected:?}");
    }
}

/// A filter for two hundred people, which is soon full. Six hundred come.
#[tokio::test]
async fn a_filter_that_is_full_is_followed_by_another_one() {
    let (round, at) = start().await;
    let () = round.redis().await.setbit("early:{lamp:1:line}", 1_999, false).await.unwrap();
    let early: Vec<UserId> = (0..600).map(|number| user(format_args!("early-{number}"))).collect();
    for user in &early {
        assert_eq!(join(&round, &joining(user, at, HOUR_MS / 2)).await, Joined::Early);
    }
    for user in &early {
        assert_eq!(join(&round, &joining(user, at, -1000)).await, Joined::Early, "{user}");
    }
    let mut strangers = 0;
    for number in 0..200 {
        strangers += u32::from(join(&round, &joining(&user(number), at, -1000)).await == Joined::Early);
    }
    // 0.8 % would be 2. With only one filter it would be 40 %.
    assert!(strangers < 15, "{strangers}");
}

/// The sale should have opened but was not loaded, and its opening is postponed.
#[tokio::test]
async fn who_was_late_for_an_opening_that_was_put_off_is_early() {
    let (round, at) = start().await;
    let (bob, carol) = (user("bob"), user("carol"));
    for late in [&bob, &carol] {
        assert!(matches!(join(&round, &joining(late, at, -1000)).await, Joined::Late(_)));
    }
    assert_eq!(join(&round, &joining(&bob, at, HOUR_MS / 2)).await, Joined::Early);
    let look = round.stock().read_line().await.unwrap();
    assert_eq!((look.people, look.late), (1, 1), "a user who asks again counts as early");
    // Carol asks again only after the sale has opened at last.
    let put_off = joining(&carol, at, 0).opens_at;
    let second = put_off.0 / 1000 - 100;
    let () = round.redis().await.zadd("arrivals:{lamp:1:line}", "carol", second).await.unwrap();
    assert_eq!(join(&round, &joining(&carol, at, 0)).await, Joined::Early);
    assert_eq!(join(&round, &joining(&carol, at, -200_000)).await, Joined::Late(second as u64));
}

#[tokio::test]
async fn whoever_joins_keeps_the_line_for_as_long_as_the_sale_lasts_by_now() {
    let (round, at) = start().await;
    let mut redis = round.redis().await;
    let alice = user("alice");
    for longer_ms in [0, 50 * HOUR_MS, 20 * HOUR_MS] {
        let expires_at = EpochMs(joining(&alice, at, HOUR_MS / 2).expires_at.0 + longer_ms);
        let early = Joining { expires_at, ..joining(&alice, at, HOUR_MS / 2) };
        assert_eq!(join(&round, &early).await, Joined::Early);
        for name in [user("bob"), user(longer_ms)] {
            let late = Joining { expires_at, ..joining(&name, at, -1000) };
            assert!(matches!(join(&round, &late).await, Joined::Late(_)));
        }
        let longest = expires_at.0.max(at.0 + HOUR_MS / 2 + 2 * HOUR_MS + if longer_ms > 0 { 50 * HOUR_MS } else { 0 });
        for key in ["people", "early", "arrivals"] {
            let expires: i64 = redis.pexpire_time(format!("{key}:{{lamp:1:line}}")).await.unwrap();
            assert_eq!(expires, longest, "{key}");
        }
    }
}

#[tokio::test]
async fn whoever_looks_keeps_the_line_for_as_long_as_the_sale_lasts_by_now() {
    let (round, at) = start().await;
    let stock = round.stock();
    let mut redis = round.redis().await;
    let () = redis.setbit("early:{lamp:1:line}", 9, false).await.unwrap();
    // The second person starts another filter.
    for name in ["alice", "bob", "carol"] {
        assert_eq!(join(&round, &joining(&user(name), at, HOUR_MS / 2)).await, Joined::Early);
    }
    assert!(matches!(join(&round, &joining(&user("dave"), at, -1000)).await, Joined::Late(_)));
    let step = LineStep { expires_at: EpochMs(at.0 + HOUR_MS), ..step(None, None, 0) };
    assert_eq!(stock.move_line(&step).await.unwrap(), LineMoved::To(0, 0));
    for (until_ms, kept_ms) in [(90 * HOUR_MS, 90 * HOUR_MS), (HOUR_MS, 90 * HOUR_MS)] {
        stock.read_line_and_keep(EpochMs(at.0 + until_ms)).await.unwrap();
        for key in ["line", "people", "early", "early_more", "arrivals"] {
            let expires: i64 = redis.pexpire_time(format!("{key}:{{lamp:1:line}}")).await.unwrap();
            assert_eq!(expires, at.0 + kept_ms, "{key}");
        }
    }
}

#[tokio::test]
async fn it_does_not_go_beyond_what_it_may() {
    let (round, now) = start().await;
    let (stock, second) = (round.stock(), now.0 as u64 / 1000 - 100);
    came(&round, second, 4).await;
    let step = |late_most| LineStep { late_most: Some(late_most), ..step(None, Some(1), 0) };
    for most in [(0, 0), (second - 1, 999_999_999), (second, 249_999_999)] {
        assert_eq!(stock.move_line(&step(most)).await.unwrap(), LineMoved::Beyond(second, 250_000_000));
        assert_eq!(stock.read_line().await.unwrap().progress, None);
    }
    assert_eq!(stock.move_line(&step((second, 250_000_000))).await.unwrap(), LineMoved::To(second, 250_000_000));
}
