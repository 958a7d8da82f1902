//! Hand-written errors, one for each rule: the report names the rule, the operations and the times.

use history::Status::{Cancelled, Expired, Failed, Granted, Paid, PendingPayment, Queued};
use history::{
    Answer, Buyers, Clocks, LedgerReading, Name, PaymentOutcome, Question, Redis, Refusal, Round, Rule, Supply, check,
};

use crate::story::{SECOND, Story, round};

/// Alice and Bob have a unit each and Carol none.
fn sold() -> Story {
    Story::new()
        .accepted("alice", 1, 2, "a")
        .accepted("bob", 1, 3, "b")
        .refused("carol", 2, 4, Refusal::SoldOut)
        .order("a", "alice", 1, PendingPayment)
        .order("b", "bob", 2, PendingPayment)
}

#[test]
fn a_sale_as_it_should_be_passes() {
    sold().passes();
    Story::new().passes();
}

#[test]
fn a_unit_of_two() {
    let mut story = sold();
    story.0.orders[1].unit = 1;
    story.0.operations.retain(|one| !matches!(one.answer, Answer::Refused(_)));
    story.violates(
        Rule::UnitOwnedTwice,
        &["unit 1", "a (alice) from 2.000000 s", "b (bob) from 3.000000 s to 100.000000 s"],
    );
}

#[test]
fn a_unit_of_two_that_one_gave_back_too_late() {
    let cancelled = |at: u64| {
        Story::new()
            .accepted("alice", 1, 2, "a")
            .cancel("alice", "a", at, 10)
            .accepted("bob", 3, 5, "b")
            .order("a", "alice", 1, Cancelled)
            .order("b", "bob", 1, PendingPayment)
    };
    // It may have come back in time.
    cancelled(5).passes();
    cancelled(6).violates(Rule::UnitOwnedTwice, &["a (alice) from 2.000000 s to 6.000000 s"]);
}

/// An expired order existed at its user's last look, and up to its `ended_ms` if clocks can be compared.
#[test]
fn a_unit_of_two_one_of_which_expired() {
    let expired = |looked: u64| {
        Story::new()
            .accepted("alice", 1, 2, "a")
            .look("alice", "a", looked, looked + 1, PendingPayment)
            .accepted("bob", 3, 5, "b")
            .order("a", "alice", 1, Expired)
            .order("b", "bob", 1, PendingPayment)
    };
    expired(5).passes();
    expired(6).violates(Rule::UnitOwnedTwice, &["a (alice) from 2.000000 s to 6.000000 s"]);

    let mut by_clock = expired(5);
    by_clock.0.rounds[0].clocks = Clocks::Together { zero_ms: 1_000, within_ms: 100 };
    by_clock.0.orders[0].ended_ms = Some(1_000 + 5_100);
    by_clock.passes();
    by_clock.0.orders[0].ended_ms = Some(1_000 + 5_200);
    by_clock.violates(Rule::UnitOwnedTwice, &["to 5.100000 s"]);
}

/// If Redis may forget, it may give a unit twice, and only one gets an order.
#[test]
fn what_redis_holds_is_no_certainty_if_it_forgets() {
    let story = |redis| {
        Story::of(Round { redis, ..round() })
            .accepted("alice", 1, 2, "a")
            .look("alice", "a", 9, 10, Queued)
            .accepted("bob", 3, 5, "b")
            .look("bob", "b", 8, 9, PendingPayment)
            .order("a", "alice", 1, Failed)
            .failed("sold_out")
            .order("b", "bob", 1, PendingPayment)
    };
    story(Redis::MayForgetFrom(4 * SECOND)).passes();
    story(Redis::Keeps).violates(Rule::NoReason, &["alice asked", "failed (sold_out) although Redis forgot nothing"]);
}

