/// What is asked for often.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Route {
    /// `POST /v1/sales/{sale_id}/challenges`
    Challenge,
    /// `POST /v1/sales/{sale_id}/tokens`
    Token,
    /// `POST /v1/sales/{sale_id}/reservations/{token}`
    Reserve,
    /// `GET /v1/reservations/{reservation_id}`
    Look,
    /// `GET /v1/orders`
    Orders,
    /// `DELETE /v1/reservations/{reservation_id}`
    Cancel,
    /// `GET /v1/reservations/{reservation_id}?expedite=true`
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

/// Where requests are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Counted {
    /// In Redis, with the call that the request makes anyway: exact, for all processes together.
    InRedis,
    /// In the process, before any call, since it would otherwise cost one: each process counts what it sees.
    InProcess,
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
    /// Where it is counted.
    pub counted: Counted,
}

/// Every limit. A person who retries by hand, or a client that obeys `Retry-After`, stays below those of a user.
pub const RATES: [Limits; 7] = [
    // Redis counts these two together.
    Limits {
        route: Route::Challenge,
        name: "challenge",
        per_user: Rate { burst: 20, per_s: 60 },
        per_ip: Rate { burst: 1_200, per_s: 60 },
        counted: Counted::InRedis,
    },
    Limits {
        route: Route::Token,
        name: "token",
        per_user: Rate { burst: 20, per_s: 60 },
        per_ip: Rate { burst: 1_200, per_s: 60 },
        counted: Counted::InRedis,
    },
    Limits {
        route: Route::Reserve,
        name: "reserve",
        per_user: Rate { burst: 20, per_s: 10 },
        per_ip: Rate { burst: 2_000, per_s: 10 },
        counted: Counted::InProcess,
    },
    Limits {
        route: Route::Look,
        name: "look",
        per_user: Rate { burst: 30, per_s: 15 },
        per_ip: Rate { burst: 2_000, per_s: 10 },
        counted: Counted::InProcess,
    },
    Limits {
        route: Route::Orders,
        name: "orders",
        per_user: Rate { burst: 20, per_s: 60 },
        per_ip: Rate { burst: 600, per_s: 60 },
        counted: Counted::InProcess,
    },
    Limits {
        route: Route::Cancel,
        name: "cancel",
        per_user: Rate { burst: 20, per_s: 60 },
        per_ip: Rate { burst: 600, per_s: 60 },
        counted: Counted::InProcess,
    },
    // An order past the queue, and past what the queue lets through at once: seldom more than one for each reservation.
    Limits {
        route: Route::Expedite,
        name: "expedite",
        per_user: Rate { burst: 5, per_s: 60 },
        per_ip: Rate { burst: 60, per_s: 60 },
        counted: Counted::InProcess,
    },
];

impl Route {
    /// Its limits.
    pub const fn limits(self) -> &'static Limits {
        &RATES[self as usize]
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
