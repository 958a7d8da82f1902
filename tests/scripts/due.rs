use std::time::Instant;

use crate::prelude::*;

const AT_ONCE: Duration = Duration::ZERO;

/// Claims the due reservations and marks them as sent.
async fn due(round: &TestRound, most: usize, wait: Duration) -> Vec<Reservation> {
    let due = round.stock().due(most, wait, None).await.unwrap();
    assert_eq!(round.stock().due(0, wait, Some(due.due_at_ms)).await.unwrap().reservations, []);
    due.reservations
}

#[tokio::test]
async fn a_claimed_reservation_is_not_due_for_as_long_again() {
    let (round, reservation) = alice_bought(5, 1).await;
    // Due 50 ms after it was made, which the loop waits for.
    let wait = Duration::from_millis(50);
    let (asked_at, first) = loop {
        let asked_at = Instant::now();
        let claimed = due(&round, 10, wait).await;
        if !claimed.is_empty() {
            break (asked_at, claimed);
        }
    };
    assert_eq!((&first[0].id, first[0].unit), (&reservation.id, reservation.unit));
    let second = loop {
        let claimed = due(&round, 10, wait).await;
        if !claimed.is_empty() {
            break claimed;
        }
    };
    // Redis counts whole milliseconds.
    assert!(asked_at.elapsed() + Duration::from_millis(1) >= wait, "claimed a moment ago");
    assert_eq!(first, second);
}

/// V's reservation is due even though U, who is first in the outbox, has an ordered one and a newer one.
#[tokio::test]
async fn a_younger_reservation_of_the_same_user_holds_nobody_up() {
    let round = TestRound::start(terms(9, 2)).await;
    let wait = Duration::from_millis(200);
    let (u, v) = (user("u"), user("v"));
    let first = round.buy(&u).await;
    let overdue = round.buy(&v).await;
    round.confirm(&first).await;
    while runtime::Clock::system().now().since_ms(overdue.reserved_at_ms) <= wait.as_millis() as u64 {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    round.buy(&u).await;
    let due = due(&round, 10, wait).await;
    assert!(due.iter().any(|reservation| reservation.id == overdue.id), "{due:?}");
}

/// The oldest reservation without an order is found wherever it is among the ordered ones.
#[tokio::test]
async fn the_oldest_is_who_still_waits() {
    const AT_A_TIME: usize = 50;
    let round = TestRound::start(terms(1200, 1)).await;
    let since = async || round.stock().held_since(usize::MAX).await.unwrap();
    let users: Vec<UserId> = (0..1001).map(|number| user(format!("user-{number}"))).collect();
    let mut reservations = Vec::new();
    for some in users.chunks(AT_A_TIME) {
        reservations.extend(join_all(some.iter().map(|user| round.buy(user))).await);
    }
    let ordered = reservations.iter().enumerate().filter(|(at, _)| *at != 150 && *at != 1000);
    let ordered: Vec<&Reservation> = ordered.map(|(_, reservation)| reservation).collect();
    for some in ordered.chunks(AT_A_TIME) {
        join_all(some.iter().map(|reservation| round.confirm(reservation))).await;
    }
    assert_eq!(since().await, Some(reservations[150].reserved_at_ms));
    round.confirm(&reservations[150]).await;
    assert_eq!(since().await, Some(reservations[1000].reserved_at_ms));
    round.confirm(&reservations[1000]).await;
    assert_eq!(since().await, None);
}

/// The user's element of the outbox, which must exist.
async fn element(round: &TestRound, name: &str) -> String {
    let outbox = redis::cmd("LRANGE").arg("outbox:{lamp:1:0}").arg(0).arg(-1).to_owned();
    let elements: Vec<String> = outbox.query_async(&mut round.redis().await).await.unwrap();
    elements.into_iter().find(|element| element.starts_with(name)).expect("an element of the user")
}

#[tokio::test]
async fn a_claim_is_taken_for_sent_once_all_of_its_look_is() {
    let round = TestRound::start(terms(9, 1)).await;
    let unsent = |at: stock::Due| format!(" 0{}", at.due_at_ms.0);
    let look = async |sent| round.stock().due(2, AT_ONCE, sent).await.unwrap();
    for name in ["alice", "bob"] {
        round.buy(&user(name)).await;
    }
    let first = look(None).await;
    assert_eq!(first.reservations.len(), 2);
    let sent = Some(first.due_at_ms);
    for name in ["alice", "bob"] {
        assert!(element(&round, name).await.ends_with(&unsent(first.clone())));
    }
    // Others arrive while the messages are being sent.
    round.buy(&user("carol")).await;
    round.stock().due(0, AT_ONCE, sent).await.unwrap();
    for name in ["alice", "bob"] {
        assert!(element(&round, name).await.ends_with(&format!(" {}", first.due_at_ms.0)));
    }
    assert_eq!(element(&round, "carol").await.split(' ').count(), 2, "carol was not part of the look");
    // Unsent reservations stay as long as they are held.
    let second = loop {
        let due = round.stock().due(3, AT_ONCE, None).await.unwrap();
        if due.due_at_ms > first.due_at_ms {
            break due;
        }
    };
    round.stock().due(0, AT_ONCE, sent).await.unwrap();
    assert!(element(&round, "alice").await.ends_with(&unsent(second)), "an earlier look says nothing of a later one");
}

/// In a long outage one copy a minute would become one dead letter a minute.
#[tokio::test]
async fn what_stays_held_is_sent_at_doubling_ages() {
    let (round, reservation) = alice_bought(5, 1).await;
    let wait = Duration::from_millis(10);
    let age_ms = || runtime::Clock::system().now().since_ms(reservation.reserved_at_ms);
    let (mut sent, mut asked) = (0, 0);
    while age_ms() < 700 || sent < 2 {
        sent += due(&round, 10, wait).await.len();
        asked += 1;
    }
    // At 10, 20, 40 ms and so on, if the loop asked then.
    let most = (age_ms() / 10).ilog2() as usize + 1;
    assert!((2..=most).contains(&sent), "{sent} times, and {most} at most, in {asked} questions");
    assert_eq!(round.view().await.outbox, 1);
}