/// The ledger alone is enough evidence.
#[test]
fn a_unit_of_two_orders_though_redis_forgets() {
    let redis = Redis::MayForgetFrom(0);
    Story::of(Round { redis, ..round() })
        .accepted("alice", 1, 2, "a")
        .accepted("bob", 3, 5, "b")
        .order("a", "alice", 1, PendingPayment)
        .order("b", "bob", 1, Paid)
        .pay("b", "p", 6, 7, PaymentOutcome::Applied)
        .violates(Rule::UnitOwnedTwice, &["b (bob) from 7.000000 s to the end", "a (alice) from 100.000000 s"]);
}

#[test]
fn a_unit_that_is_not_there() {
    let mut story = sold();
    story.0.orders[1].unit = 3;
    story.0.operations.pop();
    story.violates(Rule::NoSuchUnit, &["b has unit 3 of 2"]);
}

#[test]
fn sold_out_while_a_unit_is_free() {
    let bob_asks = |at: u64| {
        Story::new()
            .accepted("alice", 1, 2, "a")
            .refused("carol", 2, 4, Refusal::SoldOut)
            .accepted("bob", at, at + 1, "b")
            .order("a", "alice", 1, PendingPayment)
            .order("b", "bob", 2, PendingPayment)
    };
    // He may have been in time.
    bob_asks(4).passes();
    bob_asks(5).violates(
        Rule::SoldOutWhileFree,
        &["carol asked for a unit (key k) at 2.000000 s and heard sold_out at 4.000000 s", "can all 2 units"],
    );
}

#[test]
fn sold_out_although_a_unit_was_never_sold() {
    let story = |buyers, ledger| {
        Story::of(Round { buyers, ledger, ..round() })
            .accepted("alice", 1, 2, "a")
            .reserve("bob", 1, 3, Answer::Unknown)
            .refused("carol", 50, 51, Refusal::SoldOut)
            .order("a", "alice", 1, PendingPayment)
    };
    // A user who heard nothing may have the unit, unless the ledger has no order for it.
    story(Buyers::Recorded, LedgerReading::NotRead).passes();
    story(Buyers::AndOthers, LedgerReading::NotRead).passes();
    story(Buyers::AndOthers, LedgerReading::AtRest(100 * SECOND))
        .violates(Rule::SoldOutWhileFree, &["can all 2 units"]);
}

#[test]
fn sold_out_although_one_came_back() {
    let asked_at = |at: u64| {
        sold_to_one_who_cancels().refused("dora", at, at, Refusal::SoldOut).refused("carol", 9, 30, Refusal::SoldOut)
    };
    // It is in cooldown for one and a half seconds.
    asked_at(11).passes();
    asked_at(12).violates(Rule::SoldOutWhileFree, &["dora", "12.000000 s"]);
    let mut kept_for_others = asked_at(12);
    kept_for_others.0.rounds[0].supply = Supply::Withheld;
    kept_for_others.passes();
}

fn sold_to_one_who_cancels() -> Story {
    Story::new()
        .accepted("alice", 1, 2, "a")
        .accepted("bob", 1, 2, "b")
        .cancel("bob", "b", 8, 10)
        .order("a", "alice", 1, Paid)
        .order("b", "bob", 2, Cancelled)
        .pay("a", "p", 5, 6, PaymentOutcome::Applied)
}

/// A user who asks again for a reservation that came back may have another unit for a moment.
#[test]
fn sold_out_while_a_request_is_repeated() {
    sold_to_one_who_cancels().accepted("bob", 15, 40, "b").refused("dora", 20, 21, Refusal::SoldOut).passes();
}

#[test]
fn the_limit_is_reached_by_nobody() {
    sold().refused("alice", 5, 6, Refusal::LimitReached).violates(
        Rule::TwoAnswers,
        &["alice asked for a unit (key k) at 5.000000 s and heard limit_reached", "a was theirs from 2.000000 s"],
    );
    let with_another_key = Question::Reserve { key: Some(Name::of("other")) };
    let refused = Answer::Refused(Refusal::LimitReached);
    sold().and("alice", with_another_key, 5, 6, refused).passes();
    sold().and("dora", with_another_key, 5, 6, refused).violates(
        Rule::LimitReachedTooEarly,
        &["dora asked for a unit (key other) at 5.000000 s and heard limit_reached", "no more than 0"],
    );
}

