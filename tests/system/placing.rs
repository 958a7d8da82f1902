//! What stands in the way of an order, and what becomes of it.

use crate::contents::Contents;
use crate::prelude::*;

/// Writes the order without applying it to Redis, as a function does that dies in between.
async fn place_only(lab: &Lab, reservation: &Reservation) -> Order {
    let now = now();
    rounds::place(&lab.ledger, Order::pending(reservation.clone(), terms(1, 1).price, now, now)).await
}

async fn end_only(lab: &Lab, reservation: &Reservation, step: Transition) {
    let order = place_only(lab, reservation).await;
    let later = EpochMs(order.created_at_ms.0 + 1);
    let ended = lab.ledger.end_unpaid(&order, step, later).await.unwrap().expect("the ledger has it");
    assert_eq!(ended.state, step.to());
}

/// Orders that the ledger has and Redis has not heard of. Their messages then apply them to Redis, once, and change no
/// item.
#[tokio::test]
async fn a_message_applies_what_the_ledger_had_before_it() {
    let lab = Lab::selling(terms(8, 1)).await;
    let names = ["pending", "paid", "expired", "cancelled", "withdrawn", "dead", "limited"];
    let reserved = join_all(names.map(|name| lab.reserve(name))).await;
    let [pending, paid, expired, cancelled, withdrawn, dead, limited] = &reserved[..] else { unreachable!() };
    place_only(&lab, pending).await;
    let order = place_only(&lab, paid).await;
    lab.ledger.pay(&paid.id, "pay_1", order.price.unwrap(), order.created_at_ms).await.unwrap();
    end_only(&lab, expired, Transition::Expire).await;
    end_only(&lab, cancelled, Transition::Cancel).await;
    for never in [
        Order::cancelled(withdrawn.clone(), now()),
        Order::failed(dead.clone(), Failure::UnknownSale, now()),
        Order::failed(limited.clone(), Failure::LimitReached, now()),
    ] {
        lab.ledger.fence(never).await.unwrap();
    }

    let ends = [
        (pending, OrderState::Pending, ReservationState::Ordered),
        (paid, OrderState::Paid, ReservationState::Ordered),
        (expired, OrderState::Expired, ReservationState::Released),
        (cancelled, OrderState::Cancelled, ReservationState::Released),
        (withdrawn, OrderState::Cancelled, ReservationState::Released),
        (dead, OrderState::Failed, ReservationState::Released),
        (limited, OrderState::Failed, ReservationState::Released),
    ];
    let reservations = ends.map(|(reservation, ..)| reservation);
    let before = lab.contents().await;
    for reservation in reservations {
        assert_eq!(lab.reservation_state(reservation).await, ReservationState::Held);
    }

    assert!(lab.deliver(&reservations).await.batch_item_failures.is_empty());
    for (reservation, state, applied) in ends {
        let found = (lab.order_of(reservation).await.state, lab.reservation_state(reservation).await);
        assert_eq!(found, (state, applied), "{}", reservation.user);
    }
    let after = lab.contents().await;
    let orders = |contents: &Contents| {
        let items = contents.items.clone().into_iter();
        // A failure at the limit is also counted.
        items.filter(|(key, _)| !key.starts_with("VIOLATIONS#")).collect::<BTreeMap<_, _>>()
    };
    assert_eq!(orders(&before), orders(&after));
    assert_eq!(lab.clean_audit().await, (6, 0, 2));

    assert!(lab.deliver(&reservations).await.batch_item_failures.is_empty());
    let again = lab.contents().await;
    assert_eq!((after.items, after.keys), (again.items, again.keys));
}

async fn seen(lab: &Lab, reservation: &Reservation) -> (String, Option<String>) {
    let answer = lab.answer(&Ask::status(reservation)).await.expect(200);
    (answer.text("status").to_owned(), answer.body["reason"].as_str().map(str::to_owned))
}

/// Redis was lost after the promise: since then the user has another order in its slot, and somebody else its unit.
#[tokio::test]
async fn a_promise_below_the_limit_is_kept_though_its_slot_and_its_unit_went_to_others() {
    let lab = Lab::selling(terms(5, 2)).await;
    let first = lab.lose_what(lab.reserve("alice")).await;
    lab.buy("bob").await;
    let second = lab.reserve("alice").await;
    assert!(lab.deliver(&[&second]).await.batch_item_failures.is_empty());
    assert_eq!((first.slot, second.slot, first.unit, second.unit), (Slot(0), Slot(0), Unit(1), Unit(2)));
    for _ in 0..2 {
        assert!(lab.deliver(&[&first]).await.batch_item_failures.is_empty());
        let Order { state, reservation, .. } = lab.order_of(&first).await;
        assert_eq!((state, reservation.unit, reservation.slot), (OrderState::Pending, Unit(3), Slot(1)));
    }
    assert_eq!(lab.clean_audit().await, (2, 0, 3));
}

#[tokio::test]
async fn a_unit_that_another_has_is_not_given_back_when_none_is_left() {
    let lab = Lab::selling(terms(1, 1)).await;
    lab.lose_what(lab.buy("bob")).await;
    let alice = lab.reserve("alice").await;
    for _ in 0..2 {
        assert!(lab.deliver(&[&alice]).await.batch_item_failures.is_empty());
        assert_eq!(lab.order_of(&alice).await.failure, Some(Failure::SoldOut));
        assert_eq!(lab.reservation_state(&alice).await, ReservationState::Released);
        assert_eq!(lab.clean_audit().await, (0, 0, 1));
    }
    assert_eq!(seen(&lab, &alice).await, ("failed".to_owned(), Some("sold_out".to_owned())));
    lab.answer(&Ask::reserve("lamp", "carol")).await.problem(409, "sold_out");
    lab.check_history_of_a_loss("placing_sold_out").await;
}

#[tokio::test]
async fn a_slot_that_is_taken_fails_and_gives_the_unit_back() {
    for is_unit_taken in [false, true] {
        let lab = Lab::selling(terms(3, 1)).await;
        let before = lab.contents().await.keys;
        let first = lab.buy("alice").await;
        if is_unit_taken {
            lab.rewind(&before).await;
        } else {
            // Redis forgets alice, but her first unit stays taken.
            lab.redis(&["HDEL", "buyers:{lamp:1:0}", "alice"]).await;
        }
        let second = lab.reserve("alice").await;
        assert_eq!((first.slot, first.unit == second.unit), (second.slot, is_unit_taken));
        for _ in 0..2 {
            assert!(lab.deliver(&[&second]).await.batch_item_failures.is_empty());
            assert_eq!(lab.order_of(&second).await.failure, Some(Failure::LimitReached));
            assert_eq!(lab.free().await, [Unit(2), Unit(3)]);
            assert_eq!(lab.clean_audit().await, (2, 0, 1));
        }
        assert_eq!(lab.order_of(&first).await.state, OrderState::Pending);
        assert_eq!(seen(&lab, &second).await, ("failed".to_owned(), Some("limit_reached".to_owned())));
        lab.check_history_of_a_loss("placing_a_slot").await;
    }
}
