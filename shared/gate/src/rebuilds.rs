use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use api::{Code, Problem};
use messaging::queue::{RebuildMessage, RebuildQueue};
use runtime::{Clock, Moment};
use sale::{EpochMs, Round, RoundId, UserId};
use stock::Stock;

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
        let running = latest.filter(|latest| latest.id == *round && latest.is_running(now));
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
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        is_due(&mut asked, round, Moment::now(self.clock))
    }
}

fn is_due(asked: &mut HashMap<RoundId, Moment>, round: &RoundId, now: Moment) -> bool {
    asked.retain(|_, at| now.since(*at) < ASKS_EVERY);
    if asked.contains_key(round) {
        return false;
    }
    asked.insert(round.clone(), now);
    true
}

/// The problem for a round that Redis does not have: it is not loaded yet, is over, or was lost and will be restored.
/// `latest` is the sale's latest round in the snapshot. The caller knows that the round was published, so a snapshot
/// without the sale or the round is out of date, and the answer is never that the round does not exist.
fn not_in_redis(round: &RoundId, latest: Option<&Round>, now: EpochMs) -> Problem {
    match latest {
        Some(latest) if round.number < latest.id.number => Problem::new(Code::Closed),
        Some(latest) if round.number > latest.id.number => Problem::restoring(),
        Some(latest) if latest.is_over(now) => Problem::new(Code::Closed),
        Some(latest) if latest.awaits_beacon() && now >= latest.terms.first_opens_at_ms() => {
            Problem::paused().detail("it opens once the beacon of its draw is posted")
        }
        // If a group may already buy, Redis has lost the round.
        Some(latest) if now < latest.terms.first_opens_at_ms() => Problem::not_open(latest.terms.opens_at_ms, now),
        _ => Problem::restoring(),
    }
}

#[cfg(test)]
mod tests {
    use sale::{DoorTerms, RoundNumber, Terms};
    use serde_json::json;

    use super::*;

    #[test]
    fn a_process_asks_for_a_round_once_a_second() {
        let (mut asked, began) = (HashMap::new(), std::time::Instant::now());
        let mut ask = |round: &str, ms| {
            let now = Moment::of((began + Duration::from_millis(ms)).into(), EpochMs(ms as i64));
            let is_due = is_due(&mut asked, &round.parse().unwrap(), now);
            (is_due, asked.len())
        };
        assert_eq!([ask("lamp.1", 0), ask("lamp.1", 999), ask("chair.1", 999)], [(true, 1), (false, 1), (true, 2)]);
        assert_eq!(ask("lamp.1", 1000), (true, 2), "counted from the first time");
        assert_eq!(ask("lamp.1", 1999), (false, 1), "what is over is forgotten");
    }

    #[test]
    fn a_round_is_over_or_to_come_or_comes_back() {
        let terms = json!({
            "title": "A lamp", "opens_at_ms": 10_000, "closes_at_ms": 20_000, "total": 1, "per_user_limit": 1,
            "price_minor": 990, "currency": "EUR", "payment_window_s": 900, "door": DoorTerms::default(),
        });
        let terms = serde_json::from_value(terms).unwrap();
        let latest = Round::new("lamp.2".parse().unwrap(), terms);
        let said = |number, latest, at_ms| {
            let round = RoundId { sale: "lamp".parse().unwrap(), number: RoundNumber(number) };
            not_in_redis(&round, latest, EpochMs(at_ms)).code()
        };
        let runs = |paused, at_ms| Round { paused, ..latest.clone() }.is_running(EpochMs(at_ms));
        assert_eq!([runs(false, 9_999), runs(false, 10_000), runs(true, 10_000)], [false, true, false]);
        for (number, at_ms, code) in [
            (1, 5_000, Code::Closed),
            (2, 9_999, Code::NotOpen),
            (2, 10_000, Code::Overloaded),
            (2, 19_999, Code::Overloaded),
            (2, 20_000, Code::Closed),
            (3, 25_000, Code::Overloaded),
        ] {
            assert_eq!(said(number, Some(&latest), at_ms), code, "round {number} at {at_ms}");
        }
        assert_eq!(said(1, None, 5_000), Code::Overloaded);

        let prizes = vec![sale::Prize { name: "A cup".into(), count: 1 }];
        let allocation = sale::Allocation::Prizes { prizes, draw: sale::DrawTime::default(), beacon: true };
        let waits = Round { terms: Terms { allocation, ..latest.terms.clone() }, ..latest.clone() };
        let loaded = Round { loaded_at_ms: Some(EpochMs(9_000)), ..waits.clone() };
        assert_eq!((said(2, Some(&waits), 9_999), said(2, Some(&waits), 10_000)), (Code::NotOpen, Code::Paused));
        assert_eq!((said(2, Some(&loaded), 10_000), said(2, Some(&waits), 20_000)), (Code::Overloaded, Code::Closed));
    }
}
