use api::{Problem, RatePolicy};
use sale::UserId;
use stock::{Applicant, GcraLimit};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Route {
    Challenge,
    Token,
    Reserve,
    Poll,
    Orders,
    Cancel,
    /// Polling a reservation and having its order written at once.
    Expedite,
    /// Listing or looking at sales that not everybody may see.
    Members,
    Ticket,
}

/// A rate: a burst of requests at once, then the same number spread over `per_s` seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rate {
    pub burst: u32,
    pub per_s: u32,
}

impl Rate {
    /// Microseconds between two requests in the long run.
    pub const fn interval_us(self) -> u32 {
        self.per_s * 1_000_000 / self.burst
    }

    const fn gcra(self) -> GcraLimit {
        GcraLimit { emission_interval_us: self.interval_us(), burst: self.burst }
    }

    const fn is_sound(self) -> bool {
        self.burst > 0 && self.per_s > 0 && self.per_s <= 3_600 && self.interval_us() > 0
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    pub route: Route,
    /// The limit's name in `RateLimit-Policy`.
    pub name: &'static str,
    pub per_user: Rate,
    /// For one address. Many people can share one: an office, or a good part of a mobile network.
    pub per_ip: Rate,
}

/// All limits. A person who retries by hand, or a client that obeys `Retry-After`, stays below the user's limits.
///
/// Challenges and tokens share one count in Redis, over all processes, since each of them calls Redis anyway. Counting
/// the other routes there would cost an extra call, so every process counts for itself.
pub const RATES: [Limits; 9] = [
    // route, name, for one user, for one address
    limits(Route::Challenge, "challenge", rate(20, 60), rate(1_200, 60)),
    limits(Route::Token, "token", rate(20, 60), rate(1_200, 60)),
    limits(Route::Reserve, "reserve", rate(20, 10), rate(2_000, 10)),
    // Twenty tabs that poll as often as the answers tell them to. During a rush each poll costs a call to Redis.
    limits(Route::Poll, "poll", rate(200, 10), rate(2_000, 10)),
    limits(Route::Orders, "orders", rate(20, 60), rate(600, 60)),
    limits(Route::Cancel, "cancel", rate(20, 60), rate(600, 60)),
    // Bypasses the queue and its limit on concurrency, so it is meant for about one request per reservation.
    limits(Route::Expedite, "expedite", rate(5, 60), rate(60, 60)),
    // As often as a page polls a sale's card. No cache stands in front.
    limits(Route::Members, "members", rate(120, 60), rate(1_200, 60)),
    // One is enough; a second tab or device asks again. A million people come within an hour, many of them through one
    // mobile network.
    limits(Route::Ticket, "ticket", rate(20, 60), rate(6_000, 60)),
];

const fn limits(route: Route, name: &'static str, per_user: Rate, per_ip: Rate) -> Limits {
    Limits { route, name, per_user, per_ip }
}

const fn rate(burst: u32, per_s: u32) -> Rate {
    Rate { burst, per_s }
}

impl Route {
    pub const fn limits(self) -> &'static Limits {
        &RATES[self as usize]
    }

    /// A user at an address, with the route's rates: `admit.lua` counts requests in the call that is made anyway.
    pub const fn applicant<'a>(self, user: &'a UserId, ip: &'a str) -> Applicant<'a> {
        let Limits { per_user, per_ip, .. } = self.limits();
        Applicant { user, ip, per_user: per_user.gcra(), per_ip: per_ip.gcra() }
    }

    /// The problem for a client over the limit. It only names the rate if that is the user's `own`; the limits of an
    /// address and of everybody stay private.
    pub fn refusal(self, own: bool, retry_after_ms: u64) -> Problem {
        let Limits { name, per_user: Rate { burst, per_s }, .. } = *self.limits();
        let policy = RatePolicy { name, quota: burst, window_s: per_s };
        Problem::rate_limited(own.then_some(policy), retry_after_ms)
    }
}

const _: () = {
    let (challenge, token) = (Route::Challenge.limits(), Route::Token.limits());
    assert!(challenge.per_user.interval_us() == token.per_user.interval_us(), "one count has one rate");
    assert!(challenge.per_ip.interval_us() == token.per_ip.interval_us(), "one count has one rate");
    assert!(challenge.per_ip.burst >= 1_200, "a good part of a mobile network can ask at once");
    let mut i = 0;
    while i < RATES.len() {
        let Limits { route, per_user, per_ip, .. } = RATES[i];
        assert!(route as usize == i, "the limits are in the order of the routes");
        assert!(per_user.is_sound() && per_ip.is_sound());
        assert!(per_ip.interval_us() < per_user.interval_us(), "an address stands for many users");
        i += 1;
    }
};
