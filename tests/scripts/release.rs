use std::time::Duration;

use redis::{AsyncCommands, SetExpiry, SetOptions};
use sale::{HoldState, Lane, Reservation, Slot, Unit};
use stock::{Buyers, BuyersRead, Confirmed, Released, Reserve};
use tests::{TestRound, fresh_id, terms, user};

const LANE: Lane = Lane(0);

#[tokio::test]
async fn a_returned_unit_is_sold_again_before_a_new_one() {
    let round = TestRound::start(terms(5, 1)).await;
    let (id, hold) = round.buy(&user("alice")).await;
    round.buy(&user("bob")).await;
    assert_eq!(round.stock.release(&id, LANE, &user("alice"), None, false).await.unwrap(), Released::Now);
    assert_eq!(round.buy(&user("carol")).await.1.unit, hold.unit);
    assert_eq!(round.buy(&user("dave")).await.1.unit, Unit(3));
}

#[tokio::test]
async fn the_last_unit_is_sold_again() {
    let round = TestRound::start(terms(1, 1)).await;
    let (id, _) = round.buy(&user("alice")).await;
    assert!(matches!(round.reserve(&user("bob")).await.1, Reserve::SoldOut { .. }));
    round.stock.release(&id, LANE, &user("alice"), None, false).await.unwrap();
    assert_eq!(round.buy(&user("bob")).await.1.unit, Unit(1));
    assert!(matches!(round.reserve(&user("carol")).await.1, Reserve::SoldOut { .. }));
}

#[tokio::test]
async fn releasing_twice_returns_one_unit() {
    let round = TestRound::start(terms(5, 1)).await;
    let alice = user("alice");
    let (id, _) = round.buy(&alice).await;
    let release = || round.stock.release(&id, LANE, &alice, None, false);
    assert_eq!(release().await.unwrap(), Released::Now);
    assert_eq!(release().await.unwrap(), Released::Before);
    let view = round.view().await;
    assert_eq!((view.counters.returned, view.free.len(), view.counters.free()), (1, 2, 5));
}

#[tokio::test]
async fn a_late_release_does_not_take_the_next_ones_unit() {
    let round = TestRound::start(terms(1, 1)).await;
    let alice = user("alice");
    let (first, _) = round.buy(&alice).await;
    round.stock.release(&first, LANE, &alice, None, false).await.unwrap();
    let (second, hold) = round.buy(&alice).await;
    // The slot is used again, so Redis has forgotten the first reservation.
    assert_eq!(round.stock.release(&first, LANE, &alice, None, false).await.unwrap(), Released::UnknownHold);
    assert_eq!(round.stock.find(&second, LANE, &alice).await.unwrap(), Some(hold));
    assert_eq!(round.view().await.counters.free(), 0);
}

#[tokio::test]
async fn a_unit_of_another_order_is_not_returned() {
    let round = TestRound::start(terms(2, 1)).await;
    let (id, _) = round.buy(&user("alice")).await;
    round.stock.release(&id, LANE, &user("alice"), Some(Unit(1)), false).await.unwrap();
    let view = round.view().await;
    assert_eq!((view.counters.returned, view.counters.free()), (0, 1));
    assert_eq!(round.buy(&user("alice")).await.1.unit, Unit(2));
}

#[tokio::test]
async fn a_unit_that_is_its_own_is_returned_whatever_is_said_of_another() {
    let round = TestRound::start(terms(2, 1)).await;
    let (id, hold) = round.buy(&user("alice")).await;
    assert_eq!(hold.unit, Unit(1));
    round.stock.release(&id, LANE, &user("alice"), Some(Unit(2)), false).await.unwrap();
    assert_eq!(round.view().await.counters.free(), 2);
}

