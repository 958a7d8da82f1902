//! "Did I get it?": what a buyer finds with no more than the sale's name, how often to ask, and the list of orders.

use crate::prelude::*;

/// A process by whose clock a reservation just made has waited for more than two seconds.
fn later(lab: &Lab) -> reservation::ReservationDeps {
    lab.another_reservation(Clock::ahead_by_ms(2_500))
}

fn of_sale(user: &str) -> Ask {
    Ask::get(format!("/v1/sales/{SALE}/reservation")).by(user)
}

fn standings(answer: &Answer, name: &str) -> Vec<(String, String)> {
    let text = |each: &Value, name: &str| each[name].as_str().unwrap().to_owned();
    let all = answer.body[name].as_array().unwrap();
    all.iter().map(|each| (text(each, "reservation_id"), text(each, "status"))).collect()
}

fn standing(reservation: &Reservation, status: &str) -> (String, String) {
    (reservation.id.to_string(), status.to_owned())
}

#[tokio::test]
async fn a_lost_tab_finds_its_reservation_by_the_sale_alone() {
    let lab = Lab::selling(terms(5, 2)).await;
    let nothing = lab.answer(&of_sale("alice")).await.expect(200);
    assert_eq!(nothing.body, json!({ "sale_id": SALE, "round": 1, "reservations": [] }));

    let first = lab.reserve("alice").await;
    let queued = ask_function(&lab.recorder, &lab.just_reserved(), &of_sale("alice")).await.expect(200);
    assert_eq!(standings(&queued, "reservations"), [standing(&first, "queued")]);
    assert_eq!(queued.body["poll_after_ms"], 500);
    assert_eq!(lab.answer(&of_sale("bob")).await.expect(200).body, nothing.body, "other users have their own");

    assert!(lab.deliver(&[&first]).await.batch_item_failures.is_empty());
    let second = lab.reserve("alice").await;
    let both = ask_function(&lab.recorder, &lab.just_reserved(), &of_sale("alice")).await.expect(200);
    let expected = [standing(&second, "queued"), standing(&first, "pending_payment")];
    assert_eq!(standings(&both, "reservations"), expected, "the newest first");

    lab.answer(&Ask::cancel(&first)).await.expect(200);
    let ended = lab.answer(&of_sale("alice")).await.expect(200);
    assert_eq!(standings(&ended, "reservations")[1], standing(&first, "cancelled"));
    lab.answer(&Ask::get("/v1/sales/nowhere/reservation").by("alice")).await.problem(404, "unknown_sale");
}

/// While a round sells out, most buyers who ask are queued.
#[tokio::test]
async fn who_is_queued_costs_the_ledger_nothing() {
    let lab = Lab::selling(terms(5, 2)).await;
    let alice = lab.reserve("alice").await;
    let deps = lab.just_reserved();
    deps.answer(&of_sale("alice")).await.expect(200);
    lab.calls.take();
    assert_eq!(deps.answer(&Ask::status(&alice)).await.expect(200).text("status"), "queued");
    deps.answer(&of_sale("alice")).await.expect(200);
    assert_eq!(lab.calls.take_targets(), Vec::<String>::new());
}

#[tokio::test]
async fn whoever_looks_after_two_seconds_has_the_order_made() {
    for by_sale in [false, true] {
        let lab = Lab::selling(terms(5, 1)).await;
        let alice = lab.reserve("alice").await;
        let deps = later(&lab);
        let look = || if by_sale { of_sale("alice") } else { Ask::status(&alice) };
        let status = |answer: &Answer| match by_sale {
            true => answer.body["reservations"][0]["status"].clone(),
            false => answer.body["status"].clone(),
        };
        assert_eq!(status(&deps.answer(&look()).await.expect(200)), "pending_payment");
        assert_eq!(lab.reservation_state(&alice).await, ReservationState::Ordered);
        let order = lab.order_of(&alice).await;
        assert_eq!(order.state, OrderState::Pending);
        assert!(lab.deliver(&[&alice]).await.batch_item_failures.is_empty());
        assert_eq!(lab.order_of(&alice).await, order, "its message changes nothing");
        assert_eq!(lab.clean_audit().await, (4, 0, 1));
    }
}

/// Redis may learn of an order late. A buyer who looks by then sees the order, even past the limit on expediting.
#[tokio::test]
async fn an_order_that_redis_has_not_heard_of_is_found() {
    let lab = Lab::selling(terms(5, 1)).await;
    let alice = lab.reserve("alice").await;
    let deps = later(&lab);
    let nothing = Ask::get(format!("/v1/reservations/{}?expedite=true", fresh_id(&alice.id.round))).by("alice");
    for _ in 0..gate::Route::Expedite.limits().per_user.burst {
        deps.answer(&nothing).await.problem(404, "unknown_reservation");
    }
    assert_eq!(deps.answer(&Ask::status(&alice)).await.expect(200).text("status"), "queued", "there is no order yet");
    let (price, now) = (lab.round().await.terms.price, now());
    rounds::place(&lab.ledger, Order::pending(alice.clone(), price, now, now.plus_s(600))).await;
    assert_eq!(lab.reservation_state(&alice).await, ReservationState::Held);
    assert_eq!(deps.answer(&Ask::status(&alice)).await.expect(200).text("status"), "pending_payment");
}

