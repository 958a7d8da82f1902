//! A sale that recurs every day.

use crate::prelude::*;

const UNITS: u32 = 5;
/// Three hours before and after now: wider than a daylight saving change.
const HALF_S: i64 = 3 * 60 * 60;

async fn reset(lab: &Lab) -> usize {
    let summary = daily_reset::handle(&lab.daily_reset()).await.unwrap();
    assert_eq!(summary.failed, 0, "{summary:?}");
    // As happens within seconds.
    lab.refresh_snapshots().await;
    summary.begun
}

/// A daily sale in its first round, open.
async fn daily() -> Lab {
    let lab = Lab::new().await;
    let change = json!({
        "opens_at": in_s(-HALF_S), "closes_at": in_s(HALF_S), "total": UNITS, "per_user_limit": 1,
        "price_minor": 990, "currency": "EUR", "recurrence": { "every": "day", "time_zone": "Europe/Berlin" },
    });
    lab.operate("sales", &new_sale(SALE, &change)).await.expect(201);
    lab.answer(&Ask::post_sale("publish")).await.expect(200);
    lab.load(SALE).await;
    lab
}

async fn warm_up(lab: &Lab) -> usize {
    warmup::handle(&lab.warmup()).await.unwrap().loaded
}

/// The free, held and ordered units of a round, whose audit must be clean.
async fn audit(lab: &Lab, number: u32) -> (u32, u32, u32) {
    let round = lab.ledger.round(&round(SALE, number)).await.unwrap().unwrap();
    let audit = lab.audited(&round).await.audit;
    assert!(audit.is_clean(), "{audit:?}");
    (audit.free, audit.held, audit.ordered)
}

fn reserve_tomorrow(name: &str) -> Ask {
    Ask::reserve_in(SALE, 2, name)
}

#[tokio::test]
async fn the_next_round_begins_once_and_when_the_last_is_over() {
    let lab = daily().await;
    let first = lab.round().await;
    assert_eq!(reset(&lab).await, 0);
    assert_eq!(lab.round().await, first, "the first round is not over");

    rounds::pass_a_day(&lab.ledger, SALE).await;
    let offer = lab.offer().await;
    assert_eq!(reset(&lab).await, 1);
    let next = lab.round().await;
    let window = offer.next_window(now()).map(|window| (window.opens, window.closes));
    assert_eq!((next.id.clone(), Some((next.terms.opens_at_ms, next.terms.closes_at_ms))), (round(SALE, 2), window));
    assert_eq!(reset(&lab).await, 0);
    assert_eq!(lab.round().await, next, "a second run changes nothing");
}

#[tokio::test]
async fn the_new_round_has_every_unit_and_sells_to_the_same_users() {
    let lab = daily().await;
    for name in ["alice", "bob", "carol"] {
        lab.buy(name).await;
    }
    rounds::pass_a_day(&lab.ledger, SALE).await;
    reset(&lab).await;
    lab.answer(&reserve_tomorrow("alice")).await.problem(503, "overloaded");
    assert_eq!(warm_up(&lab).await, 1);
    assert_eq!(audit(&lab, 2).await, (UNITS, 0, 0));
    for name in ["alice", "bob", "carol", "dave", "erin"] {
        lab.answer(&reserve_tomorrow(name)).await.expect(202);
    }
    lab.answer(&reserve_tomorrow("late")).await.problem(409, "sold_out");
    heal(&lab).await;
    assert_eq!(audit(&lab, 2).await, (0, 0, UNITS));
    assert_eq!(audit(&lab, 1).await, (2, 0, 3));
}

