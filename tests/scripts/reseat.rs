use sale::{Lane, Reservation, ReservationId, Slot, Unit, UserId};
use stock::{Hold, Reseated};
use tests::{TestRound, fresh_id, terms, user};

const LANE: Lane = Lane(0);

fn reservation(id: &ReservationId, user: &UserId, hold: &Hold) -> Reservation {
    let Hold { slot, unit, reserved_at_ms, .. } = *hold;
    Reservation { id: id.clone(), user: user.clone(), lane: LANE, unit, slot, reserved_at_ms }
}

#[tokio::test]
async fn a_reservation_gets_another_unit_once() {
    let round = TestRound::start(terms(5, 1)).await;
    let alice = user("alice");
    let (id, hold) = round.buy(&alice).await;
    let reservation = reservation(&id, &alice, &hold);
    let moved = Hold { unit: Unit(2), ..hold };
    assert_eq!(round.stock.reseat(&reservation).await.unwrap(), Reseated::To(moved.clone()));
    assert_eq!(round.stock.reseat(&reservation).await.unwrap(), Reseated::To(moved.clone()));
    let view = round.view().await;
    assert_eq!(view.holds, [(alice, moved)]);
    assert_eq!(view.counters.free(), 3, "the unit of the other order is not handed out again");
}

#[tokio::test]
async fn a_returned_unit_comes_first() {
    let round = TestRound::start(terms(5, 1)).await;
    let (first, _) = round.buy(&user("bob")).await;
    let (id, hold) = round.buy(&user("alice")).await;
    round.stock.release(&first, LANE, &user("bob"), None, false).await.unwrap();
    let answer = round.stock.reseat(&reservation(&id, &user("alice"), &hold)).await.unwrap();
    assert_eq!(answer, Reseated::To(Hold { unit: Unit(1), ..hold }));
    assert_eq!(round.view().await.counters.returned, 0);
}

#[tokio::test]
async fn without_a_unit_left_nothing_changes() {
    let round = TestRound::start(terms(1, 1)).await;
    let (id, hold) = round.buy(&user("alice")).await;
    let answer = round.stock.reseat(&reservation(&id, &user("alice"), &hold)).await.unwrap();
    assert_eq!(answer, Reseated::SoldOut);
    assert_eq!(round.view().await.holds, [(user("alice"), hold)]);
}

#[tokio::test]
async fn a_released_reservation_stays_released() {
    let round = TestRound::start(terms(3, 1)).await;
    let (id, hold) = round.buy(&user("alice")).await;
    round.stock.release(&id, LANE, &user("alice"), None, false).await.unwrap();
    let answer = round.stock.reseat(&reservation(&id, &user("alice"), &hold)).await.unwrap();
    assert_eq!(answer, Reseated::AlreadyReleased);
    assert_eq!(round.view().await.counters.free(), 3);
}

#[tokio::test]
async fn a_reservation_that_redis_forgot_gets_its_slot_back() {
    let round = TestRound::start(terms(3, 2)).await;
    let alice = user("alice");
    let (_, other) = round.buy(&alice).await;
    let id = fresh_id(&round.sale, round.round);
    let lost = Hold { uuid: id.uuid, slot: Slot(1), ..other.clone() };
    let answer = round.stock.reseat(&reservation(&id, &alice, &lost)).await.unwrap();
    let found = Hold { unit: Unit(2), ..lost };
    assert_eq!(answer, Reseated::To(found.clone()));
    assert_eq!(round.view().await.holds, [(alice.clone(), other), (alice, found)]);
}

#[tokio::test]
async fn a_slot_of_another_reservation_is_left_alone() {
    let round = TestRound::start(terms(3, 1)).await;
    let alice = user("alice");
    let (_, other) = round.buy(&alice).await;
    let id = fresh_id(&round.sale, round.round);
    let lost = Hold { uuid: id.uuid, ..other.clone() };
    assert_eq!(round.stock.reseat(&reservation(&id, &alice, &lost)).await.unwrap(), Reseated::UnknownHold);
    assert_eq!(round.view().await.holds, [(alice, other)]);
}

#[tokio::test]
async fn a_round_that_is_not_there_is_unknown() {
    let round = TestRound::start(terms(3, 1)).await;
    let (_, hold) = round.buy(&user("alice")).await;
    let elsewhere = fresh_id(&"chair".parse().unwrap(), round.round);
    let answer = round.stock.reseat(&reservation(&elsewhere, &user("alice"), &hold)).await.unwrap();
    assert_eq!(answer, Reseated::UnknownSale);
}

#[tokio::test]
async fn its_own_entry_counts_before_another_in_the_slot_that_the_message_names() {
    let round = TestRound::start(terms(5, 2)).await;
    let alice = user("alice");
    let (_, first) = round.buy(&alice).await;
    let (id, second) = round.buy(&alice).await;
    // The message was made when Redis had given it slot 0, before a failover.
    let message = Reservation { slot: first.slot, ..reservation(&id, &alice, &second) };
    let answer = round.stock.reseat(&message).await.unwrap();
    assert_eq!(answer, Reseated::To(Hold { unit: Unit(3), ..second }));
}
