//! Operators stop one sale, or everything, at once.

use crate::admission::{answer_request, noted};
use crate::prelude::*;

async fn lab() -> Lab {
    let lab = Lab::selling(terms(9, 1)).await;
    lab.open("other", &terms(9, 1)).await;
    lab
}

async fn stopped(lab: &Lab, sale: &str) {
    let ask = Ask::reserve(sale, "late");
    let (answer, calls) = redis_calls(&lab.valkey.url(), lab.answer(&ask)).await;
    assert_eq!(answer.problem(503, "paused").header("retry-after"), "10");
    assert_eq!(calls, [""; 0]);
}

#[tokio::test]
async fn one_sale_is_stopped_and_the_others_sell() {
    let lab = lab().await;
    let alice = lab.buy("alice").await;
    for _ in 0..2 {
        let state = lab.operate("stop", &json!({ "sale_id": SALE })).await.expect(200);
        assert_eq!(state.body, json!({ "stopped": false, "stopped_sales": [SALE] }));
    }
    stopped(&lab, SALE).await;
    lab.answer(&Ask::reserve("other", "bob")).await.expect(202);
    lab.answer(&Ask::status(&alice)).await.expect(200);
    lab.answer(&Ask::get("/v1/orders").by("alice")).await.expect(200);
    lab.answer(&Ask::cancel(&alice)).await.expect(200);
    // Starting everything does not start a single stopped sale.
    lab.operate("start", &json!({})).await.expect(200);
    stopped(&lab, SALE).await;
    for _ in 0..2 {
        let state = lab.operate("start", &json!({ "sale_id": SALE })).await.expect(200);
        assert_eq!(state.body, json!({ "stopped": false, "stopped_sales": [] }));
    }
    lab.reserve("carol").await;
}

#[tokio::test]
async fn everything_is_stopped_and_can_be_looked_at() {
    let lab = lab().await;
    let alice = lab.buy("alice").await;
    let (one, other) = (json!({ "sale_id": SALE }), json!({ "sale_id": "other" }));
    join_all([&one, &other, &json!({})].map(|which| lab.operate("stop", which))).await;
    let kill_switches = lab.read("/v1/admin/kill_switches").await;
    let all = json!({ "stopped": true, "stopped_sales": [SALE, "other"] });
    assert_eq!(kill_switches, all, "operators who stop different things at once undo nothing");
    lab.operate("start", &other).await.expect(200);
    let started = lab.operate("start", &one).await.expect(200);
    assert_eq!(started.body, json!({ "stopped": true, "stopped_sales": [] }), "everything is still stopped");
    stopped(&lab, SALE).await;
    stopped(&lab, "other").await;
    lab.answer(&Ask::status(&alice)).await.expect(200);
    assert_eq!(lab.operate("start", &json!({})).await.expect(200).body["stopped"], false);
    lab.reserve("bob").await;
}

/// A sale's crowd meets many processes, most of which were idle when the operator stopped it.
#[tokio::test]
async fn a_stop_and_a_start_hold_in_processes_that_were_idle() {
    let lab = Lab::selling(terms(100, 1)).await;
    let (clock, moved_ms) = movable_clock();
    let processes: Vec<_> = (0..40).map(|_| lab.another_reservation(clock)).collect();
    let ask_all = async |round: &str| {
        let asked = processes.iter().enumerate().map(async |(number, deps)| {
            let ask = Ask::reserve(SALE, &format!("{round}-{number}"));
            ask_function(&lab.recorder, deps, &ask).await.status
        });
        join_all(asked).await
    };
    assert_eq!(ask_all("before").await, [202; 40]);
    lab.operate("stop", &json!({})).await.expect(200);
    moved_ms.fetch_add(20_000, Ordering::Relaxed);
    assert_eq!(ask_all("during").await, [503; 40]);
    lab.operate("start", &json!({})).await.expect(200);
    moved_ms.fetch_add(20_000, Ordering::Relaxed);
    assert_eq!(ask_all("after").await, [202; 40]);
}