#[test]
fn two_of_one_user() {
    let with_another_key = Question::Reserve { key: Some(Name::of("other")) };
    Story::new()
        .accepted("alice", 1, 2, "a")
        .and("alice", with_another_key, 3, 4, Answer::Accepted { reservation: Name::of("b"), unit: None })
        .order("a", "alice", 1, PendingPayment)
        .order("b", "alice", 2, PendingPayment)
        .violates(Rule::OverTheLimit, &["alice had 2 of at most 1 at 4.000000 s: a, b"]);
}

#[test]
fn one_question_with_two_answers() {
    sold()
        .accepted("alice", 5, 6, "c")
        .order("c", "alice", 2, Expired)
        .violates(Rule::TwoAnswers, &["accepted as a at 2.000000 s", "accepted as c at 6.000000 s"]);
    sold().accepted("alice", 5, 6, "a").passes();
    sold()
        .refused("alice", 5, 6, Refusal::SoldOut)
        .violates(Rule::TwoAnswers, &["accepted as a at 2.000000 s", "heard sold_out at 6.000000 s"]);
    // A request that overtook the one that got the unit.
    sold().refused("alice", 1, 2, Refusal::NotOpen).passes();
    // One reservation of two users.
    sold().accepted("bob", 4, 5, "a").violates(Rule::TwoAnswers, &["bob", "accepted as a"]);
}

#[test]
fn one_payment_with_two_answers() {
    let paid = sold_to_one_who_cancels;
    paid().pay("a", "p", 7, 8, PaymentOutcome::Applied).passes();
    paid().pay("a", "other", 7, 8, PaymentOutcome::RefundDue).passes();
    paid().pay("a", "p", 7, 8, PaymentOutcome::RefundDue).violates(
        Rule::TwoAnswers,
        &["the payment provider told of p for a at 5.000000 s and heard applied", "heard refund_due at 8.000000 s"],
    );
}

#[test]
fn what_is_paid_expires() {
    let paid = sold_to_one_who_cancels().look("alice", "a", 20, 21, Expired);
    paid.violates(Rule::WentBack, &["a has two ends", "applied at 6.000000 s", "heard expired at 21.000000 s"]);
}

#[test]
fn what_is_ordered_is_queued_again() {
    let seen = |redis, looked: u64| {
        let mut story = sold().look("alice", "a", 5, 7, PendingPayment).look("alice", "a", looked, looked + 1, Queued);
        story.0.rounds[0].redis = redis;
        story
    };
    // The two looks overlap.
    seen(Redis::Keeps, 7).passes();
    seen(Redis::Keeps, 8).violates(
        Rule::WentBack,
        &["a went back", "heard pending_payment at 7.000000 s", "and then alice looked at a at 8.000000 s"],
    );
    seen(Redis::MayForgetFrom(8 * SECOND), 8).passes();
}

#[test]
fn what_was_an_order_cannot_fail() {
    let mut story = sold().look("alice", "a", 5, 6, PendingPayment).failed("unknown_sale");
    story.0.orders[0].status = Failed;
    story.0.orders[0].reason = story.0.orders[1].reason.take();
    story.violates(Rule::WentBack, &["a was no order that was to be paid"]);
}

#[test]
fn a_unit_that_changes() {
    let looked = |unit: u32| {
        let is = Answer::Is { status: PendingPayment, unit: std::num::NonZeroU32::new(unit) };
        sold().and("alice", Question::Look { reservation: Name::of("a") }, 5, 6, is)
    };
    looked(1).passes();
    looked(2).violates(Rule::UnitChanged, &["a has unit 1, but alice looked at a", "pending_payment, unit 2, at 6"]);
}

