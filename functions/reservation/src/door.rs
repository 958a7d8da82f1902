//! The door: who may try to reserve. The last segment of the path is the pass.

use std::sync::Arc;
use std::time::Duration;

use api::{Code, Problem, RatePolicy, client_ip};
use cache::Moment;
use door::{Pass, Route};
use fulfilment::FulfilmentError;
use lambda_http::Request;
use ledger::{Strike, Struck};
use process::{CachedSale, Snapshot, Step, Turn};
use sale::{SaleId, UserId};

use crate::{Deps, overloaded, unanswered};

/// Longest wait for a strike to be counted. The answer is the same without.
const STRIKE_TIMEOUT: Duration = Duration::from_secs(3);

/// Leave to try, and what is known of the sale.
pub(crate) struct Admitted {
    pub(crate) pass: Pass,
    /// None if the snapshot does not have it, though somebody was let in: it was published a moment ago, or is long over.
    pub(crate) sale: Option<Arc<CachedSale>>,
}

impl Admitted {
    /// Whether the user can be told that it is sold out without asking Redis.
    pub(crate) fn is_sold_out(&self, user: &UserId, now: Moment) -> bool {
        let of_round = self.sale.as_ref().filter(|cached| cached.round.id.number == self.pass.round);
        of_round.is_some_and(|cached| cached.sold_out.covers(user, now))
    }
}

/// Lets a user through who has a pass, asks no more often than one may, and comes to a sale that is not stopped. Costs no
/// call. Whether the user is denied says the script.
pub(crate) async fn admit(
    deps: &Deps,
    request: &Request,
    token: &str,
    sale: &SaleId,
    user: &UserId,
) -> Result<Admitted, Problem> {
    let ring = deps.keys.ring().await.map_err(|error| unanswered(&error))?;
    let snapshot = deps.snapshots.now().await.map_err(|error| overloaded(error.into()))?;
    let cached = snapshot.sale(sale).cloned();
    if let Some(cached) = &cached {
        cached.demand.count();
    }
    let Ok(pass) = ring.open(token, sale, user, deps.clock.now()) else {
        if !ring.has_sealed(token, sale, user) {
            Box::pin(strike(deps, &snapshot, sale, user)).await;
        }
        return Err(Problem::new(Code::BadToken));
    };
    if snapshot.switches.stop(sale) {
        return Err(Problem::paused());
    }
    limit(deps, request, Route::Reserve, user)?;
    Ok(Admitted { pass, sale: cached })
}

/// Refuses a request that an isolated sale has no turn for. Costs no call otherwise, and one a second in this process if so.
pub(crate) async fn take_turn(deps: &Deps, sale: &CachedSale) -> Result<(), Problem> {
    match sale.take_turn(&deps.stock, Step::Reserve, deps.clock).await.map_err(|error| overloaded(error.into()))? {
        Turn::Now => Ok(()),
        Turn::Later(wait) => Err(Problem::rate_limited(None, wait.as_millis() as u64)),
    }
}

/// Refuses who asks too often, in this process's count.
pub(crate) fn limit(deps: &Deps, request: &Request, route: Route, user: &UserId) -> Result<(), Problem> {
    let ip = client_ip(request).unwrap_or_default();
    deps.limiter.check(route, user, &ip).map_err(|limited| {
        let rate = limited.limits.per_user;
        let policy = RatePolicy { name: limited.limits.name, quota: rate.burst, window_s: rate.per_s };
        Problem::rate_limited(limited.own.then_some(policy), limited.retry_after.as_millis() as u64)
    })
}

/// Counts a pass that was none as a strike, unless the ledger has heard enough of this user.
async fn strike(deps: &Deps, snapshot: &Snapshot, sale: &SaleId, user: &UserId) {
    let door = snapshot.sale(sale).map(|cached| cached.round.terms.door.clone()).unwrap_or_default();
    let now = deps.clock.now();
    if !deps.forgeries.is_to_be_told(user, door.strikes, now) {
        return;
    }
    let struck = fulfilment::strike(&deps.stock, &deps.ledger, user, &Strike::ForgedTokens, &door, now);
    let struck = tokio::time::timeout(STRIKE_TIMEOUT, struck).await;
    match struck.unwrap_or(Err(FulfilmentError::OutOfTime)) {
        Ok(Struck::Denied(until)) => deps.forgeries.note_denied(user, until),
        Ok(Struck::Counted(_)) => {}
        Err(error) => tracing::warn!(error = &error as &dyn std::error::Error, "a strike is not counted"),
    }
}
