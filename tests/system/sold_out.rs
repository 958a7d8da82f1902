//! Sold out: a loser is told so without a call to Redis, whatever the pass, and a winner never is.

use crate::admission::enter;
use crate::prelude::*;

/// A request with a pass that the gate issued.
async fn let_in(lab: &Lab, name: &str) -> Ask {
    let path = enter(lab, name).await.expect(201).text("reserve_path").to_owned();
    Ask::post(path).by(name).header("idempotency-key", "key-1")
}

async fn ask_of(deps: &reservation::ReservationDeps, ask: &Ask) -> Answer {
    // Fresh counts, so that no rate limit refuses the request.
    let deps = reservation::ReservationDeps { counts: Arc::default(), ..deps.clone() };
    deps.answer(ask).await
}

/// A process remembers that the last unit is gone, a unit comes back, and its winner retries at that process.
#[tokio::test]
async fn who_won_elsewhere_while_it_was_marked_is_not_told_sold_out() {
    let lab = Lab::selling(terms(1, 1)).await;
    let [marking, selling] = [(); 2].map(|()| lab.another_reservation(Clock::system()));
    let (alice, bob) = (let_in(&lab, "alice").await, let_in(&lab, "bob").await);
    let bobs = ask_of(&selling, &bob).await.expect(202).text("reservation_id").to_owned();
    ask_of(&marking, &alice).await.problem(409, "sold_out");
    lab.answer(&Ask::delete(format!("/v1/reservations/{bobs}")).by("bob")).await.expect(200);
    // Alice now has a pass from after the last unit was won, if the gate gives her one.
    let alice = match enter(&lab, "alice").await {
        entered if entered.status == 201 => Ask { path: entered.text("reserve_path").to_owned(), ..alice },
        _ => alice,
    };
    let won = until("alice wins", async || {
        let answer = ask_of(&selling, &alice).await;
        (answer.status == 202).then_some(answer)
    })
    .await;
    // What the process remembers may be as old as allowed, or renewed by another buyer.
    for _ in 0..5 {
        let again = ask_of(&marking, &alice).await.expect(202);
        assert_eq!(again.text("reservation_id"), won.text("reservation_id"));
        ask_of(&marking, &Ask::reserve(SALE, "carol")).await.problem(409, "sold_out");
    }
}

/// A process remembers the buyers up to the win, however often and wherever Redis is asked.
#[tokio::test]
async fn no_winner_is_told_sold_out_by_any_process_with_any_pass() {
    let lab = Lab::selling(terms(3, 1)).await;
    let processes = [(); 3].map(|()| lab.another_reservation(Clock::system()));
    let mut passes = Vec::new();
    for name in ["alice", "bob", "carol", "dave"] {
        passes.push((name, vec![let_in(&lab, name).await, let_in(&lab, name).await]));
    }
    let mut won = Vec::new();
    for (name, asks) in &passes[..3] {
        let id = ask_of(&processes[0], &asks[0]).await.expect(202).text("reservation_id").to_owned();
        won.push((*name, id));
    }
    // A pass that the gate gives a winner once all is sold.
    for (name, asks) in &mut passes[..3] {
        asks.push(let_in(&lab, name).await);
    }
    for process in &processes {
        until("the process refuses losers by itself", async || {
            let (answer, calls) = redis_calls(&lab.valkey.url(), ask_of(process, &passes[3].1[0])).await;
            answer.problem(409, "sold_out");
            calls.is_empty().then_some(())
        })
        .await;
        for ((name, id), (_, asks)) in won.iter().zip(&passes) {
            for ask in asks {
                assert_eq!(ask_of(process, ask).await.expect(202).text("reservation_id"), id, "{name}");
            }
        }
    }
}

/// Neither click sends a key. Both use the pass that the page got.
#[tokio::test]
async fn a_double_click_without_a_key_is_one_reservation() {
    let lab = Lab::selling(terms(9, 3)).await;
    let keyless = |ask: Ask| Ask { headers: Vec::new(), ..ask };
    let (first, second) = (keyless(let_in(&lab, "alice").await), keyless(let_in(&lab, "alice").await));
    let processes = [(); 2].map(|()| lab.another_reservation(Clock::system()));
    let clicks = (0..6).map(|click| ask_of(&processes[click % 2], &first));
    let ids = join_all(clicks).await.into_iter().map(|answer| answer.expect(202).text("reservation_id").to_owned());
    let ids: Vec<String> = ids.collect();
    assert!(ids.iter().all(|id| *id == ids[0]), "{ids:?}");
    assert_eq!(lab.clean_audit().await, (8, 1, 0));
    let another = ask_of(&processes[0], &second).await.expect(202);
    assert_ne!(another.text("reservation_id"), ids[0], "another pass is another attempt");
}

#[tokio::test]
async fn who_cancels_again_and_again_gets_no_more() {
    let lab = Lab::selling(terms(9, 1)).await;
    for ordered in [false, true, false] {
        let alices = if ordered { lab.buy("alice").await } else { lab.reserve("alice").await };
        for _ in 0..2 {
            lab.answer(&Ask::cancel(&alices)).await.expect(200);
        }
    }
    let refused = lab.answer(&Ask::reserve(SALE, "alice")).await.problem(409, "unpaid_limit");
    assert!(refused.text("detail").contains('3'), "{refused:?}");
    lab.reserve("bob").await;
    assert_eq!(lab.clean_audit().await, (8, 1, 0));
}

/// Redis took a unit but its answer was lost, so the client heard of no reservation. Its order comes from the message
/// that reconciliation sends, a minute later at the earliest.
#[tokio::test]
async fn what_its_client_never_heard_of_does_not_count_as_unpaid() {
    let mut terms = terms(9, 1);
    terms.door.unpaid_limit = 1;
    let lab = Lab::selling(terms).await;
    let round = lab.round().await.id;
    let answer = lab.stock.round(&round).reserve(Uuid::now_v7(), &user("alice"), BuyerClass::EVERYONE).await.unwrap();
    let stock::Reserve::Reserved(reservation) = answer else { panic!("{answer:?}") };
    lab.deliver_in(fulfilment::SEND_AGAIN_AFTER.as_secs() as i64, &[&reservation]).await;
    lab.expire(&[&reservation], 7200).await;
    assert_eq!(lab.order_of(&reservation).await.state, OrderState::Expired);
    lab.reserve("alice").await;
}

/// No buyer is blamed for an order that the system made late: they may have left by then.
#[tokio::test]
async fn what_the_system_delayed_does_not_count_as_unpaid() {
    let lab = Lab::selling(terms(9, 1)).await;
    for _ in 0..4 {
        let alices = lab.reserve("alice").await;
        lab.deliver_in(180, &[&alices]).await;
        lab.answer(&Ask::cancel(&alices)).await.expect(200);
    }
    lab.reserve("alice").await;
}
