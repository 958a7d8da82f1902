use gate::{Rate, Route, Visitor};
use stock::{Applicant, GcraLimit};

/// The applicant for `admit.lua`, with the route's rates: the script counts requests in the call that is made anyway.
pub(crate) fn applicant<'a>(visitor: &'a Visitor, ip: &'a str, route: Route) -> Applicant<'a> {
    let limits = route.limits();
    Applicant { user: &visitor.user, ip, per_user: gcra(limits.per_user), per_ip: gcra(limits.per_ip) }
}

fn gcra(rate: Rate) -> GcraLimit {
    GcraLimit { emission_interval_us: rate.interval_us(), burst: rate.burst }
}
