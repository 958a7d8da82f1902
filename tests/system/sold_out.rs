//! Sold out: who cannot have won hears so without a call of Redis.

use runtime::Clock;
use sale::EpochMs;
use tests::terms;

use crate::answer::Answer;
use crate::ask::Ask;
use crate::calls::redis_calls;
use crate::lab::{Lab, SALE};
use crate::wait::until;

/// Someone who is let in now and comes for the first time.
fn newcomer(name: &str) -> Ask {
    Ask::reserve(SALE, name).let_in_at(Clock::system().now())
}

async fn counted(lab: &Lab, ask: &Ask) -> (Answer, Vec<String>) {
    redis_calls(&lab.valkey.url(), lab.answer(ask)).await
}

/// A lab that has sold all it has: to alice.
async fn sold_out() -> (Lab, Ask, sale::Reservation) {
    let lab = Lab::selling(terms(1, 1)).await;
    let alice = newcomer("alice").header("idempotency-key", "key-1");
    let id = lab.answer(&alice).await.expect(202).text("reservation_id").to_owned();
    let alices = lab.reservation_of(&id, "alice").await;
    let won = alices.reserved_at_ms;
    until("the clock goes on", 5, async || (Clock::system().now() > won).then_some(())).await;
    (lab, alice, alices)
}

#[tokio::test]
async fn one_call_tells_for_a_second() {
    let (lab, ..) = sold_out().await;
    let (first, asked) = counted(&lab, &newcomer("bob")).await;
    first.problem(409, "sold_out");
    assert_eq!(asked, ["EVALSHA"]);
    for name in ["carol", "dave", "bob"] {
        let (answer, asked) = counted(&lab, &newcomer(name)).await;
        answer.problem(409, "sold_out");
        assert_eq!(asked, [""; 0], "{name}");
    }
    until("Redis is asked again", 2, async || {
        let (answer, asked) = counted(&lab, &newcomer("erin")).await;
        answer.problem(409, "sold_out");
        (asked == ["EVALSHA"]).then_some(())
    })
    .await;
}

#[tokio::test]
async fn a_winners_retry_hears_of_the_unit_although_it_is_marked() {
    let (lab, alice, alices) = sold_out().await;
    lab.answer(&newcomer("bob")).await.problem(409, "sold_out");
    let (again, asked) = counted(&lab, &alice).await;
    assert_eq!(again.expect(202).text("reservation_id"), alices.id.to_string());
    assert_eq!(asked, ["EVALSHA"]);
    // With a pass of later, she is known to return.
    let later = alice.let_in_again_at(EpochMs(Clock::system().now().0));
    let (again, asked) = counted(&lab, &later).await;
    assert_eq!(again.expect(202).text("reservation_id"), alices.id.to_string());
    assert_eq!(asked, ["EVALSHA"]);
}

#[tokio::test]
async fn a_unit_that_comes_back_is_sold_within_two_seconds() {
    let (lab, _, alices) = sold_out().await;
    lab.answer(&newcomer("bob")).await.problem(409, "sold_out");
    lab.answer(&Ask::delete(format!("/v1/reservations/{}", alices.id)).by("alice")).await.expect(200);
    until("it is sold again", 2, async || (lab.answer(&newcomer("bob")).await.status == 202).then_some(())).await;
    assert_eq!(lab.clean_audit().await.0, 0);
}

#[tokio::test]
async fn a_refresh_of_the_board_keeps_the_mark() {
    let (lab, ..) = sold_out().await;
    lab.answer(&newcomer("bob")).await.problem(409, "sold_out");
    lab.board.refresh().await.unwrap();
    let (answer, asked) = counted(&lab, &newcomer("carol")).await;
    answer.problem(409, "sold_out");
    assert_eq!(asked, [""; 0]);
}
