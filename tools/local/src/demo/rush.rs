use std::sync::Arc;
use std::time::{Duration, Instant};

use command_line::of_these;
use load::{Answer, Outcome, Visit};

use crate::demo::crowd::{Buyer, Crowd, Turn, Wave, everybody, has_unit};
use crate::stages::{Stage, progress_line, say_above};

/// Requests in flight of people who come too early.
const AT_ONCE: usize = 64;
/// One person in this many comes before the opening, and one in this many clicks twice.
const EARLY_ONE_OF: usize = 20;
const DOUBLE_ONE_OF: usize = 10;
/// How often a person who is told to come back tries before giving up.
const MAX_TRIES: usize = 60;
const COME_BACK_AFTER: Duration = Duration::from_millis(500);
const POLL_EVERY: Duration = Duration::from_millis(200);

/// Lets everybody come, most of them at the opening, and signals `begins` then. People do not wait for each other's
/// answers: latencies count from when a person came.
pub(super) async fn rush(crowd: &Arc<Crowd>, plan: &load::Plan) -> Outcome {
    let stage = Stage::spinner("Waiting for the opening");
    // The work at the gate is done by people's own devices, which take nothing from the sale. Here it would.
    let is_early = |buyer: &&Buyer| buyer.number % EARLY_ONE_OF == 1 || buyer.works_at_the_gate();
    let early = crowd.buyers.iter().filter(is_early);
    let is_too_early = async |buyer: &Buyer| {
        // A person who tries for a while gets `rate_limited`, which says nothing about the sale.
        matches!(&*crowd.ask(buyer, Wave::Rush).await.code, "not_open" | "rate_limited")
    };
    everybody(early, AT_ONCE, async |buyer| {
        is_too_early(buyer).await;
    })
    .await;
    let first: Vec<&Buyer> = crowd.buyers.iter().filter(|buyer| buyer.turn == Turn::First).collect();
    if let Some(one) = first.first() {
        while is_too_early(one).await {
            tokio::time::sleep(POLL_EVERY).await;
        }
        everybody(first, AT_ONCE, async |buyer| insist(crowd, buyer).await).await;
        let reserved = of_these(crowd.promised.lock().accepted.len() as u64, "reservation");
        say_above(&format!("  Members first: {reserved}"));
    }
    while is_too_early(&crowd.buyers[0]).await {
        tokio::time::sleep(POLL_EVERY).await;
    }
    stage.done("open");

    let stage = Stage::heading("The rush");
    crowd.begins.notify_one();
    let began = Instant::now();
    let outcome = load::visits(plan, progress_line(), |visit| buy(Arc::clone(crowd), visit, began)).await;
    stage.done(of_these(crowd.promised.lock().accepted.len() as u64, "reservation"));
    outcome
}

/// Whether asking again at once makes no sense.
fn stands(heard: &Answer) -> bool {
    match heard.status {
        Some(400..) => !matches!(&*heard.code, "overloaded" | "not_open" | "rate_limited"),
        _ => has_unit(heard),
    }
}

async fn insist(crowd: &Crowd, buyer: &Buyer) {
    for _ in 0..MAX_TRIES {
        if stands(&crowd.ask(buyer, Wave::Rush).await) {
            return;
        }
        tokio::time::sleep(COME_BACK_AFTER).await;
    }
}

/// One person's rush, which began at `began`, until there is a final answer.
async fn buy(crowd: Arc<Crowd>, visit: Visit, began: Instant) {
    let buyer = &crowd.buyers[visit.n];
    let mut due = visit.due;
    match buyer.turn {
        Turn::Rush => {}
        Turn::First => return,
        Turn::Late(after) => {
            due = due.max(began + after);
            tokio::time::sleep_until(due.into()).await;
        }
    }
    for _ in 0..MAX_TRIES {
        let Ok(request) = crowd.request(buyer, Wave::Rush).await else { return };
        let click = async || {
            let heard = visit.send("reserve", due, crowd.send(buyer, &request)).await;
            crowd.note(buyer, Wave::Rush, &heard)
        };
        let heard = if buyer.number % DOUBLE_ONE_OF == 2 {
            let (first, second) = tokio::join!(click(), click());
            if has_unit(&first) { first } else { second }
        } else {
            click().await
        };
        if stands(&heard) {
            return;
        }
        tokio::time::sleep(COME_BACK_AFTER).await;
        due = Instant::now();
    }
}
