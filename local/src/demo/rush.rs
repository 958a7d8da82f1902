use std::time::{Duration, Instant};

use crate::client::Answer;
use crate::demo::crowd::{Buyer, Crowd, Wave, everybody};
use crate::stages::Stage;

/// Requests in flight. The emulator takes about 200 a second, whatever is sent at it.
const AT_ONCE: usize = 128;
/// One of so many comes before the opening, and one of so many clicks twice.
const EARLY_ONE_OF: usize = 20;
const DOUBLE_ONE_OF: usize = 10;
/// Tries of someone who was told to come back, before giving up.
const MAX_TRIES: usize = 60;
/// How long someone waits who was told to come back.
const COME_BACK_AFTER: Duration = Duration::from_millis(500);

/// Lets everybody at the sale at once.
pub(super) async fn rush(crowd: &Crowd) {
    let first = &crowd.buyers[0];
    let early = crowd.buyers.iter().filter(|buyer| buyer.number % EARLY_ONE_OF == 1);
    let stage = Stage::spinner("Waiting for the opening");
    // Who comes early hears when the sale opens; the last of them is the first to hear that it has.
    everybody(early, AT_ONCE, async |buyer| {
        crowd.try_once(buyer, Wave::Rush).await;
    })
    .await;
    while let Answer::Problem(code) = crowd.try_once(first, Wave::Rush).await {
        if code != "not_open" {
            break;
        }
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    stage.done("open");

    let stage = Stage::steps("The rush", crowd.buyers.len());
    let (start, before) = (Instant::now(), crowd.heard().latency_us.len());
    everybody(&crowd.buyers, AT_ONCE, async |buyer| {
        buy(crowd, buyer).await;
        stage.step();
    })
    .await;
    let accepted = {
        let mut heard = crowd.heard();
        heard.rush_s = start.elapsed().as_secs_f64();
        heard.rush_requests = heard.latency_us.len() - before;
        heard.accepted.len()
    };
    stage.done(format!("{accepted} reservations"));
}

/// One person's rush: until there is an answer that stands.
async fn buy(crowd: &Crowd, buyer: &Buyer) {
    for _ in 0..MAX_TRIES {
        let answer = if buyer.number % DOUBLE_ONE_OF == 2 {
            let (first, second) =
                futures::future::join(crowd.try_once(buyer, Wave::Rush), crowd.try_once(buyer, Wave::Rush)).await;
            if matches!(first, Answer::Reserved(_)) { first } else { second }
        } else {
            crowd.try_once(buyer, Wave::Rush).await
        };
        match answer {
            Answer::Reserved(_) => return,
            Answer::Problem(code) if !matches!(&*code, "overloaded" | "not_open" | "rate_limited") => return,
            _ => tokio::time::sleep(COME_BACK_AFTER).await,
        }
    }
}
