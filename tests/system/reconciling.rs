//! What one run of reconciliation gets done, and in which order.

use fulfilment::{Repaired, SEND_AGAIN_AFTER, send_due};
use messaging::queue::OrderQueue;
use stock::Reserve;

use crate::prelude::*;

/// Takes a unit without sending its message.
async fn take(lab: &Lab, sale: &str, user: &UserId) -> Reservation {
    let reserved =
        lab.stock.round(&round(sale, 1)).reserve(Uuid::now_v7(), user, sale::BuyerClass::EVERYONE).await.unwrap();
    let Reserve::Reserved(reservation) = reserved else { panic!("no unit") };
    reservation
}

#[tokio::test]
async fn who_was_confirmed_does_not_hold_up_who_is_behind() {
    // More than a call looks at.
    const CONFIRMED: usize = 600;
    let lab = Lab::selling(terms(1000, 1)).await;
    for number in 0..CONFIRMED {
        let reservation = take(&lab, SALE, &user(number)).await;
        lab.stock.round(&reservation.id.round).confirm(&reservation).await.unwrap();
    }
    let late = take(&lab, SALE, &user("late")).await;
    // With a clock that is ahead, so that the reservation has waited for a while.
    let summary = lab.reconcile_in(300_000).await;
    assert_eq!(summary.sent, 1, "{summary:?}");
    assert!((299..400).contains(&summary.outbox_age_s), "the age of the waiting one: {summary:?}");
    lab.deliver(&[&late]).await;
    assert_eq!(lab.order_of(&late).await.state, OrderState::Pending);
    let summary = lab.reconcile_in(300_000).await;
    assert_eq!((summary.sent, summary.outbox_age_s), (0, 0), "{summary:?}");
}

/// A reservation that was sent again is behind younger ones in the outbox.
#[tokio::test]
async fn the_oldest_that_waits_may_have_been_sent_again() {
    let lab = Lab::selling(terms(10, 1)).await;
    let old = take(&lab, SALE, &user("old")).await;
    lab.reconcile().await;
    take(&lab, SALE, &user("young")).await;
    let since = lab.stock.round(&round(SALE, 1)).held_since(usize::MAX).await.unwrap();
    assert_eq!(since, Some(old.reserved_at_ms));
}

/// Makes the outbox's element a little more than a minute older.
async fn pass_a_minute(lab: &Lab) {
    const MINUTE_MS: i64 = 61_000;
    let (buyers, outbox) = (format!("buyers:{{{SALE}:1:0}}"), format!("outbox:{{{SALE}:1:0}}"));
    let (reservation, element) =
        (lab.redis_text(&["HGET", &buyers, "alice"]).await, lab.redis_text(&["LINDEX", &outbox, "0"]).await);
    let back = |moment: &str| (moment.parse::<i64>().unwrap() - MINUTE_MS).to_string();
    let (rest, reserved_at) = reservation.rsplit_once(' ').unwrap();
    lab.redis(&["HDEL", &buyers, "alice"]).await;
    lab.redis(&["HSET", &buyers, "alice", &format!("{rest} {}", back(reserved_at))]).await;
    // A leading zero has a meaning of its own.
    let moved = element.split(' ').map(|field| match field.strip_prefix('0') {
        Some(moment) => format!("0{}", back(moment)),
        None if field.starts_with(|first: char| first.is_ascii_digit()) => back(field),
        None => field.to_owned(),
    });
    lab.redis(&["LSET", &outbox, "0", &moved.collect::<Vec<_>>().join(" ")]).await;
}

/// A message that the queue refused is sent once the queue takes messages again, and not at an age that doubled
/// meanwhile.
#[tokio::test]
async fn what_the_queue_did_not_take_is_due_every_minute() {
    let lab = Lab::selling(terms(5, 1)).await;
    take(&lab, SALE, &user("alice")).await;
    let nowhere = OrderQueue::new(lab.sqs.clone(), format!("{}-nowhere", lab.queue("orders")), Clock::system());
    let orders = OrderQueue::new(lab.sqs.clone(), lab.queue("orders"), Clock::system());
    let id = round(SALE, 1);
    let send = async |orders: &OrderQueue| {
        let (mut sent, until) = (0, Instant::now() + Duration::from_secs(3600));
        let done = send_due(lab.stock.round(&id), orders, SEND_AGAIN_AFTER, until, &mut sent).await;
        done.map(|()| sent)
    };
    for minute in 1..=10 {
        pass_a_minute(&lab).await;
        assert!(send(&nowhere).await.is_err(), "tried in minute {minute}");
        assert_eq!(send(&nowhere).await.unwrap(), 0, "once");
    }
    pass_a_minute(&lab).await;
    assert_eq!(send(&orders).await.unwrap(), 1, "as soon as the queue takes it");
    // From then on it is sent at doubling ages, which `scripts/due.rs` tests.
}

