use std::sync::Arc;
use std::time::{Duration, Instant};

use load::{Outcome, Visit};
use tokio::sync::Notify;

use crate::demo::crowd::{Buyer, Crowd, Heard, Wave, everybody};
use crate::stages::{Stage, progress_line};

/// Requests in flight of those who come too early.
const AT_ONCE: usize = 64;
/// One of so many comes before the opening, and one of so many clicks twice.
const EARLY_ONE_OF: usize = 20;
const DOUBLE_ONE_OF: usize = 10;
/// Tries of someone who was told to come back, before giving up.
const MAX_TRIES: usize = 60;
/// How long someone waits who was told to come back.
const COME_BACK_AFTER: Duration = Duration::from_millis(500);
/// How often the first one looks whether the sale is open.
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// Lets everybody at the sale, most of them at its opening. Nobody waits for anybody else's answer: latencies count from when somebody came.
///
/// `begins` is told when the first of them comes.
pub(super) async fn rush(crowd: &Arc<Crowd>, plan: &load::Plan, begins: &Notify) -> Outcome {
    let stage = Stage::spinner("Waiting for the opening");
    let early = crowd.buyers.iter().filter(|buyer| buyer.number % EARLY_ONE_OF == 1);
    let hears_not_open = async |buyer: &Buyer| {
        let Ok(request) = crowd.request(buyer, Wave::Rush).await else { return false };
        let heard = crowd.note(buyer, Wave::Rush, &crowd.send(buyer, &request).await);
        heard == Heard::Refused("not_open".to_owned())
    };
    everybody(early, AT_ONCE, async |buyer| {
        hears_not_open(buyer).await;
    })
    .await;
    while hears_not_open(&crowd.buyers[0]).await {
        tokio::time::sleep(LOOK_EVERY).await;
    }
    stage.done("open");

    let stage = Stage::spinner("The rush");
    begins.notify_one();
    let outcome = load::visits(plan, progress_line(), |visit| buy(Arc::clone(crowd), visit)).await;
    stage.done(format!("{} reservations", crowd.promised().accepted.len()));
    outcome
}

/// One person's rush: until there is an answer that stands.
async fn buy(crowd: Arc<Crowd>, visit: Visit) {
    let buyer = &crowd.buyers[visit.n];
    let mut due = visit.due;
    for _ in 0..MAX_TRIES {
        let Ok(request) = crowd.request(buyer, Wave::Rush).await else { return };
        let click = async || {
            let heard = visit.send("reserve", due, crowd.send(buyer, &request)).await;
            crowd.note(buyer, Wave::Rush, &heard)
        };
        let heard = if buyer.number % DOUBLE_ONE_OF == 2 {
            let (first, second) = tokio::join!(click(), click());
            if first == Heard::Reserved { first } else { second }
        } else {
            click().await
        };
        match heard {
            Heard::Reserved => return,
            Heard::Refused(code) if !matches!(&*code, "overloaded" | "not_open" | "rate_limited") => return,
            _ => tokio::time::sleep(COME_BACK_AFTER).await,
        }
        due = Instant::now();
    }
}
