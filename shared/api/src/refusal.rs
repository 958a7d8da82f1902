use std::error::Error;

use runtime::breaker::{Corrupt, Open};
use sale::EpochMs;

use crate::{Code, Problem};

/// Seconds after which a client may ask again when a part of the system did not answer.
const RETRY_AFTER_S: u32 = 2;

/// Seconds after which a client may ask again while operators have paused or stopped a sale.
const PAUSED_RETRY_AFTER_S: u32 = 10;
/// Seconds after which a client may ask again while Redis is being refilled: its request is what refills it.
const RESTORED_AFTER_S: u32 = 1;
/// Seconds after which a client may ask again for a reservation that only the queue may have.
const RESTORING_RETRY_AFTER_S: u32 = 15;
/// The longest `Retry-After` before an opening or a drop, in seconds: clocks drift, and both times can change.
const MAX_RETRY_AFTER_S: u64 = 300;

impl Problem {
    /// [`Code::Overloaded`]: a part of the system did not answer in time. [`Code::Internal`], which asks nobody to try
    /// again, if what it holds is corrupt. Logs the reason, unless a circuit breaker is open: the breaker has logged it
    /// once already, and a line for each request of a crowd would not help.
    pub fn unanswered(error: impl Error + 'static) -> Self {
        let error: &(dyn Error + 'static) = &error;
        if is_caused_by::<Corrupt>(error) {
            tracing::error!(error, "what is kept cannot be right");
            return Self::new(Code::Internal);
        }
        if !is_caused_by::<Open>(error) {
            tracing::error!(error, "a part of the system did not answer");
        }
        Self::new(Code::Overloaded).retry_after_s(RETRY_AFTER_S)
    }

    /// [`Code::NotOpen`], with the opening time.
    pub fn not_open(opens_at: EpochMs, now: EpochMs) -> Self {
        Self::new(Code::NotOpen).with("opens_at", opens_at.to_string()).retry_after_s(retry_after_s(opens_at, now))
    }

    /// [`Code::SoldOut`], with the time at which the next units become available, if known.
    pub fn sold_out(next_release: Option<EpochMs>, now: EpochMs) -> Self {
        let problem = Self::new(Code::SoldOut);
        let Some(at) = next_release else { return problem };
        problem.with("next_release_at", at.to_string()).retry_after_s(retry_after_s(at, now))
    }

    pub fn paused() -> Self {
        Self::new(Code::Paused).retry_after_s(PAUSED_RETRY_AFTER_S)
    }

    /// Redis lost the round and is being filled again from the ledger.
    pub fn restoring() -> Self {
        Self::new(Code::Overloaded).detail("the sale is being restored").retry_after_s(RESTORED_AFTER_S)
    }

    /// Redis lost the round, and the reservation may still be in the queue.
    pub fn restoring_reservations() -> Self {
        Self::restoring().retry_after_s(RESTORING_RETRY_AFTER_S)
    }
}

fn retry_after_s(at: EpochMs, now: EpochMs) -> u32 {
    at.since_ms(now).div_ceil(1000).clamp(1, MAX_RETRY_AFTER_S) as u32
}

fn is_caused_by<E: Error + 'static>(error: &(dyn Error + 'static)) -> bool {
    std::iter::successors(Some(error), |&cause| cause.source()).any(|cause| cause.is::<E>())
}

#[cfg(test)]
mod tests {
    use std::fmt;
    use std::sync::Arc;

    use super::*;

    #[derive(Debug)]
    struct Because<E>(E);

    impl<E> fmt::Display for Because<E> {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("no answer")
        }
    }

    impl<E: Error + 'static> Error for Because<E> {
        fn source(&self) -> Option<&(dyn Error + 'static)> {
            Some(&self.0)
        }
    }

    #[test]
    fn an_open_breaker_is_found_in_what_it_caused() {
        assert!(is_caused_by::<Open>(&Open));
        assert!(is_caused_by::<Open>(&Arc::new(Because(Because(Open)))));
        assert!(!is_caused_by::<Open>(&Because(fmt::Error)));
    }

    #[test]
    fn sold_out_says_when_more_comes() {
        assert!(!Problem::sold_out(None, EpochMs(0)).into_response().headers().contains_key("retry-after"));
        for (at_ms, retry_after) in [(0, "1"), (1, "1"), (1000, "1"), (1001, "2"), (3_600_000, "300")] {
            let response = Problem::sold_out(Some(EpochMs(at_ms)), EpochMs(0)).into_response();
            assert_eq!(response.headers()["retry-after"], retry_after);
            let body: serde_json::Value = serde_json::from_slice(response.body()).unwrap();
            assert_eq!(body["code"], "sold_out");
            assert_eq!(body["next_release_at"], EpochMs(at_ms).to_string());
        }
    }

    #[test]
    fn whoever_gets_no_answer_hears_when_to_try_again() {
        for problem in [Problem::unanswered(Open), Problem::unanswered(fmt::Error)] {
            let response = problem.into_response();
            assert_eq!(response.status(), Code::Overloaded.status());
            assert_eq!(response.headers()["retry-after"], "2");
        }
        let for_good = Problem::unanswered(Arc::new(Because(Corrupt))).into_response();
        assert_eq!(for_good.status(), Code::Internal.status());
        assert!(!for_good.headers().contains_key("retry-after"), "what is corrupt stays so");
    }
}
