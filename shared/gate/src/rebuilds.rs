use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use api::Problem;
use messaging::queue::{RebuildMessage, RebuildQueue};
use runtime::{Clock, Moment};
use sale::{Round, RoundId, UserId};
use stock::Stock;

use crate::not_in_redis::not_in_redis;

/// How often a process asks for the same round at most.
const ASKS_EVERY: Duration = Duration::from_secs(1);

/// Asks for rounds that Redis has lost. Clones share what they have asked for.
#[derive(Clone)]
pub struct Rebuilds {
    queue: RebuildQueue,
    clock: Clock,
    /// Of the last second only, so it is never longer than the snapshot.
    asked: Arc<Mutex<HashMap<RoundId, Moment>>>,
}

impl Rebuilds {
    pub fn new(queue: RebuildQueue, clock: Clock) -> Self {
        Self { queue, clock, asked: Arc::default() }
    }

    /// The problem for a round that Redis does not have. If the snapshot says that people can buy from it, also asks for
    /// it to be loaded again: at most one request of a process and second, and one message of all processes. Waits for
    /// no rebuild. If nobody hears it, the next second's request asks again.
    pub async fn not_in_redis(&self, stock: &Stock, user: &UserId, round: &RoundId, latest: Option<&Round>) -> Problem {
        let now = self.clock.now();
        let running = latest.filter(|latest| latest.id == *round && latest.is_open(now) && !latest.paused);
        if let Some(running) = running.filter(|running| self.is_due(&running.id)) {
            match stock.of(running).is_first_to_ask(user).await {
                Ok(true) => {
                    tracing::warn!(sale_id = %round.sale, round = round.number.0, "Redis has lost the round");
                    if let Err(error) = self.queue.send(&RebuildMessage::new(round.clone())).await {
                        tracing::error!(error = &error as &dyn std::error::Error, "could not ask for a rebuild");
                    }
                }
                Ok(false) => {}
                Err(error) => tracing::warn!(error = &error as &dyn std::error::Error, "cannot ask for a rebuild"),
            }
        }
        not_in_redis(round, latest, now)
    }

    fn is_due(&self, round: &RoundId) -> bool {
        let now = Moment::now(self.clock);
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        asked.retain(|_, at| now.since(*at) < ASKS_EVERY);
        let is_due = !asked.contains_key(round);
        if is_due {
            asked.insert(round.clone(), now);
        }
        is_due
    }
}
