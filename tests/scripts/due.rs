use std::time::Duration;

use sale::{Lane, Reservation};
use tests::{TestRound, terms, user};

const LANE: Lane = Lane(0);
const AT_ONCE: Duration = Duration::ZERO;
const LONG: Duration = Duration::from_secs(3600);

async fn due(round: &TestRound, most: usize, wait: Duration) -> Vec<Reservation> {
    round.stock.due(&round.sale, round.round, LANE, most, wait).await.unwrap()
}

#[tokio::test]
async fn a_held_reservation_is_due_in_time_and_as_it_was_made() {
    let round = TestRound::start(terms(5, 1)).await;
    let alice = user("alice");
    let (id, hold) = round.buy(&alice).await;
    assert_eq!(due(&round, 10, LONG).await, []);
    let expected = Reservation {
        id,
        user: alice,
        lane: LANE,
        unit: hold.unit,
        slot: hold.slot,
        reserved_at_ms: hold.reserved_at_ms,
    };
    assert_eq!(due(&round, 10, AT_ONCE).await, [expected]);
}

#[tokio::test]
async fn a_claimed_reservation_is_not_due_for_as_long_again() {
    let round = TestRound::start(terms(5, 1)).await;
    let (id, hold) = round.buy(&user("alice")).await;
    // Due 50 ms after it was made: the clock passes that while the loop asks.
    let wait = Duration::from_millis(50);
    let first = loop {
        let claimed = due(&round, 10, wait).await;
        if !claimed.is_empty() {
            break claimed;
        }
    };
    assert_eq!((&first[0].id, first[0].unit), (&id, hold.unit));
    assert_eq!(due(&round, 10, wait).await, [], "claimed a moment ago");
    let second = loop {
        let claimed = due(&round, 10, wait).await;
        if !claimed.is_empty() {
            break claimed;
        }
    };
    assert_eq!(first, second);
}

#[tokio::test]
async fn what_is_ordered_or_released_is_dropped() {
    let round = TestRound::start(terms(5, 1)).await;
    for (name, confirm) in [("alice", true), ("bob", false)] {
        let (id, _) = round.buy(&user(name)).await;
        if confirm {
            round.stock.confirm(&id, LANE, &user(name)).await.unwrap();
        } else {
            round.stock.release(&id, LANE, &user(name), None, false).await.unwrap();
        }
    }
    let (id, _) = round.buy(&user("carol")).await;
    let claimed = due(&round, 10, AT_ONCE).await;
    assert_eq!(claimed.iter().map(|reservation| &reservation.id).collect::<Vec<_>>(), [&id]);
    assert_eq!(round.view().await.outbox, 1, "only who may still be sent is kept");
}

#[tokio::test]
async fn a_page_is_bounded_and_nobody_is_left_out() {
    let round = TestRound::start(terms(50, 1)).await;
    for number in 0..30 {
        round.buy(&user(number)).await;
    }
    let mut seen = std::collections::BTreeSet::new();
    for _ in 0..3 {
        let page = due(&round, 10, AT_ONCE).await;
        assert_eq!(page.len(), 10);
        seen.extend(page.into_iter().map(|reservation| reservation.user));
    }
    assert_eq!(seen.len(), 30);
}

#[tokio::test]
async fn each_of_several_reservations_of_one_user_is_due() {
    let round = TestRound::start(terms(9, 3)).await;
    let alice = user("alice");
    for _ in 0..3 {
        round.buy(&alice).await;
    }
    let slots: std::collections::BTreeSet<_> =
        due(&round, 1, AT_ONCE).await.into_iter().map(|reservation| reservation.slot.0).collect();
    assert_eq!(slots, [0, 1, 2].into());
}

#[tokio::test]
async fn claiming_keeps_the_expiry_of_the_key() {
    let round = TestRound::start(terms(5, 1)).await;
    round.buy(&user("alice")).await;
    due(&round, 10, AT_ONCE).await;
    let expires: i64 =
        redis::cmd("PEXPIRETIME").arg("outbox:{lamp:1:0}").query_async(&mut round.redis().await).await.unwrap();
    assert_eq!(expires, round.view().await.counters.expires_at_ms.0);
}
