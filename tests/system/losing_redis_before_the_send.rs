//! Redis dies after a unit was taken in it and before the message is sent. What the buyer was told must still come
//! true.

use std::sync::mpsc;

use messaging::queue::OrderQueue;
use tokio::sync::oneshot;
use tokio::task::block_in_place;

use crate::hooks::before_send;
use crate::prelude::*;

/// Each case once.
const DEATHS: usize = 6;
/// Alice's unit and one more.
const UNITS: u32 = 2;

/// What else happens in a run.
#[derive(Debug, Clone, Copy)]
struct Case {
    /// Whether the message is sent once Redis is dead. If not, the queue fails too.
    arrives: bool,
    /// Buyers who come before the message is handled, when Redis has forgotten alice.
    others: usize,
}

fn alice() -> Ask {
    Ask::reserve(SALE, "alice").header("idempotency-key", "key-1")
}

/// What alice is told when Redis dies between taking her unit and sending her message.
async fn told(lab: &mut Lab, case: Case) -> Answer {
    let ((reached, at_the_gate), (go_on, waits)) = (oneshot::channel(), mpsc::channel());
    let config = cloud().await.deployment.patient_aws_config();
    let gate = Mutex::new(Some((reached, waits)));
    // The first message is held just before it is sent, until told how to go on.
    let gate = before_send(move |_| {
        let Some((reached, go_on)) = gate.lock().unwrap().take() else { return Ok(()) };
        let _ = reached.send(());
        if block_in_place(|| go_on.recv())? { Ok(()) } else { Err("the queue does not answer".into()) }
    });
    let sqs = Sqs::from_conf(aws_sdk_sqs::config::Builder::from(&config).interceptor(gate).build());
    let deps = reservation::ReservationDeps {
        orders: OrderQueue::new(sqs, lab.queue("orders"), Clock::system()),
        ..lab.reservation()
    };
    let recorder = lab.recorder.clone();
    let asked = tokio::spawn(async move { ask_function(&recorder, &deps, &alice()).await });
    at_the_gate.await.expect("a message is sent");
    assert_eq!(lab.clean_audit().await, (UNITS - 1, 1, 0), "her unit is held");
    block_in_place(|| lab.valkey.kill_and_restart()).unwrap();
    go_on.send(case.arrives).unwrap();
    asked.await.unwrap()
}

/// How each promised reservation ends, as its buyer sees it.
async fn run(case: Case) -> Vec<String> {
    let mut lab = Lab::selling(terms(UNITS, 1)).await;
    // From the beginning: when it died, Redis held only alice's reservation.
    let redis = Redis::MayForgetFrom(0);
    let told = told(&mut lab, case).await;
    let id = told.text("reservation_id").to_owned();
    assert_eq!(told.status, if case.arrives { 202 } else { 503 }, "{told:?}");
    until("the round is back", async || (lab.reconcile().await.rebuilt == 1).then_some(())).await;
    let mut promised = Vec::new();
    for other in 0..case.others {
        let other = format!("other-{other}");
        promised.push((lab.reserve(&other).await.id.to_string(), other));
    }
    let again = lab.answer(&alice()).await;
    match again.status {
        202 => assert_eq!(again.text("reservation_id"), id),
        _ => drop(again.clone().problem(409, "sold_out")),
    }
    if [told.status, again.status].contains(&202) {
        promised.push((id, "alice".into()));
    }
    heal(&lab).await;

    let audit = lab.audit().await;
    assert!(audit.is_clean() && audit.held == 0, "{audit:?}");
    let mut ends = Vec::new();
    for (id, user) in promised {
        let look = lab.answer(&Ask::get(format!("/v1/reservations/{id}")).by(&user)).await.expect(200);
        ends.push(look.text("status").to_owned());
    }
    lab.check_history("losing_redis_before_the_send", &[SALE], redis).await;
    ends
}

#[tokio::test(flavor = "multi_thread")]
async fn every_promise_ends_as_an_order_or_a_release() {
    let cases = (0..DEATHS).map(|n| Case { arrives: n.is_multiple_of(2), others: n / 2 % 3 });
    let ends: Vec<String> = join_all(cases.map(run)).await.concat();
    let ended = |wanted: &str| ends.iter().filter(|end| *end == wanted).count();
    let (ordered, released) = (ended("pending_payment"), ended("failed"));
    println!(
        "Redis died {DEATHS} times before the send; of {} promised: {ordered} orders, {released} released",
        ends.len()
    );
    assert_eq!(ordered + released, ends.len(), "{ends:?}");
    assert!(ordered >= DEATHS / 2 && released > 0, "{ends:?}");
}
