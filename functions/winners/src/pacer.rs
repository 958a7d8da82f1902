use std::time::Duration;

use super::sync::{Instant, Mutex, PoisonError, sleep_until};

/// Lets a limited number through each second, evenly spaced. Unused turns are lost.
#[derive(Debug)]
pub(crate) struct Pacer {
    every: Duration,
    next: Mutex<Option<Instant>>,
}

impl Pacer {
    pub(crate) fn per_second(rate: u32) -> Self {
        Self { every: Duration::from_secs(1) / rate.max(1), next: Mutex::default() }
    }

    pub(crate) async fn turn(&self) {
        let at = {
            let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
            let now = Instant::now();
            let at = next.map_or(now, |next| next.max(now));
            *next = Some(at + self.every);
            at
        };
        sleep_until(at).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn no_second_has_more_than_the_rate_and_what_is_not_used_is_lost() {
        let pacer = Pacer::per_second(50);
        let began = Instant::now();
        for _ in 0..100 {
            pacer.turn().await;
        }
        assert_eq!(began.elapsed().as_millis(), 1980, "99 gaps");
        tokio::time::sleep(Duration::from_secs(60)).await;
        let again = Instant::now();
        for _ in 0..50 {
            pacer.turn().await;
        }
        assert_eq!(again.elapsed().as_millis(), 980);
    }
}