/// The limit applies to what reaches Redis, from all processes together and whatever the pass.
#[tokio::test]
async fn a_throttled_sale_gets_no_more_than_its_share() {
    const PER_S: u32 = 2;
    const PROCESSES: usize = 3;
    let lab = Lab::selling(terms(100, 1)).await;
    lab.open("other", &terms(9, 1)).await;
    lab.throttle(Some(PER_S)).await;
    let clock = Clock::system();
    let processes: Vec<_> = (0..PROCESSES).map(|_| lab.another_reservation(clock)).collect();
    let began = Instant::now();
    let (answers, calls) = redis_calls(&lab.valkey.url(), async {
        let mut answers = Vec::new();
        // Several rounds, to ask for more than one second's share.
        for round in 0..4 {
            let asked = (0..30).map(async |number| {
                let ask = Ask::reserve(SALE, &format!("user-{round}-{number}"));
                ask_function(&lab.recorder, &processes[number % PROCESSES], &ask).await
            });
            answers.extend(join_all(asked).await);
            tokio::time::sleep(Duration::from_millis(250)).await;
        }
        answers
    })
    .await;
    // How many seconds of Redis's clock the work touched.
    let seconds = began.elapsed().as_secs() as usize + 2;
    let won = answers.iter().filter(|answer| answer.status == 202).count();
    assert!((2..=seconds * PER_S as usize).contains(&won), "{won} in {seconds} s");
    let calls = calls.iter().filter(|call| call.starts_with("EVAL")).count();
    // A lease ends earlier by as long as its answer took, so a process of a busy machine asks twice in a second. A script
    // that Redis does not have yet is sent a second time.
    assert!(calls <= seconds * (PER_S as usize + 2 * PROCESSES) + 2 * PROCESSES, "{calls} calls in {seconds} s");
    for (number, process) in processes.iter().enumerate() {
        process.answer(&Ask::reserve("other", &format!("user-{number}"))).await.expect(202);
    }
    for answer in answers.into_iter().filter(|answer| answer.status != 202) {
        assert_eq!(answer.problem(429, "rate_limited").header("retry-after"), "1");
    }
    heal(&lab).await;
    lab.check_history("throttled", &[SALE], Redis::Keeps).await;
}

/// Wrong answers do not use up the share of right ones.
#[tokio::test]
async fn junk_does_not_use_up_a_throttled_sales_share() {
    let lab = Lab::selling(terms(100, 1)).await;
    lab.throttle(Some(2)).await;
    let challenge = Ask::post(format!("/v1/sales/{SALE}/challenges")).by("alice");
    let is_taken = async || Some(lab.answer(&challenge).await).filter(|answer| answer.status != 429);
    let challenged = until("it is taken", is_taken).await.expect(201);
    let id = challenged.text("challenge_id");
    let sum = noted(&lab, "alice", id).await.unwrap();
    for number in 0..12 {
        let junk = answer_request(&format!("mallory-{number}"), &"7".repeat(32), "1");
        lab.answer(&junk).await.problem(409, "challenge_over");
    }
    lab.answer(&answer_request("alice", id, &sum)).await.expect(201);
}

/// Whoever asks for more challenges than the rates allow uses up nobody else's share.
#[tokio::test]
async fn one_account_does_not_use_up_a_throttled_sales_challenges() {
    let lab = Lab::selling(terms(100, 1)).await;
    lab.throttle(Some(100)).await;
    // Her requests are used up until the year 2286.
    lab.redis(&["SET", &format!("rate:{{{SALE}:1:0}}:user:mallory"), "9999999999999999"]).await;
    let deps = lab.another_admission(Clock::system());
    let challenge = async |user: &str| deps.answer(&Ask::post(format!("/v1/sales/{SALE}/challenges")).by(user)).await;
    // A process begins with a single turn a second.
    for _ in 0..3 {
        challenge("mallory").await.problem(429, "rate_limited");
    }
    challenge("alice").await.expect(201);
}
