use crate::prelude::*;

async fn restore(round: &TestRound, units: &[u32], counters: &stock::Counters) -> bool {
    let units: Vec<Unit> = units.iter().copied().map(Unit).collect();
    round.stock().restore(&units, counters).await.unwrap()
}

/// Units 1 and 2 are in no place.
async fn with_two_in_no_place() -> TestRound {
    let round = TestRound::start(terms(4, 1)).await;
    for (name, unit) in [("alice", 1), ("bob", 2)] {
        round.stock().release(&round.buy(&user(name)).await, Some(Unit(unit)), false).await.unwrap();
    }
    assert_eq!(round.view().await.counters.free(), 2);
    round
}

#[tokio::test]
async fn what_two_found_one_restores() {
    let round = with_two_in_no_place().await;
    let counters = round.view().await.counters;
    assert!(restore(&round, &[1, 2], &counters).await);
    assert_eq!(round.buy(&user("carol")).await.unit, Unit(1));
    assert!(!restore(&round, &[1, 2], &counters).await);
    assert_eq!(round.view().await.counters.free(), 3);
}

#[tokio::test]
async fn nothing_is_restored_once_a_unit_has_moved() {
    let round = with_two_in_no_place().await;
    let reservation = round.buy(&user("carol")).await;
    let counters = round.view().await.counters;
    round.release(&reservation).await;
    assert!(!restore(&round, &[1], &counters).await);
    let counters = round.view().await.counters;
    round.buy(&user("dave")).await;
    assert!(!restore(&round, &[1], &counters).await);
}

#[tokio::test]
async fn a_new_unit_may_be_sold_meanwhile() {
    let round = with_two_in_no_place().await;
    let counters = round.view().await.counters;
    assert_eq!(round.buy(&user("carol")).await.unit, Unit(3));
    assert!(restore(&round, &[1, 2], &counters).await);
    assert_eq!(round.view().await.counters.free(), 3);
}

#[tokio::test]
async fn what_was_never_handed_out_is_free_as_it_is() {
    let round = with_two_in_no_place().await;
    assert!(restore(&round, &[2, 3], &round.view().await.counters).await);
    let mut units: Vec<u32> = round.view().await.free.into_iter().flatten().collect();
    units.sort_unstable();
    assert_eq!(units, [2, 3, 4]);
}

/// A load restarts the count of moves.
#[tokio::test]
async fn nothing_is_restored_by_a_look_from_before_the_round_was_loaded() {
    let round = with_two_in_no_place().await;
    let counters = round.view().await.counters;
    let before = stock::Counters { epoch_ms: EpochMs(counters.epoch_ms.0 - 1), ..counters.clone() };
    assert!(!restore(&round, &[1, 2], &before).await);
    assert!(restore(&round, &[1, 2], &counters).await);
}

/// More units than one call of the script takes: every second one is a range of its own.
#[tokio::test]
async fn any_number_of_units_is_given_back() {
    const UNITS: u32 = 1010;
    let round = TestRound::start(terms(UNITS, 1)).await;
    let mut nowhere = Vec::new();
    for number in 0..UNITS {
        let reservation = round.buy(&user(number)).await;
        if number % 2 == 0 {
            round.stock().release(&reservation, Some(reservation.unit), false).await.unwrap();
            nowhere.push(reservation.unit.0);
        }
    }
    let counters = round.view().await.counters;
    assert!(restore(&round, &nowhere, &counters).await);
    assert!(!restore(&round, &nowhere, &counters).await);
    let view = round.view().await;
    assert_eq!(view.counters.free(), UNITS / 2);
    assert_eq!(view.free.into_iter().flatten().map(|unit| unit % 2).sum::<u32>(), UNITS / 2);
}

/// As after a failover, which may have undone other moves than those that came since.
#[tokio::test]
async fn what_is_free_is_not_restored_although_the_moves_are_as_many() {
    let round = with_two_in_no_place().await;
    assert!(restore(&round, &[1, 2], &round.view().await.counters).await);
    assert!(!restore(&round, &[2], &round.view().await.counters).await);
    assert_eq!(round.view().await.counters.free(), 4);
}