#[tokio::test]
async fn released_slots_are_used_again() {
    let round = TestRound::start(terms(9, 3)).await;
    let alice = user("alice");
    let (_, _) = round.buy(&alice).await;
    let (second, _) = round.buy(&alice).await;
    let (_, _) = round.buy(&alice).await;
    round.stock.release(&second, LANE, &alice, None, false).await.unwrap();
    // The released one still answers its own retry.
    let replay = round.reserve_as(&second, &alice).await;
    assert!(matches!(replay, Reserve::Replayed(hold) if hold.state == HoldState::Released));
    assert_eq!(round.buy(&alice).await.1.slot, Slot(1));
    assert!(matches!(round.reserve(&alice).await.1, Reserve::AlreadyReserved(holds) if holds.len() == 3));
    assert_eq!(round.view().await.holds.len(), 3, "a record never outgrows the limit");
}

#[tokio::test]
async fn a_released_reservation_is_not_confirmed() {
    let round = TestRound::start(terms(2, 1)).await;
    let alice = user("alice");
    let (id, _) = round.buy(&alice).await;
    assert_eq!(round.stock.confirm(&id, LANE, &alice).await.unwrap(), Confirmed::Now);
    assert_eq!(round.stock.confirm(&id, LANE, &alice).await.unwrap(), Confirmed::Before);
    assert_eq!(round.stock.find(&id, LANE, &alice).await.unwrap().unwrap().state, HoldState::Ordered);
    assert_eq!(round.stock.release(&id, LANE, &alice, None, false).await.unwrap(), Released::Now);
    assert_eq!(round.stock.confirm(&id, LANE, &alice).await.unwrap(), Confirmed::AlreadyReleased);
}

#[tokio::test]
async fn what_redis_does_not_know_is_unknown() {
    let round = TestRound::start(terms(2, 1)).await;
    let id = fresh_id(&round.sale, round.round);
    for name in ["alice", "nobody"] {
        assert_eq!(round.stock.confirm(&id, LANE, &user(name)).await.unwrap(), Confirmed::UnknownHold);
        assert_eq!(round.stock.release(&id, LANE, &user(name), None, false).await.unwrap(), Released::UnknownHold);
        round.buy(&user(format!("{name}-other"))).await;
    }
    assert_eq!(round.view().await.counters.free(), 0);
}

#[tokio::test]
async fn nobody_releases_anothers_reservation() {
    let round = TestRound::start(terms(2, 1)).await;
    let (id, hold) = round.buy(&user("alice")).await;
    round.buy(&user("mallory")).await;
    let mallory = user("mallory");
    assert_eq!(round.stock.release(&id, LANE, &mallory, None, false).await.unwrap(), Released::UnknownHold);
    assert_eq!(round.stock.find(&id, LANE, &user("alice")).await.unwrap(), Some(hold));
}

#[tokio::test]
async fn what_comes_back_to_nothing_is_held_back_and_then_sold() {
    let round = TestRound::start(terms(2, 1)).await;
    let (id, _) = round.buy(&user("alice")).await;
    round.stock.release(&id, LANE, &user("alice"), None, false).await.unwrap();
    assert!(matches!(round.reserve(&user("bob")).await.1, Reserve::Reserved(_)), "another was free all the time");
    let (id, hold) = round.buy(&user("carol")).await;
    let Reserve::SoldOut { lasts, .. } = round.reserve(&user("dave")).await.1 else { panic!("nothing is free") };
    assert_eq!(lasts, Duration::from_millis(stock::HOLD_BACK_MS.into()));
    round.stock.release(&id, LANE, &user("carol"), None, false).await.unwrap();
    let mut answers = Vec::new();
    let won = loop {
        match round.reserve(&user("dave")).await.1 {
            Reserve::SoldOut { last_won_at_ms, lasts } => {
                assert_eq!(last_won_at_ms, hold.reserved_at_ms);
                answers.push(lasts);
            }
            Reserve::Reserved(hold) => break hold,
            other => panic!("{other:?}"),
        }
    };
    assert!(answers.is_sorted_by(|one, next| one >= next), "it ends at one moment: {answers:?}");
    assert!(won.reserved_at_ms >= round.view().await.counters.sellable_at_ms);
}

