//! Sold out: a loser hears so without a call of Redis, whatever the pass, and a winner never does.

use fulfilment::Board;
use runtime::Clock;
use tests::terms;

use crate::admission::enter;
use crate::answer::Answer;
use crate::ask::Ask;
use crate::calls::redis_calls;
use crate::lab::{Lab, SALE};
use crate::wait::until;

/// Another process: nothing that one remembers is known to the other.
fn process(lab: &Lab) -> reservation::Deps {
    reservation::Deps { board: Board::new(lab.ledger.clone(), Clock::system()), ..lab.reservation() }
}

/// A try with a pass that the gate issued.
async fn let_in(lab: &Lab, name: &str) -> Ask {
    let path = enter(lab, name).await.expect(201).text("reserve_path").to_owned();
    Ask::post(path).by(name).header("idempotency-key", "key-1")
}

async fn ask_of(deps: &reservation::Deps, ask: &Ask) -> Answer {
    // Every try is the first one that this process sees of its user, so that no rate refuses it.
    let deps = reservation::Deps { limiter: std::sync::Arc::default(), ..deps.clone() };
    Answer::of_handler(ask, reservation::handle(&deps, ask.request()).await)
}

/// A process remembers what Redis said of the last unit, a unit comes back, and its winner retries at that process.
#[tokio::test]
async fn who_won_elsewhere_while_it_was_marked_is_not_told_sold_out() {
    let lab = Lab::selling(terms(1, 1)).await;
    let (marking, selling) = (process(&lab), process(&lab));
    let (alice, bob) = (let_in(&lab, "alice").await, let_in(&lab, "bob").await);
    let bobs = ask_of(&selling, &bob).await.expect(202).text("reservation_id").to_owned();
    ask_of(&marking, &alice).await.problem(409, "sold_out");
    lab.answer(&Ask::delete(format!("/v1/reservations/{bobs}")).by("bob")).await.expect(200);
    // By now alice has a pass of after the moment at which the last unit was won, as the gate gives it.
    let alice = match enter(&lab, "alice").await {
        entered if entered.status == 201 => Ask { path: entered.text("reserve_path").to_owned(), ..alice },
        _ => alice,
    };
    let loser = Ask::reserve(SALE, "carol");
    let won = until("alice wins", 5, async || {
        ask_of(&marking, &loser).await.problem(409, "sold_out");
        let answer = ask_of(&selling, &alice).await;
        (answer.status == 202).then_some(answer)
    })
    .await;
    let again = ask_of(&marking, &alice).await.expect(202);
    assert_eq!(again.text("reservation_id"), won.text("reservation_id"));
}

/// Everybody in the crowd was let in before the last unit was won.
#[tokio::test]
async fn the_crowd_is_told_from_memory() {
    let lab = Lab::selling(terms(1, 1)).await;
    let process = process(&lab);
    let mut crowd = Vec::new();
    for name in ["bob", "carol", "dave"] {
        crowd.push(let_in(&lab, name).await);
    }
    let alice = let_in(&lab, "alice").await;
    ask_of(&process, &alice).await.expect(202);
    until("nobody of the crowd costs a call", 10, async || {
        let mut asked = Vec::new();
        for ask in &crowd {
            let (answer, calls) = redis_calls(&lab.valkey.url(), ask_of(&process, ask)).await;
            answer.problem(409, "sold_out");
            asked.extend(calls);
        }
        asked.is_empty().then_some(())
    })
    .await;
}