#[tokio::test]
async fn what_is_late_of_the_old_round_leaves_the_new_one_alone() {
    let lab = daily().await;
    let late = lab.reserve("alice").await;
    let (bob, carol, dave) = (lab.buy("bob").await, lab.buy("carol").await, lab.buy("dave").await);
    rounds::pass_a_day(&lab.ledger, SALE).await;
    reset(&lab).await;
    warm_up(&lab).await;
    let id = lab.answer(&reserve_tomorrow("erin")).await.expect(202).text("reservation_id").to_owned();
    let new_round = async || {
        let view = lab.stock.round(&round(SALE, 2)).view().await.unwrap();
        format!("{:?}", view.expect("the round is loaded"))
    };
    let before = (lab.round().await, new_round().await);
    let state = async |of: &Reservation| lab.order_of(of).await.state;

    assert!(lab.deliver(&[&late]).await.batch_item_failures.is_empty());
    assert_eq!(state(&late).await, OrderState::Pending);
    lab.expire(&[&bob], 100_000).await;
    assert_eq!(state(&bob).await, OrderState::Expired);
    lab.answer(&Ask::cancel(&carol)).await.expect(200);
    assert_eq!(state(&carol).await, OrderState::Cancelled);
    let paid = lab.answer(&Ask::paid_for("pay_1", &dave, &lab.payment_key)).await.expect(200);
    assert_eq!((paid.text("outcome"), state(&dave).await), ("applied", OrderState::Paid));

    assert_eq!((lab.round().await, new_round().await), before);
    assert_eq!(audit(&lab, 1).await, (3, 0, 2));
    assert_eq!(audit(&lab, 2).await, (4, 1, 0));
    heal(&lab).await;
    assert_eq!(audit(&lab, 2).await, (4, 0, 1));
    lab.answer(&Ask::get(format!("/v1/reservations/{id}")).by("erin")).await.expect(200);
}

/// It is audited against its own total, not against today's, and its unsold units do not count as lost.
#[tokio::test]
async fn a_past_round_that_was_restocked_is_clean_without_its_keys() {
    let lab = daily().await;
    let restock = Ask::post_sale("restock").header("idempotency-key", "round-2");
    lab.answer(&restock.json(&json!({ "round": 1, "units": 2 }))).await.expect(200);
    let first = lab.buy("first").await;
    for number in 0..UNITS {
        lab.buy(&format!("user-{number}")).await;
    }
    // A free unit on either side of those that are sold.
    lab.answer(&Ask::cancel(&first)).await.expect(200);
    rounds::pass_a_day(&lab.ledger, SALE).await;
    assert_eq!(reset(&lab).await, 1, "no operator's key is taken for that of a new round");
    let look = async || {
        let audit = lab.read_sale("rounds/1/audit").await;
        json!(["clean", "in_redis", "total", "free", "ordered"].map(|member| audit[member].clone()))
    };
    assert_eq!(look().await, json!([true, true, UNITS + 2, 2, UNITS]));
    lab.redis(&["FLUSHALL"]).await;
    assert_eq!(look().await, json!([true, false, UNITS + 2, 2, UNITS]));
}

/// A reservation's message may come a day late; the buyer still pays the promised price.
#[tokio::test]
async fn a_late_order_costs_what_its_own_round_cost() {
    let lab = daily().await;
    let (late, dead) = (lab.reserve("alice").await, lab.reserve("bob").await);
    let dearer = |mut offer: sale::Offer| {
        offer.terms.price.price_minor = 1290;
        Ok(offer)
    };
    let outcome = lab.ledger.update_offer(&round(SALE, 1), &rounds::request("dearer"), dearer).await.unwrap();
    assert!(matches!(outcome, ledger::UpdateOutcome::Made(_)));
    rounds::pass_a_day(&lab.ledger, SALE).await;
    assert_eq!(reset(&lab).await, 1);
    assert_eq!(warm_up(&lab).await, 1);
    let tomorrow = lab.accepted(&reserve_tomorrow("carol"), "carol").await;
    let batch = message_batch([&late, &tomorrow]);
    let process = lab.another_process();
    assert!(order::handle(&order::OrderDeps::new(&process).unwrap(), batch).await.batch_item_failures.is_empty());
    let dead_letters = dead_letter::DeadLetterDeps::new(&process).unwrap();
    let batch = message_batch([&dead]);
    assert!(dead_letter::handle(&dead_letters, batch).await.batch_item_failures.is_empty());
    let price = async |of: &Reservation| lab.order_of(of).await.price.unwrap().price_minor;
    assert_eq!((price(&late).await, price(&dead).await, price(&tomorrow).await), (990, 990, 1290));
}
