use gate::{Rate, Route, Visitor};
use stock::{Applicant, GcraLimit};

/// Who asks, with the rates of the route, which Redis counts with the call that is made anyway.
pub(crate) fn applicant<'a>(visitor: &'a Visitor, ip: &'a str, route: Route) -> Applicant<'a> {
    let limits = route.limits();
    Applicant { user: &visitor.user, ip, per_user: gcra(limits.per_user), per_ip: gcra(limits.per_ip) }
}

fn gcra(rate: Rate) -> GcraLimit {
    GcraLimit { emission_interval_us: rate.interval_us(), burst: rate.burst }
}
