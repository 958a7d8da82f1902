use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hash};
use std::num::NonZeroU32;
use std::time::Duration;

use governor::clock::{Clock, Reference};
use governor::middleware::NoOpMiddleware;
use governor::{Quota, RateLimiter};
use runtime::OncePerSpan;
use sale::UserId;

use crate::bounded::{Bounded, MAX_KEYS};
use crate::waking_clock::WakingClock;
use crate::{Limits, RATES, Rate, Route};

/// In each span of this length, a full map is searched at most once for keys to drop. The search takes as long as some
/// hundred requests, and in a rush the map is full all the time.
const SEARCH_EVERY: Duration = Duration::from_millis(100);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limited {
    /// Whether the user's own limit was exceeded rather than the address's.
    pub own: bool,
    pub retry_after: Duration,
}

/// Limits the requests of each user and address, counted in this process only.
pub struct Limiter<C: Clock = WakingClock> {
    routes: [Counters<C>; RATES.len()],
}

struct Counters<C: Clock> {
    users: Keyed<C>,
    addresses: Keyed<C>,
}

struct Keyed<C: Clock> {
    limiter: RateLimiter<u64, Bounded, C, NoOpMiddleware<C::Instant>>,
    /// Two keys with the same hash share a rate. Nobody outside can tell which would.
    seed: RandomState,
    began: C::Instant,
    /// When a full map was searched, in spans from `began`.
    searched: OncePerSpan,
}

impl Default for Limiter {
    fn default() -> Self {
        Self::new(&WakingClock::new(runtime::Clock::system()))
    }
}

impl<C: Clock + Clone> Limiter<C> {
    pub fn new(clock: &C) -> Self {
        let counters = |limits: Limits| Counters {
            users: Keyed::new(limits.per_user, clock),
            addresses: Keyed::new(limits.per_ip, clock),
        };
        Self { routes: RATES.map(counters) }
    }

    /// Counts a request if it is within the limits. A request over the user's limit does not count for the address.
    /// Fails with [`Limited`] if it is over a limit.
    pub fn check(&self, route: Route, user: &UserId, address: impl Hash) -> Result<(), Limited> {
        self.check_user(route, user)?;
        let counted = self.routes[route as usize].addresses.check(address);
        counted.map_err(|retry_after| Limited { own: false, retry_after })
    }

    /// Counts a request by user only, for when the client's address is unknown. Fails with [`Limited`] if it is over
    /// the user's limit.
    pub fn check_user(&self, route: Route, user: &UserId) -> Result<(), Limited> {
        let counted = self.routes[route as usize].users.check(user.as_str());
        counted.map_err(|retry_after| Limited { own: true, retry_after })
    }
}

impl<C: Clock + Clone> Keyed<C> {
    fn new(rate: Rate, clock: &C) -> Self {
        let interval = Duration::from_micros(rate.interval_us().into());
        let burst = NonZeroU32::new(rate.burst).unwrap_or(NonZeroU32::MIN);
        let quota = Quota::with_period(interval).unwrap_or(Quota::per_second(burst)).allow_burst(burst);
        Self {
            limiter: RateLimiter::new(quota, Bounded::default(), clock.clone()),
            seed: RandomState::new(),
            began: clock.now(),
            searched: OncePerSpan::new(),
        }
    }

    fn check(&self, key: impl Hash) -> Result<(), Duration> {
        if self.limiter.len() >= MAX_KEYS && self.is_to_search() {
            self.limiter.retain_recent();
        }
        let not_until = self.limiter.check_key(&self.seed.hash_one(key));
        not_until.map_err(|not_until| not_until.wait_time_from(self.limiter.clock().now()))
    }

    fn is_to_search(&self) -> bool {
        let since_ns = self.limiter.clock().now().duration_since(self.began).as_u64();
        self.searched.take(since_ns / SEARCH_EVERY.as_nanos() as u64)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicI64, Ordering};

    use governor::clock::FakeRelativeClock;

    use super::*;

    fn user(name: impl ToString) -> UserId {
        name.to_string().parse().unwrap()
    }

    #[test]
    fn a_user_has_a_burst_and_then_waits_as_told() {
        let clock = FakeRelativeClock::default();
        let limiter = Limiter::new(&clock);
        let alice = user("alice");
        for limits in &RATES {
            let check = || limiter.check(limits.route, &alice, "192.0.2.1");
            for _ in 0..limits.per_user.burst {
                assert_eq!(check(), Ok(()));
            }
            let limited = check().unwrap_err();
            assert!(limited.own);
            assert!(limited.retry_after <= Duration::from_micros(limits.per_user.interval_us().into()));
            assert_eq!(limiter.check(limits.route, &user("bob"), "192.0.2.1"), Ok(()), "another user may");
            clock.advance(limited.retry_after);
            assert_eq!(check(), Ok(()), "{}", limits.name);
            assert!(check().is_err());
            assert_eq!(limiter.check_user(limits.route, &alice).map_err(|limited| limited.own), Err(true));
            assert_eq!(limiter.check_user(limits.route, &user("carol")), Ok(()));
        }
    }

