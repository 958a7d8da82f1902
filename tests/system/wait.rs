use crate::prelude::*;

/// How often a condition is checked.
const POLL: Duration = Duration::from_millis(50);
/// From then on a wait is told, so that the output of a test that the runner ends says what it waited for.
const TOLD_AFTER: Duration = Duration::from_secs(2);

/// Waits until `look` returns something. The runner alone limits how long.
pub(crate) async fn until<T>(what: &str, mut look: impl AsyncFnMut() -> Option<T>) -> T {
    let (began, mut is_told) = (Instant::now(), false);
    loop {
        if let Some(found) = look().await {
            return found;
        }
        if !is_told && began.elapsed() > TOLD_AFTER {
            eprintln!("waiting until {what}");
            is_told = true;
        }
        tokio::time::sleep(POLL).await;
    }
}
