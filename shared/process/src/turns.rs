use std::time::Duration;

use stock::Lease;

use super::sync::{AsyncMutex, AtomicU32, Clock, Moment, Ordering};

/// A lease is at most one part in this many of the sale's rate, so that a busy process leaves something for others.
const MOST_ONE_IN: u32 = 2;
/// The pause after Redis did not answer a request for a lease.
const TRY_AGAIN_AFTER: Duration = Duration::from_secs(1);

/// Whether a request may go on to Redis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Turn {
    Now,
    Later(Duration),
}

/// This process's turns for one step of a throttled sale.
#[derive(Debug, Default)]
pub(crate) struct Turns {
    /// Requests since the last lease, from which the size of the next one follows.
    asked: AtomicU32,
    left: AtomicU32,
    /// Held while Redis is asked, so that one call serves all.
    leased: AsyncMutex<Option<Leased>>,
}

#[derive(Debug, Clone, Copy)]
struct Leased {
    since: Moment,
    holds_for: Duration,
}

impl Turns {
    /// Takes a turn for one request of a sale that may send Redis `per_s` in a second: from this process's lease of the
    /// current second, or from a new one of the wanted size, with one call of `lease` for all waiting requests. Fails
    /// if `lease` fails.
    pub(crate) async fn take<E>(
        &self,
        per_s: u32,
        clock: Clock,
        lease: impl AsyncFnOnce(u32) -> Result<Lease, E>,
    ) -> Result<Turn, E> {
        self.asked.fetch_add(1, Ordering::Relaxed);
        let mut leased = self.leased.lock().await;
        let now = Moment::now(clock);
        let rest =
            |leased: &Leased| leased.holds_for.checked_sub(now.since(leased.since)).filter(|rest| !rest.is_zero());
        if let Some(rest) = leased.as_ref().and_then(rest) {
            let taken = self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1));
            return Ok(taken.map_or(Turn::Later(rest), |_| Turn::Now));
        }
        let wanted = self.asked.swap(0, Ordering::Relaxed).clamp(1, per_s.div_ceil(MOST_ONE_IN));
        // While Redis does not answer, the next request must not ask again at once.
        self.left.store(0, Ordering::Relaxed);
        *leased = Some(Leased { since: now, holds_for: TRY_AGAIN_AFTER });
        let Lease { count, holds_for } = lease(wanted).await?;
        // Counted from before the call, so that a grant for a second is not used after it.
        *leased = Some(Leased { since: now, holds_for });
        self.left.store(count.saturating_sub(1), Ordering::Relaxed);
        Ok(if count == 0 { Turn::Later(holds_for) } else { Turn::Now })
    }

    /// Gives back the turn of a request that does not count.
    pub(crate) fn give_back(&self) {
        self.left.fetch_add(1, Ordering::Relaxed);
    }
}
