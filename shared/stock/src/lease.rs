use std::time::Duration;

use sale::Lane;

use crate::lanes_seen::{Stamp, lock};
use crate::script::LEASE;
use crate::script_code::{parse, unexpected};
use crate::{RoundStock, ScriptCode, StockError};

/// How long a process stays with another lane after the first one did not answer.
const STAYS_FOR: Duration = Duration::from_secs(30);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lease {
    pub count: u32,
    pub holds_for: Duration,
}

impl RoundStock<'_> {
    /// Asks for some of the `per_s` requests of one step that a throttled sale may have in the current second of
    /// Redis's clock. With several lanes the first one counts for all. If it does not answer, one on another shard
    /// does; while some processes still reach the first one, there may be twice as many requests.
    pub async fn lease(self, step: &str, per_s: u32, wanted: u32) -> Result<Lease, StockError> {
        if self.is_of_lanes() {
            // Boxed: it is for few rounds.
            return Box::pin(self.lease_of_lanes(step, per_s, wanted)).await;
        }
        self.lease_in_lane(step, per_s, wanted).await
    }

    async fn lease_of_lanes(self, step: &str, per_s: u32, wanted: u32) -> Result<Lease, StockError> {
        let seen = self.seen.of(self.id);
        let last = *lock(&seen.leases_from);
        let last = last.filter(|(at, _)| at.age().is_some_and(|age| age < STAYS_FOR)).map(|(_, index)| index);
        // Neighbouring lanes are often on the same shard.
        let mut lanes: Vec<u16> = last.into_iter().collect();
        for index in [0, self.lanes / 2, self.lanes - 1] {
            if !lanes.contains(&index) {
                lanes.push(index);
            }
        }
        let mut failed = StockError::OnTheWay;
        for index in lanes {
            match self.only(Lane::new(index, self.lanes)).lease_in_lane(step, per_s, wanted).await {
                Err(error) if error.is_away() => failed = error,
                answer => {
                    let mut from = lock(&seen.leases_from);
                    if index == 0 {
                        *from = None;
                    } else if last != Some(index) {
                        *from = Some((Stamp::now(), index));
                    }
                    return answer;
                }
            }
        }
        Err(failed)
    }

    async fn lease_in_lane(self, step: &str, per_s: u32, wanted: u32) -> Result<Lease, StockError> {
        let call = LEASE.keys([self.keys().lease(step)]).arg(per_s).arg(wanted);
        let answer = call.invoke_async(self.connection).await?;
        let (code, rest) = parse(&answer)?;
        let lease = || {
            let (count, ms) = rest.split_once(' ').filter(|_| code == ScriptCode::Leased)?;
            Some(Lease { count: count.parse().ok()?, holds_for: Duration::from_millis(ms.parse().ok()?) })
        };
        lease().ok_or_else(|| unexpected(&answer))
    }
}
