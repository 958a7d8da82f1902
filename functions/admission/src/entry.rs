use std::sync::Arc;

use api::{Code, Problem, RatePolicy, caller, client_ip};
use door::{Rate, Route};
use fulfilment::FulfilmentError;
use lambda_http::Request;
use process::{CachedSale, Step, Turn};
use sale::{EpochMs, Round, SaleId, UserId};
use stock::{Applicant, GcraLimit, RateLimited};

use crate::{Deps, overloaded};

/// Stands for the addresses of requests that did not come through the gateway: they count as one.
const NO_ADDRESS: &str = "none";

/// Who asks for what, once it is known that the sale is there and that nothing is stopped.
pub(crate) struct Entry {
    pub(crate) user: UserId,
    pub(crate) ip: String,
    pub(crate) cached: Arc<CachedSale>,
}

impl Entry {
    pub(crate) async fn of(deps: &Deps, request: &Request, sale: &str) -> Result<Self, Problem> {
        let caller = caller(request)?;
        let sale: SaleId = sale.parse().map_err(|error: sale::InvalidId| Problem::invalid(error.to_string()))?;
        let unread = |error| overloaded(&FulfilmentError::from(error));
        let mut snapshot = deps.snapshots.now().await.map_err(unread)?;
        if snapshot.sale(&sale).is_none() {
            // It may have been published since.
            snapshot = Box::pin(deps.snapshots.lately()).await.map_err(unread)?;
        }
        let cached = snapshot.sale(&sale).ok_or_else(|| Problem::new(Code::UnknownSale))?;
        cached.demand.count();
        if snapshot.switches.stop(&sale) {
            return Err(Problem::paused());
        }
        let ip = client_ip(request).unwrap_or_else(|| NO_ADDRESS.to_owned());
        Ok(Self { user: caller.user, ip, cached: Arc::clone(cached) })
    }

    /// Refuses a request that an isolated sale has no turn for.
    pub(crate) async fn take_turn(&self, deps: &Deps, step: Step) -> Result<(), Problem> {
        match self.cached.take_turn(&deps.stock, step, deps.clock).await.map_err(|error| overloaded(&error))? {
            Turn::Now => Ok(()),
            Turn::Later(wait) => Err(Problem::rate_limited(None, wait.as_millis() as u64)),
        }
    }

    pub(crate) fn round(&self) -> &Round {
        &self.cached.round
    }

    pub(crate) fn applicant(&self, route: Route) -> Applicant<'_> {
        let limits = route.limits();
        Applicant { user: &self.user, ip: &self.ip, per_user: gcra(limits.per_user), per_ip: gcra(limits.per_ip) }
    }

    /// Redis does not have the round: it is not loaded yet, is over, or is lost and will be back.
    pub(crate) fn not_in_redis(&self, now: EpochMs) -> Problem {
        let terms = &self.round().terms;
        if now >= terms.closes_at_ms {
            Problem::new(Code::Closed)
        } else if now < terms.opens_at_ms {
            Problem::not_open(terms.opens_at_ms, now)
        } else {
            Problem::restoring()
        }
    }
}

pub(crate) fn rate_limited(route: Route, limited: RateLimited) -> Problem {
    let limits = route.limits();
    let Rate { burst, per_s } = limits.per_user;
    let own = limited.own.then_some(RatePolicy { name: limits.name, quota: burst, window_s: per_s });
    Problem::rate_limited(own, limited.retry_after_ms)
}

fn gcra(rate: Rate) -> GcraLimit {
    GcraLimit { emission_interval_us: rate.interval_us(), burst: rate.burst }
}