#[tokio::test]
async fn reservations_that_end_unpaid_are_counted_once_and_up_to_the_limit() {
    let round = TestRound::start(terms(9, 2)).await;
    let alice = user("alice");
    for _ in 0..3 {
        let (id, _) = round.buy(&alice).await;
        for _ in 0..2 {
            round.stock.release(&id, LANE, &alice, None, true).await.unwrap();
        }
    }
    assert_eq!(round.reserve(&alice).await.1, Reserve::TooManyUnpaid(3));
    assert!(matches!(round.reserve(&user("bob")).await.1, Reserve::Reserved(_)), "others are not meant");
    let view = round.view().await;
    assert_eq!((view.counters.free(), view.counters.unpaid_limit), (8, 3));
}

#[tokio::test]
async fn who_has_too_many_unpaid_keeps_what_there_is_and_hears_of_it() {
    let mut terms = terms(9, 2);
    terms.door.unpaid_limit = 1;
    let round = TestRound::start(terms).await;
    let alice = user("alice");
    let (kept, _) = round.buy(&alice).await;
    let (cancelled, _) = round.buy(&alice).await;
    round.stock.release(&cancelled, LANE, &alice, None, true).await.unwrap();
    assert_eq!(round.reserve(&alice).await.1, Reserve::TooManyUnpaid(1));
    for (id, state) in [(&kept, HoldState::Held), (&cancelled, HoldState::Released)] {
        let replay = round.reserve_as(id, &alice).await;
        assert!(matches!(&replay, Reserve::Replayed(hold) if hold.state == state), "{replay:?}");
    }
    assert_eq!(round.stock.confirm(&kept, LANE, &alice).await.unwrap(), Confirmed::Now);
    assert_eq!(round.view().await.holds.len(), 2);
}

#[tokio::test]
async fn what_failed_is_not_counted() {
    let round = TestRound::start(terms(9, 1)).await;
    let alice = user("alice");
    for _ in 0..10 {
        let (id, _) = round.buy(&alice).await;
        round.stock.release(&id, LANE, &alice, None, false).await.unwrap();
    }
    round.buy(&alice).await;
}

/// A round that the version before loaded has neither field: it goes on as it was.
#[tokio::test]
async fn a_round_of_the_version_before_goes_on() {
    let round = TestRound::start(terms(1, 1)).await;
    let mut redis = round.redis().await;
    let key = "sale:{lamp:1:0}";
    let bytes: Vec<u8> = redis.get(key).await.unwrap();
    let _: () =
        redis.set_options(key, &bytes[..52], SetOptions::default().with_expiration(SetExpiry::KEEPTTL)).await.unwrap();
    for _ in 0..4 {
        let (id, _) = round.buy(&user("alice")).await;
        round.stock.release(&id, LANE, &user("alice"), None, true).await.unwrap();
    }
    assert_eq!(round.view().await.counters.unpaid_limit, 0);
}

/// The names as of a win: whoever is made known later is a later win.
#[tokio::test]
async fn the_buyers_of_a_round_that_is_sold_out() {
    let round = TestRound::start(terms(2, 1)).await;
    let buyers = async |most| round.stock.buyers(&round.sale, round.round, LANE, most).await.unwrap();
    round.buy(&user("alice")).await;
    assert!(matches!(buyers(10).await, BuyersRead::Selling));
    let (_, hold) = round.buy(&user("bob")).await;
    let BuyersRead::All(Buyers { last_won_at_ms, mut names }) = buyers(10).await else { panic!("it is sold out") };
    names.sort();
    assert_eq!((last_won_at_ms, names), (hold.reserved_at_ms, vec!["alice".to_owned(), "bob".to_owned()]));
    assert!(matches!(buyers(1).await, BuyersRead::TooMany));

    let id = fresh_id(&round.sale, round.round);
    let reserved_at_ms = hold.reserved_at_ms;
    let order = Reservation { id, user: user("carol"), lane: LANE, unit: Unit(2), slot: Slot(0), reserved_at_ms };
    round.stock.adopt(&order).await.unwrap();
    let BuyersRead::All(Buyers { last_won_at_ms: later, names }) = buyers(10).await else { panic!("it is sold out") };
    assert!(later > last_won_at_ms && names.contains(&"carol".to_owned()));
}
