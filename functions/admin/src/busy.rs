//! Sales that get far more requests than expected, as reconciliation last measured.

use std::collections::HashMap;
use std::time::Duration;

use jiff::Timestamp;
use ledger::{Latest, NotedTraffic};
use sale::{EpochMs, Round, RoundId, Traffic};
use serde::Serialize;

use crate::deps::AdminDeps;
use crate::figures::part;

/// The longest wait. The rest of the sale is useful without this.
const TIMEOUT: Duration = Duration::from_secs(3);

/// A measurement older than this, in seconds, is ignored: there is one every minute.
const MOST_AGE_S: u32 = 5 * 60;

#[derive(Debug, Clone, Copy, Serialize)]
pub(crate) struct BusyDocument {
    requests_per_s: u32,
    expected_requests_per_s: u32,
    since: Timestamp,
    as_of: Timestamp,
}

impl BusyDocument {
    fn of(round: &Round, noted: &NotedTraffic, now: EpochMs) -> Option<Self> {
        let Traffic { requests_per_s, busy_since_ms, at_ms, .. } = noted.traffic;
        if now > at_ms.plus_s(MOST_AGE_S) {
            return None;
        }
        let expected_requests_per_s = round.terms.door.expected_requests_per_s(round.terms.lanes);
        Some(Self { requests_per_s, expected_requests_per_s, since: busy_since_ms?.into(), as_of: at_ms.into() })
    }
}

/// The busy rounds among the latest rounds of sales. A round that is over is not busy, whatever was measured last.
pub(crate) async fn busy(deps: &AdminDeps, sales: &[Latest]) -> HashMap<RoundId, BusyDocument> {
    let now = deps.clock.now();
    let rounds: Vec<&Round> = sales.iter().filter_map(|sale| sale.round.as_ref()).filter(|r| !r.is_over(now)).collect();
    if rounds.is_empty() {
        return HashMap::new();
    }
    let read = deps.ledger.traffic_of(rounds.iter().map(|round| &round.id));
    let traffic = part(deps.clock.limit(TIMEOUT), "which sales are busy", read).await.unwrap_or_default();
    let busy = |round: &&Round| Some((round.id.clone(), BusyDocument::of(round, traffic.get(&round.id)?, now)?));
    rounds.iter().filter_map(busy).collect()
}
