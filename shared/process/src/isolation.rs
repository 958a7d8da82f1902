use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use cache::{Clock, Moment};
use sale::Round;
use stock::{Lease, Stock, StockError};
use strum::IntoStaticStr;
use tokio::sync::Mutex;

/// A lease is at most this fraction (one in so many) of the sale's rate, so that a busy process leaves something for others.
const MOST_ONE_IN: u32 = 2;
/// Pause after a lease that Redis did not answer.
const TRY_AGAIN_AFTER: Duration = Duration::from_secs(1);

/// A kind of request that isolation limits. Each has its own limit, so that wrong answers do not keep out reservations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum Step {
    /// Asking for a challenge.
    Challenge,
    /// Answering it.
    Token,
    /// Trying for a unit.
    Reserve,
}

/// Whether a request may go on to Redis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Turn {
    /// Yes.
    Now,
    /// Only after this wait.
    Later(Duration),
}

/// This process's turns for an isolated sale, by step.
#[derive(Debug, Default)]
pub(crate) struct Isolation([Share; 3]);

#[derive(Debug, Default)]
struct Share {
    /// Requests since the last lease, to know how much to ask for.
    asked: AtomicU32,
    left: AtomicU32,
    /// Held while Redis is asked, so that one asks for all.
    leased: Mutex<Option<Leased>>,
}

#[derive(Debug, Clone, Copy)]
struct Leased {
    since: Moment,
    holds_for: Duration,
}

impl Isolation {
    /// Takes the turn of one request for `round`, which may send Redis `per_s` requests a second: from this process's lease of
    /// the current second, or from a new lease, which is one call for all requests that wait for it.
    ///
    /// # Errors
    /// If Redis does not answer.
    pub(crate) async fn take_turn(
        &self,
        stock: &Stock,
        round: &Round,
        per_s: u32,
        step: Step,
        clock: Clock,
    ) -> Result<Turn, StockError> {
        let share = &self.0[step as usize];
        share.asked.fetch_add(1, Ordering::Relaxed);
        let mut leased = share.leased.lock().await;
        let now = Moment::now(clock);
        let rest =
            |leased: &Leased| leased.holds_for.checked_sub(now.since(leased.since)).filter(|rest| !rest.is_zero());
        if let Some(rest) = leased.as_ref().and_then(rest) {
            let taken = share.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1));
            return Ok(taken.map_or(Turn::Later(rest), |_| Turn::Now));
        }
        let wanted = share.asked.swap(0, Ordering::Relaxed).clamp(1, per_s.div_ceil(MOST_ONE_IN));
        // While Redis does not answer, the next request must not ask again at once.
        share.left.store(0, Ordering::Relaxed);
        *leased = Some(Leased { since: now, holds_for: TRY_AGAIN_AFTER });
        let Lease { count, holds_for } = stock.of(round).lease(step.into(), per_s, wanted).await?;
        // Counted from before the call: what is granted for a second is not used after it.
        *leased = Some(Leased { since: now, holds_for });
        share.left.store(count.saturating_sub(1), Ordering::Relaxed);
        Ok(if count == 0 { Turn::Later(holds_for) } else { Turn::Now })
    }

    /// Gives back the turn of a request that does not count.
    pub(crate) fn give_turn_back(&self, step: Step) {
        self.0[step as usize].left.fetch_add(1, Ordering::Relaxed);
    }
}