#[test]
fn a_reservation_that_is_forgotten() {
    let looked = |user: &str, from: u64| {
        let unknown = Answer::Refused(Refusal::UnknownReservation);
        sold().and(user, Question::Look { reservation: Name::of("a") }, from, 7, unknown)
    };
    looked("alice", 2).passes();
    looked("bob", 6).passes();
    looked("alice", 6).violates(
        Rule::Forgotten,
        &["accepted as a at 2.000000 s, and then alice looked at a at 6.000000 s and heard unknown_reservation"],
    );
    let mut lost = looked("alice", 6);
    lost.0.rounds[0].redis = Redis::MayForgetFrom(5 * SECOND);
    lost.passes();
    lost.look("alice", "a", 3, 4, PendingPayment).violates(Rule::Forgotten, &["unknown_reservation at 7.000000 s"]);
}

#[test]
fn a_promise_that_is_not_kept() {
    let mut story = sold();
    story.0.orders.remove(0);
    story.0.operations.pop();
    story.violates(
        Rule::PromiseBroken,
        &["alice asked for a unit (key k) at 1.000000 s and heard accepted as a at 2.000000 s, and the ledger has nothing"],
    );
    let mut not_read = sold();
    not_read.0.orders.clear();
    not_read.0.rounds[0].ledger = LedgerReading::NotRead;
    not_read.passes();
}

#[test]
fn an_order_of_somebody_else() {
    let mut story = sold();
    story.0.orders[0].user = Name::of("bob");
    let report = check(&story.0);
    assert!(report.violates(Rule::PromiseBroken), "{report}");
    assert!(report.to_string().contains("the ledger has it as bob's"), "{report}");
}

#[test]
fn a_failure_without_a_reason() {
    let failed = |mut story: Story| {
        story.0.orders[1].status = Failed;
        story
    };
    failed(sold()).violates(Rule::NoReason, &["bob asked", "it failed without a reason"]);
    failed(sold().failed("campaign_limit")).passes();
    failed(sold().failed("limit_reached")).violates(Rule::NoReason, &["although Redis forgot nothing"]);
}

#[test]
fn what_nobody_asked_for() {
    let mut story = sold();
    story.0.orders[1].status = Cancelled;
    story.violates(Rule::WithoutCause, &["b: the ledger says cancelled, and nobody had asked to cancel it"]);
    story.0.orders[1].status = Paid;
    story.violates(Rule::WithoutCause, &["b: the ledger says paid, and nobody had told of a payment"]);
    story.0.orders[1].status = Granted;
    story.passes();
    let early = sold_to_one_who_cancels().look("alice", "a", 3, 4, Paid);
    early.violates(Rule::WithoutCause, &["a: alice looked at a at 3.000000 s and heard paid at 4.000000 s"]);

    let mut story = sold();
    story.0.operations.retain(|one| one.user != story.0.orders[1].user);
    story.0.operations.pop();
    story.violates(Rule::WithoutCause, &["bob has b and never asked for a unit"]);
    story.0.rounds[0].buyers = Buyers::AndOthers;
    story.passes();
}

#[test]
fn an_answer_before_its_question() {
    sold().look("alice", "a", 6, 5, PendingPayment).violates(Rule::OutOfTime, &["at 6.000000 s and heard pending"]);
}

#[test]
fn what_is_not_checked_is_an_objection() {
    let mut story = sold();
    story.0.rounds[0].id = "chair.1".to_owned();
    let report = check(&story.0);
    assert_eq!((report.judged.operations, report.judged.unchecked), (3, 3));
    assert_eq!(report.objections(), ["3 operations are of rounds that are not described"]);
    assert!(report.to_string().starts_with("3 operations, 1 OBJECTION"), "{report}");
    // A history without operations proves nothing.
    let report = check(&Story::new().0);
    assert_eq!(report.objections(), ["no operation was recorded"]);
}

#[test]
fn a_long_report_is_cut() {
    let mut story = sold();
    for at in 0..30 {
        story = story.refused(&format!("early-{at}"), 0, 0, Refusal::SoldOut);
    }
    let report = check(&story.0).to_string();
    assert_eq!(report.lines().count(), 1 + history::MOST_SHOWN + 1, "{report}");
    assert!(report.contains("33 operations, 30 OBJECTIONS") && report.ends_with("and 10 more"), "{report}");
}
