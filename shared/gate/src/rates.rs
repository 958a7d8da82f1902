use api::{Problem, RatePolicy};

/// What is asked for often.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Route {
    /// Asks for a challenge.
    Challenge,
    /// Answers a challenge.
    Token,
    /// Reserves a unit.
    Reserve,
    /// Looks at a reservation.
    Look,
    /// Lists orders.
    Orders,
    /// Gives a reservation back.
    Cancel,
    /// Looks at a reservation and has its order made at once.
    Expedite,
}

/// So many requests at once, and as many again spread over so many seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rate {
    /// Requests that may come at once.
    pub burst: u32,
    /// Seconds over which as many may come again.
    pub per_s: u32,
}

impl Rate {
    /// Microseconds after which one more request may come.
    pub const fn interval_us(self) -> u32 {
        self.per_s * 1_000_000 / self.burst
    }

    const fn is_sound(self) -> bool {
        self.burst > 0 && self.per_s > 0 && self.per_s <= 3_600 && self.interval_us() > 0
    }
}

/// How often one route may be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The route.
    pub route: Route,
    /// What clients see the limit as.
    pub name: &'static str,
    /// By one user.
    pub per_user: Rate,
    /// From one address. Many people can be behind one: an office, or a good part of a mobile network.
    pub per_ip: Rate,
}

/// Every limit. A person who retries by hand, or a client that obeys `Retry-After`, stays below those of a user.
pub const RATES: [Limits; 7] = [
    // Redis counts these two together, with the call that each makes anyway: for all processes. The others would each cost a
    // call, so every process counts for itself what it sees.
    Limits {
        route: Route::Challenge,
        name: "challenge",
        per_user: Rate { burst: 20, per_s: 60 },
        per_ip: Rate { burst: 1_200, per_s: 60 },
    },
    Limits {
        route: Route::Token,
        name: "token",
        per_user: Rate { burst: 20, per_s: 60 },
        per_ip: Rate { burst: 1_200, per_s: 60 },
    },
    Limits {
        route: Route::Reserve,
        name: "reserve",
        per_user: Rate { burst: 20, per_s: 10 },
        per_ip: Rate { burst: 2_000, per_s: 10 },
    },
    Limits {
        route: Route::Look,
        name: "look",
        per_user: Rate { burst: 30, per_s: 15 },
        per_ip: Rate { burst: 2_000, per_s: 10 },
    },
    Limits {
        route: Route::Orders,
        name: "orders",
        per_user: Rate { burst: 20, per_s: 60 },
        per_ip: Rate { burst: 600, per_s: 60 },
    },
    Limits {
        route: Route::Cancel,
        name: "cancel",
        per_user: Rate { burst: 20, per_s: 60 },
        per_ip: Rate { burst: 600, per_s: 60 },
    },
    // An order past the queue, and past what the queue lets through at once: seldom more than one for each reservation.
    Limits {
        route: Route::Expedite,
        name: "expedite",
        per_user: Rate { burst: 5, per_s: 60 },
        per_ip: Rate { burst: 60, per_s: 60 },
    },
];

impl Route {
    /// Its limits.
    pub const fn limits(self) -> &'static Limits {
        &RATES[self as usize]
    }

    /// What is said to who asks too often. A user hears the own rate; what an address or everybody has is not told.
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
    let mut i = 0;
    while i < RATES.len() {
        let Limits { route, per_user, per_ip, .. } = RATES[i];
        assert!(route as usize == i, "a route's limits are at its place");
        assert!(per_user.is_sound() && per_ip.is_sound());
        assert!(per_ip.interval_us() < per_user.interval_us(), "an address stands for many users");
        i += 1;
    }
};
