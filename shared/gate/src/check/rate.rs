use api::{Problem, client_ip};
use lambda_http::Request;
use sale::UserId;

use crate::{Gate, Route};

/// Stands for the address of a request that did not come through the gateway: they count as one.
const NO_ADDRESS: &str = "none";

impl Gate<'_> {
    /// Refuses who asks too often, in this process's count: the one check of requests that are not about a sale.
    ///
    /// # Errors
    /// [`RateLimited`](api::Code::RateLimited).
    pub fn limit(&self, request: &Request, route: Route, user: &UserId) -> Result<(), Problem> {
        let limited = self.counts.limiter.check(route, user, &address(request));
        limited.map_err(|limited| route.refusal(limited.own, limited.retry_after.as_millis() as u64))
    }
}

/// Where a request came from, as rates count it.
pub fn address(request: &Request) -> String {
    client_ip(request).unwrap_or_else(|| NO_ADDRESS.to_owned())
}
