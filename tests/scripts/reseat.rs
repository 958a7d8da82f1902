use crate::prelude::*;

async fn reseat(round: &TestRound, reservation: &Reservation, refused: Refused) -> Reseated {
    round.stock().reseat(reservation, refused).await.unwrap()
}

#[tokio::test]
async fn a_reservation_gets_another_unit_once() {
    let (round, reservation) = alice_bought(5, 1).await;
    let moved = Reservation { unit: Unit(2), ..reservation.clone() };
    assert_eq!(reseat(&round, &reservation, Refused::Unit).await, Reseated::To(moved.clone()));
    assert_eq!(reseat(&round, &reservation, Refused::Unit).await, Reseated::To(moved.clone()));
    let view = round.view().await;
    assert_eq!(view.reservations, [held(&moved)]);
    assert_eq!(view.counters.free(), 3, "the unit of the other order is not handed out again");
}

#[tokio::test]
async fn a_returned_unit_comes_first() {
    let round = TestRound::start(terms(5, 1)).await;
    let first = round.buy(&user("bob")).await;
    let reservation = round.buy(&user("alice")).await;
    round.release(&first).await;
    let moved = Reservation { unit: Unit(1), ..reservation.clone() };
    assert_eq!(reseat(&round, &reservation, Refused::Unit).await, Reseated::To(moved));
    assert_eq!(round.view().await.counters.returned, 0);
}

#[tokio::test]
async fn without_a_unit_left_nothing_changes() {
    let (round, reservation) = alice_bought(1, 1).await;
    assert_eq!(reseat(&round, &reservation, Refused::Unit).await, Reseated::NoUnit);
    assert_eq!(round.view().await.reservations, [held(&reservation)]);
}

#[tokio::test]
async fn a_released_reservation_stays_released() {
    let (round, reservation) = alice_bought(3, 1).await;
    round.release(&reservation).await;
    assert_eq!(reseat(&round, &reservation, Refused::Unit).await, Reseated::AlreadyReleased);
    assert_eq!(round.view().await.counters.free(), 3);
}

#[tokio::test]
async fn a_reservation_that_redis_forgot_gets_its_slot_back() {
    let (round, other) = alice_bought(3, 2).await;
    let lost = Reservation { id: fresh_id(&round.id), slot: Slot(1), ..other.clone() };
    let answer = reseat(&round, &lost, Refused::Unit).await;
    let found = Reservation { unit: Unit(2), ..lost };
    assert_eq!(answer, Reseated::To(found.clone()));
    assert_eq!(round.view().await.reservations, [held(&other), held(&found)]);
}

#[tokio::test]
async fn a_slot_of_another_reservation_is_left_alone() {
    let (round, other) = alice_bought(3, 1).await;
    let lost = Reservation { id: fresh_id(&round.id), ..other.clone() };
    assert_eq!(reseat(&round, &lost, Refused::Unit).await, Reseated::LimitReached);
    assert_eq!(round.view().await.reservations, [held(&other)]);
}

#[tokio::test]
async fn a_round_that_is_not_there_is_unknown() {
    let (round, reservation) = alice_bought(3, 1).await;
    let chairs = tests::round("chair", 1);
    let elsewhere = Reservation { id: fresh_id(&chairs), ..reservation };
    assert_eq!(round.server.round(&chairs).reseat(&elsewhere, Refused::Unit).await.unwrap(), Reseated::UnknownSale);
}

#[tokio::test]
async fn its_own_reservation_counts_before_another_in_the_slot_that_the_message_names() {
    let round = TestRound::start(terms(5, 2)).await;
    let alice = user("alice");
    let first = round.buy(&alice).await;
    let reservation = round.buy(&alice).await;
    // The message is from before a failover, when Redis had given it slot 0.
    let message = Reservation { slot: first.slot, ..reservation.clone() };
    assert_eq!(reseat(&round, &message, Refused::Unit).await, Reseated::To(reservation.clone()));
    let moved = Reservation { unit: Unit(3), ..reservation.clone() };
    assert_eq!(reseat(&round, &reservation, Refused::Unit).await, Reseated::To(moved));
}

/// Redis was lost; since then the user and somebody else got its slot and its unit.
#[tokio::test]
async fn a_reservation_that_redis_forgot_gets_the_next_slot_below_the_limit() {
    let (round, other) = alice_bought(3, 2).await;
    let lost = Reservation { id: fresh_id(&round.id), ..other.clone() };
    let found = Reservation { unit: Unit(2), slot: Slot(1), ..lost.clone() };
    for _ in 0..2 {
        assert_eq!(reseat(&round, &lost, Refused::Unit).await, Reseated::To(found.clone()));
    }
    assert_eq!(round.view().await.reservations, [held(&other), held(&found)]);
    let third = Reservation { id: fresh_id(&round.id), ..other };
    assert_eq!(reseat(&round, &third, Refused::Unit).await, Reseated::LimitReached);
    assert_eq!(round.view().await.counters.free(), 1);
}

/// An order that Redis does not know has the slot.
#[tokio::test]
async fn a_reservation_whose_slot_is_taken_keeps_its_unit() {
    let (round, reservation) = alice_bought(3, 2).await;
    let moved = Reservation { slot: Slot(1), ..reservation.clone() };
    for _ in 0..2 {
        assert_eq!(reseat(&round, &reservation, Refused::Slot).await, Reseated::To(moved.clone()));
    }
    let view = round.view().await;
    assert_eq!((view.reservations, view.counters.free()), (vec![held(&moved)], 2));
    assert_eq!(reseat(&round, &moved, Refused::Slot).await, Reseated::To(reservation), "slot 0 is free in Redis");
}

/// Each call tries the next slot: with only the lowest one, it would swing between two that the ledger has.
#[tokio::test]
async fn every_slot_below_the_limit_is_tried() {
    let round = TestRound::start(terms(3, 3)).await;
    let mut reservation = round.buy(&user("alice")).await;
    let mut slots = vec![reservation.slot];
    for _ in 0..2 {
        let Reseated::To(moved) = reseat(&round, &reservation, Refused::Slot).await else { panic!("{slots:?}") };
        reservation = moved;
        slots.push(reservation.slot);
    }
    assert_eq!(slots, [Slot(0), Slot(1), Slot(2)]);
}