/// Eight sales that close first, whose orders the ledger does not return, and one with a message that was never sent.
#[tokio::test(flavor = "multi_thread")]
async fn a_sale_that_cannot_be_audited_does_not_keep_the_others_from_their_messages() {
    let lab = Lab::selling(terms(10, 1)).await;
    for number in 0..8 {
        lab.open(&format!("first-{number}"), &rounds::from_to(-60, 3000, terms(10, 1))).await;
    }
    take(&lab, SALE, &user("unsent")).await;
    let parts = Parts::of(&lab).await;
    parts.aws.set_for_those_with("guards_by_round", Conduct::Hangs);
    let deps = parts.start(sending_at_once);
    let sent = until("the message is sent", async || (lab.depth("orders").await != [0, 0, 0]).then_some(()));
    tokio::select! {
        () = sent => {}
        summary = reconciliation::handle(&deps) => panic!("the run ended without the message: {summary:?}"),
    }
}

/// Orders that this version cannot read do not keep the others from expiring.
#[tokio::test]
async fn an_order_that_cannot_be_expired_does_not_keep_the_others() {
    let lab = Lab::selling(terms(10, 1)).await;
    let mut orders = Vec::new();
    for number in 0..9 {
        orders.push(lab.buy(&format!("user-{number}")).await);
    }
    let (bad, good) = orders.split_at(3);
    for Reservation { id, .. } in bad {
        lab.set_attribute(&format!("ORDER#{id}"), "state", AttributeValue::S("ODD".into())).await;
    }
    let summary = lab.reconcile_in(2_000_000).await;
    assert_eq!(summary.overdue, good.len(), "{summary:?}");
    assert!(summary.failed >= bad.len(), "each is counted: {summary:?}");
    for reservation in good {
        assert_eq!(lab.order_of(reservation).await.state, OrderState::Expired);
    }
}

/// In a sale to which units come back all the time, one moves between each look and the repair.
#[tokio::test]
async fn a_unit_in_no_place_comes_back_although_others_move() {
    let lab = Lab::selling(terms(4, 1)).await;
    take(&lab, SALE, &user("alice")).await;
    lab.redis(&["HDEL", "buyers:{lamp:1:0}", "alice"]).await;
    let listing = fulfilment::list(&lab.stock, &lab.ledger, &round(SALE, 1), 1).await.unwrap().unwrap();
    let other = take(&lab, SALE, &user("bob")).await;
    lab.stock.round(&other.id.round).release(&other, None, false).await.unwrap();
    let [repair] = &*listing.repairs else { panic!("one repair: {:?}", listing.repairs) };
    let repaired = fulfilment::repair(&lab.stock, &lab.ledger, &listing, repair).await.unwrap();
    assert_eq!(repaired, Repaired::Restored);
    assert_eq!(lab.audit().await.free, 4);
}

/// A count that is too low keeps units from everybody, and nothing else shows it.
#[tokio::test]
async fn units_that_are_not_counted_are_lost_until_they_are() {
    let lab = Lab::selling(terms(1, 1)).await;
    take(&lab, SALE, &user("alice")).await;
    lab.redis(&["HDEL", "buyers:{lamp:1:0}", "alice"]).await;
    lab.redis(&["ZADD", "free:{lamp:1:0}", "1", "1-1"]).await;
    let audit = lab.audit().await;
    assert_eq!((audit.free, audit.lost, audit.is_clean()), (0, 1, false), "{audit:?}");
    let summary = lab.reconcile().await;
    assert_eq!((summary.restored, summary.rounds[&round(SALE, 1).to_string()].lost), (1, 1), "{summary:?}");
    assert!(lab.audit().await.is_clean());
    lab.sell_returned().await;
    assert_eq!(take(&lab, SALE, &user("bob")).await.unit, sale::Unit(1));
}
