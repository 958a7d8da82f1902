use api::{Problem, client_ip, client_network};
use lambda_http::Request;
use sale::UserId;

use crate::{Gate, Route};

/// Stands for the address of requests that did not come through the gateway.
const NO_ADDRESS: &str = "none";

impl Gate<'_> {
    /// Checks the rates of the user and the address, as this process counts them. It is the only check for requests
    /// that are not about a sale. Fails with [`RateLimited`](api::Code::RateLimited).
    pub fn limit(&self, request: &Request, route: Route, user: &UserId) -> Result<(), Problem> {
        let limited = self.counts.limiter.check(route, user, client_network(request));
        limited.map_err(|limited| route.refusal(limited.own, limited.retry_after.as_millis() as u64))
    }
}

/// The client's address in the form that the rates count.
pub fn address(request: &Request) -> String {
    client_ip(request).unwrap_or_else(|| NO_ADDRESS.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_address_is_counted_by_itself() {
        let request = |from: &str| {
            let event = format!(
                r#"{{"version":"2.0","rawPath":"/","headers":{{}},
                    "requestContext":{{"http":{{"method":"GET","path":"/"{from}}}}}}}"#
            );
            lambda_http::request::from_str(&event).unwrap()
        };
        let addresses = [r#","sourceIp":"203.0.113.7""#, r#","sourceIp":"2001:db8:1:2:3:4:5:6""#, ""];
        let addresses = addresses.map(|from| address(&request(from)));
        assert_eq!(addresses, ["203.0.113.7", "2001:db8:1:2::/64", NO_ADDRESS]);
    }
}
