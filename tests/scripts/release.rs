use sale::{HoldState, Lane, Slot, Unit};
use stock::{Confirmed, Released, Reserve};
use tests::{TestRound, fresh_id, terms, user};

const LANE: Lane = Lane(0);

#[tokio::test]
async fn a_returned_unit_is_sold_again_before_a_new_one() {
    let round = TestRound::start(terms(5, 1)).await;
    let (id, hold) = round.buy(&user("alice")).await;
    round.buy(&user("bob")).await;
    assert_eq!(round.stock.release(&id, LANE, &user("alice"), None).await.unwrap(), Released::Now);
    assert_eq!(round.buy(&user("carol")).await.1.unit, hold.unit);
    assert_eq!(round.buy(&user("dave")).await.1.unit, Unit(3));
}

#[tokio::test]
async fn the_last_unit_is_sold_again() {
    let round = TestRound::start(terms(1, 1)).await;
    let (id, _) = round.buy(&user("alice")).await;
    assert!(matches!(round.reserve(&user("bob")).await.1, Reserve::SoldOut { .. }));
    round.stock.release(&id, LANE, &user("alice"), None).await.unwrap();
    assert_eq!(round.buy(&user("bob")).await.1.unit, Unit(1));
    assert!(matches!(round.reserve(&user("carol")).await.1, Reserve::SoldOut { .. }));
}

#[tokio::test]
async fn releasing_twice_returns_one_unit() {
    let round = TestRound::start(terms(5, 1)).await;
    let alice = user("alice");
    let (id, _) = round.buy(&alice).await;
    let release = || round.stock.release(&id, LANE, &alice, None);
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
    round.stock.release(&first, LANE, &alice, None).await.unwrap();
    let (second, hold) = round.buy(&alice).await;
    // The slot is used again, so Redis has forgotten the first reservation.
    assert_eq!(round.stock.release(&first, LANE, &alice, None).await.unwrap(), Released::UnknownHold);
    assert_eq!(round.stock.find(&second, LANE, &alice).await.unwrap(), Some(hold));
    assert_eq!(round.view().await.counters.free(), 0);
}

#[tokio::test]
async fn a_unit_of_another_order_is_not_returned() {
    let round = TestRound::start(terms(2, 1)).await;
    let (id, _) = round.buy(&user("alice")).await;
    round.stock.release(&id, LANE, &user("alice"), Some(Unit(1))).await.unwrap();
    let view = round.view().await;
    assert_eq!((view.counters.returned, view.counters.free()), (0, 1));
    assert_eq!(round.buy(&user("alice")).await.1.unit, Unit(2));
}

#[tokio::test]
async fn a_unit_that_is_its_own_is_returned_whatever_is_said_of_another() {
    let round = TestRound::start(terms(2, 1)).await;
    let (id, hold) = round.buy(&user("alice")).await;
    assert_eq!(hold.unit, Unit(1));
    round.stock.release(&id, LANE, &user("alice"), Some(Unit(2))).await.unwrap();
    assert_eq!(round.view().await.counters.free(), 2);
}

#[tokio::test]
async fn released_slots_are_used_again() {
    let round = TestRound::start(terms(9, 3)).await;
    let alice = user("alice");
    let (_, _) = round.buy(&alice).await;
    let (second, _) = round.buy(&alice).await;
    let (_, _) = round.buy(&alice).await;
    round.stock.release(&second, LANE, &alice, None).await.unwrap();
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
    assert_eq!(round.stock.release(&id, LANE, &alice, None).await.unwrap(), Released::Now);
    assert_eq!(round.stock.confirm(&id, LANE, &alice).await.unwrap(), Confirmed::AlreadyReleased);
}

#[tokio::test]
async fn what_redis_does_not_know_is_unknown() {
    let round = TestRound::start(terms(2, 1)).await;
    let id = fresh_id(&round.sale, round.round);
    for name in ["alice", "nobody"] {
        assert_eq!(round.stock.confirm(&id, LANE, &user(name)).await.unwrap(), Confirmed::UnknownHold);
        assert_eq!(round.stock.release(&id, LANE, &user(name), None).await.unwrap(), Released::UnknownHold);
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
    assert_eq!(round.stock.release(&id, LANE, &mallory, None).await.unwrap(), Released::UnknownHold);
    assert_eq!(round.stock.find(&id, LANE, &user("alice")).await.unwrap(), Some(hold));
}
