use std::time::{Duration, Instant};

/// How often a condition is checked.
const POLL: Duration = Duration::from_millis(50);

/// How much longer than on an idle machine anything may take. The bound only ends a test that would hang.
const BUSY: u64 = 6;

/// Waits until `look` returns something. On an idle machine that takes `within_s` seconds at most.
pub(crate) async fn until<T>(what: &str, within_s: u64, mut look: impl AsyncFnMut() -> Option<T>) -> T {
    let within_s = within_s * BUSY;
    let deadline = Instant::now() + Duration::from_secs(within_s);
    loop {
        if let Some(found) = look().await {
            return found;
        }
        assert!(Instant::now() < deadline, "not within {within_s} s: {what}");
        tokio::time::sleep(POLL).await;
    }
}
