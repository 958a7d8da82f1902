use stock::{Buyers, BuyersRead, WinsSeen};

use crate::prelude::*;

#[tokio::test]
async fn a_unit_that_is_its_own_is_returned_whatever_is_said_of_another() {
    let (round, reservation) = alice_bought(2, 1).await;
    assert_eq!(reservation.unit, Unit(1));
    round.stock().release(&reservation, Some(Unit(2)), false).await.unwrap();
    assert_eq!(round.view().await.counters.free(), 2);
}

#[tokio::test]
async fn what_comes_back_to_nothing_has_a_cooldown_and_is_then_sold() {
    let (round, reservation) = alice_bought(2, 1).await;
    round.release(&reservation).await;
    assert!(matches!(round.reserve(&user("bob")).await, Reserve::Reserved(_)), "another unit was free all the time");
    let reservation = round.buy(&user("carol")).await;
    let Reserve::SoldOut(told) = round.reserve(&user("dave")).await else { panic!("nothing is free") };
    assert_eq!(told.lasts, Duration::from_millis(stock::COOLDOWN_MS.into()));
    round.release(&reservation).await;
    let mut answers = Vec::new();
    let won = loop {
        match round.reserve(&user("dave")).await {
            Reserve::SoldOut(SoldOut { wins, lasts, .. }) => {
                assert_eq!(wins, WinsSeen::at(reservation.reserved_at_ms));
                answers.push(lasts);
            }
            Reserve::Reserved(reservation) => break reservation,
            other => panic!("{other:?}"),
        }
    };
    assert!(answers.is_sorted_by(|one, next| one >= next), "the cooldown ends at one moment: {answers:?}");
    assert!(won.reserved_at_ms >= round.view().await.counters.cooldown_until_ms);
}

#[tokio::test]
async fn what_failed_is_not_counted() {
    let round = TestRound::start(terms(9, 1)).await;
    let alice = user("alice");
    for _ in 0..10 {
        round.release(&round.buy(&alice).await).await;
    }
    round.buy(&alice).await;
}

/// It turns out that an expired order was paid. Redis may have forgotten everything about it but the count.
#[tokio::test]
async fn a_count_is_taken_back_once() {
    let mut terms = terms(9, 1);
    terms.door.unpaid_limit = 2;
    let round = TestRound::start(terms).await;
    let alice = user("alice");
    let release =
        async |reservation: &Reservation, unpaid| round.stock().release(reservation, None, unpaid).await.unwrap();
    let first = round.buy(&alice).await;
    release(&first, true).await;
    let second = round.buy(&alice).await;
    release(&second, true).await;
    assert_eq!(round.reserve(&alice).await, Reserve::TooManyUnpaid(2));
    for _ in 0..2 {
        release(&first, false).await;
    }
    let third = round.buy(&alice).await;
    release(&third, true).await;
    release(&first, false).await;
    assert_eq!(round.reserve(&alice).await, Reserve::TooManyUnpaid(2), "the second and the third");
    // A process that read the order before the payment may be late.
    for unpaid in [false, true] {
        release(&third, unpaid).await;
        release(&second, unpaid).await;
    }
    assert_eq!(round.view().await.counters.free(), 9);
    for _ in 0..2 {
        release(&round.buy(&alice).await, true).await;
    }
    assert_eq!(round.reserve(&alice).await, Reserve::TooManyUnpaid(2));
}

/// A late duplicate of a request may be reserved again under its old id, and is released once its order is found to have ended.
#[tokio::test]
async fn a_reservation_that_is_released_twice_is_counted_once() {
    let mut terms = terms(9, 1);
    terms.door.unpaid_limit = 3;
    let round = TestRound::start(terms).await;
    let alice = user("alice");
    let first = round.buy(&alice).await;
    round.stock().release(&first, None, true).await.unwrap();
    let second = round.buy(&alice).await;
    round.stock().release(&second, None, true).await.unwrap();
    for _ in 0..3 {
        round.sell_returned().await;
        let Reserve::Reserved(again) = round.reserve_as(&first.id, &alice).await else { panic!("not reserved again") };
        round.stock().release(&again, None, true).await.unwrap();
        let Reserve::Reserved(other) = round.reserve(&alice).await else { panic!("two have ended unpaid") };
        round.release(&other).await;
    }
}

/// The names are as of a win. A buyer who becomes known later counts as a later win.
#[tokio::test]
async fn the_buyers_of_a_round_that_is_sold_out() {
    let round = TestRound::start(terms(2, 1)).await;
    let buyers = async |most| round.stock().buyers(most).await.unwrap();
    round.buy(&user("alice")).await;
    assert!(matches!(buyers(10).await, BuyersRead::NotSoldOut));
    let reservation = round.buy(&user("bob")).await;
    let BuyersRead::All(Buyers { wins, mut names }) = buyers(10).await else { panic!("it is sold out") };
    names.sort();
    assert_eq!((wins, names), (WinsSeen::at(reservation.reserved_at_ms), vec!["alice".to_owned(), "bob".to_owned()]));
    assert!(matches!(buyers(1).await, BuyersRead::TooMany));

    let order =
        Reservation { reserved_at_ms: reservation.reserved_at_ms, ..round.fresh_reservation(&user("carol"), 2, 0) };
    round.stock().adopt(&order).await.unwrap();
    let BuyersRead::All(Buyers { wins: later, names }) = buyers(10).await else { panic!("it is sold out") };
    assert!(later != wins && names.contains(&"carol".to_owned()));
}