    #[test]
    fn a_freeze_counts_as_time() {
        let moved_ms: &AtomicI64 = Box::leak(Box::default());
        let limiter = Limiter::new(&WakingClock::new(runtime::Clock::moved_by_ms(moved_ms)));
        let (alice, limits) = (user("alice"), Route::Reserve.limits());
        let taken = || (0..=limits.per_user.burst).take_while(|_| limiter.check(Route::Reserve, &alice, "a").is_ok());
        assert_eq!(taken().count(), limits.per_user.burst as usize);
        // The wall clock only has milliseconds.
        let frozen_ms = i64::from(limits.per_user.per_s) * 1000 + 1;
        moved_ms.store(frozen_ms, Ordering::Relaxed);
        assert_eq!(taken().count(), limits.per_user.burst as usize, "the full burst is allowed again");
        moved_ms.store(-3_600_000, Ordering::Relaxed);
        assert!(limiter.check(Route::Reserve, &alice, "a").is_err(), "setting the clock back costs her nothing");
        moved_ms.store(frozen_ms * 2, Ordering::Relaxed);
        assert!(limiter.check(Route::Reserve, &alice, "a").is_ok());
    }

    #[test]
    fn without_a_freeze_time_passes_once() {
        let (began, clock) = (std::time::Instant::now(), WakingClock::new(runtime::Clock::system()));
        while began.elapsed() < Duration::from_millis(50) {
            std::thread::yield_now();
        }
        let now = Duration::from_nanos(clock.now().as_u64());
        // The wall clock only has milliseconds.
        assert!(now <= began.elapsed() + Duration::from_millis(2), "{now:?}");
    }

    #[test]
    fn an_address_has_a_rate_of_its_own() {
        let limiter = Limiter::new(&FakeRelativeClock::default());
        let burst = Route::Cancel.limits().per_ip.burst;
        for i in 0..burst {
            assert_eq!(limiter.check(Route::Cancel, &user(i), "192.0.2.1"), Ok(()));
        }
        assert!(limiter.check(Route::Cancel, &user(burst), "192.0.2.1").is_err());
        assert_eq!(limiter.check(Route::Cancel, &user(burst), "192.0.2.2"), Ok(()));
        assert_eq!(limiter.check(Route::Orders, &user(0), "192.0.2.1"), Ok(()), "each route is counted separately");
    }

    #[test]
    fn the_number_of_keys_is_bounded_and_old_ones_make_room() {
        let clock = FakeRelativeClock::default();
        let keyed = Keyed::new(Rate { burst: 1, per_s: 10 }, &clock);
        for i in 0..=MAX_KEYS {
            assert_eq!(keyed.check(i), Ok(()));
        }
        assert_eq!(keyed.limiter.len(), MAX_KEYS);
        assert!(keyed.check(0_usize).is_err(), "a counted key stays counted");
        assert_eq!(keyed.check(MAX_KEYS + 1), Ok(()));
        assert_eq!(keyed.check(MAX_KEYS + 1), Ok(()), "a key without room passes");
        clock.advance(Duration::from_secs(21));
        assert_eq!(keyed.check(MAX_KEYS + 1), Ok(()));
        assert!(keyed.check(MAX_KEYS + 1).is_err());
        assert_eq!(keyed.limiter.len(), 1);
    }

    #[test]
    fn who_was_counted_lately_stays_counted_when_old_keys_are_dropped() {
        let clock = FakeRelativeClock::default();
        let keyed = Keyed::new(Rate { burst: 1, per_s: 1 }, &clock);
        for i in 1..MAX_KEYS {
            assert_eq!(keyed.check(i), Ok(()));
        }
        clock.advance(Duration::from_secs(3));
        assert_eq!(keyed.check(0_usize), Ok(()));
        clock.advance(Duration::from_millis(100));
        assert_eq!(keyed.check(MAX_KEYS), Ok(()));
        assert_eq!(keyed.limiter.len(), 2);
        assert!(keyed.check(0_usize).is_err());
    }

    #[test]
    fn a_full_map_is_not_searched_for_every_request() {
        let clock = FakeRelativeClock::default();
        let keyed = Keyed::new(Rate { burst: 1_000, per_s: 1 }, &clock);
        let fill = || (0..MAX_KEYS).for_each(|i| assert_eq!(keyed.check(i), Ok(())));
        clock.advance(SEARCH_EVERY);
        fill();
        clock.advance(SEARCH_EVERY);
        assert_eq!(keyed.check("sweeps"), Ok(()));
        assert_eq!(keyed.limiter.len(), 1);
        fill();
        clock.advance(SEARCH_EVERY / 2);
        assert_eq!(keyed.check("does not"), Ok(()));
        assert_eq!(keyed.limiter.len(), MAX_KEYS, "what was kept is old, but was searched a moment ago");
        clock.advance(SEARCH_EVERY / 2);
        assert_eq!(keyed.check("sweeps again"), Ok(()));
        assert_eq!(keyed.limiter.len(), 1);
    }
}