#[tokio::test]
async fn the_list_of_orders_begins_with_what_is_queued() {
    let lab = Lab::selling(terms(5, 3)).await;
    let first = lab.buy("alice").await;
    let (second, third) = (lab.reserve("alice").await, lab.reserve("alice").await);
    let deps = lab.reservation();
    until("the list has the order", async || {
        let page = deps.answer(&Ask::get("/v1/orders").by("alice")).await;
        let listed = standings(&page, "orders");
        // Both may have been reserved in the same millisecond.
        let queued: BTreeSet<_> = listed.iter().take(2).cloned().collect();
        let both = [standing(&second, "queued"), standing(&third, "queued")];
        let is_whole = listed.len() == 3 && listed[2] == standing(&first, "pending_payment");
        (is_whole && queued == both.into_iter().collect()).then_some(())
    })
    .await;
}

/// Twenty tabs of one user, each looking as often as the answers tell it to.
#[tokio::test]
async fn twenty_tabs_at_the_pace_that_they_hear_are_not_limited() {
    let lab = Lab::selling(terms(5, 1)).await;
    let alice = lab.reserve("alice").await;
    let (clock, moved_ms) = movable_clock();
    let (deps, look) = (lab.another_reservation(clock), Ask::status(&alice));
    for _ in 0..6 {
        let looks = join_all((0..20).map(|_| deps.answer(&look))).await;
        let pauses = looks.into_iter().filter_map(|looked| looked.expect(200).body["poll_after_ms"].as_i64());
        moved_ms.fetch_add(pauses.max().unwrap_or_default(), Ordering::Relaxed);
    }
    assert_eq!(lab.order_of(&alice).await.state, OrderState::Pending, "after two seconds a look makes the order");
}

/// Redis lost its last writes and nothing else, so nothing shows that there was more.
#[tokio::test]
async fn what_a_failover_forgot_is_unknown_until_its_order_is_written() {
    let lab = Lab::selling(terms(5, 1)).await;
    let alice = lab.reserve("alice").await;
    lab.redis(&["HDEL", &format!("buyers:{{{SALE}:1:0}}"), "alice"]).await;
    let deps = lab.reservation();
    deps.answer(&Ask::status(&alice)).await.problem(404, "unknown_reservation");
    assert!(lab.deliver(&[&alice]).await.batch_item_failures.is_empty());
    assert_eq!(deps.answer(&Ask::status(&alice)).await.expect(200).text("status"), "pending_payment");
    assert_eq!(lab.clean_audit().await, (4, 0, 1));
}

/// Orders that Redis lost are found in the ledger, and those that are only in the queue may still come.
#[tokio::test]
async fn a_round_that_redis_lost_is_said_to_be_restored() {
    let lab = Lab::selling(terms(5, 2)).await;
    let first = lab.buy("alice").await;
    lab.redis(&["FLUSHALL"]).await;
    let deps = lab.reservation();
    until("the ledger's index has the order", async || {
        let lost = deps.answer(&of_sale("alice")).await.expect(200);
        assert_eq!(lost.body["restoring"], true);
        (standings(&lost, "reservations") == [standing(&first, "pending_payment")]).then_some(())
    })
    .await;
    // Long after its end the round is not rebuilt, and no buyer hears that there was nothing.
    rounds::change(&lab.ledger, &first.id.round, |round| round.terms.closes_at_ms.0 -= 3_000_000 + 3_600_000).await;
    let over = lab.another_reservation(Clock::system()).answer(&of_sale("alice")).await.expect(200);
    assert_eq!((over.body.get("restoring"), standings(&over, "reservations").len()), (None, 1));
}

/// One more than fits on two pages, to see that none is lost or shown twice at a page boundary.
const ORDERS: usize = 2 * ledger::ORDERS_PAGE as usize + 1;

#[tokio::test]
async fn pages_show_each_order_once_and_the_newest_first() {
    const BATCH: usize = 10;
    let lab = Lab::new().await;
    // A round has at most twenty units for one user.
    let sales = ["lamp", "chair", "vase"];
    for sale in sales {
        lab.open(sale, &terms(20, 20)).await;
    }
    let mut reservations = Vec::new();
    for n in 0..ORDERS {
        reservations.push(lab.accepted(&Ask::reserve(sales[n / 20], "alice"), "alice").await);
    }
    for batch in reservations.chunks(BATCH) {
        let batch: Vec<&Reservation> = batch.iter().collect();
        assert!(lab.deliver(&batch).await.batch_item_failures.is_empty());
    }
    let pages = lab.pages(Ask::get("/v1/orders").by("alice")).await;
    let sizes: Vec<_> = pages.iter().map(|page| page["orders"].as_array().unwrap().len()).collect();
    assert_eq!(sizes, [20, 20, 1]);
    let orders = listed(&pages, "orders");
    let mut ids: Vec<String> = reservations.iter().map(|reservation| reservation.id.to_string()).collect();
    let mut shown = texts(&orders, "reservation_id");
    // Two orders of one batch may be of the same millisecond.
    let batch_of = |id: &String| ids.iter().position(|each| each == id).expect("it is the user's") / BATCH;
    let batches: Vec<usize> = shown.iter().map(batch_of).collect();
    assert!(batches.is_sorted_by(|later, earlier| later >= earlier), "{batches:?}");
    shown.sort_unstable();
    ids.sort_unstable();
    assert_eq!(shown, ids);
}
