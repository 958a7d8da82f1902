use std::time::{Duration, Instant};

/// How often a condition is looked at.
const POLL: Duration = Duration::from_millis(50);

/// Waits until `look` finds what it looks for.
pub(crate) async fn until<T>(what: &str, within_s: u64, mut look: impl AsyncFnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + Duration::from_secs(within_s);
    loop {
        if let Some(found) = look().await {
            return found;
        }
        assert!(Instant::now() < deadline, "not within {within_s} s: {what}");
        tokio::time::sleep(POLL).await;
    }
}
