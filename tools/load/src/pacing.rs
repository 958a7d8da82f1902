//! The clock of an open loop: says when each request is due and never waits for answers.

use std::time::{Duration, Instant};

use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

/// Shorter sleeps would cost more than the requests: at 10,000 a second, each would wake a thread. So requests due
/// within this time come together, each with the time at which it was due.
const SHORTEST_SLEEP: Duration = Duration::from_micros(250);

/// Starts the clock. Number n comes `due[n]` from now, or at once if that is earlier than the previous one, with the time
/// at which it was due; if the receiver is slow, that is in the past. Dropping the receiver stops the clock.
pub(crate) fn start(due: impl IntoIterator<Item = Duration> + Send + 'static) -> UnboundedReceiver<(usize, Instant)> {
    let start = Instant::now();
    let (send, receive) = unbounded_channel();
    // A thread sleeps with a precision of some microseconds, the runtime's timer of a millisecond.
    std::thread::spawn(move || {
        for (n, after) in due.into_iter().enumerate() {
            let at = start + after;
            let wait = at.saturating_duration_since(Instant::now());
            if !wait.is_zero() {
                std::thread::sleep(wait.max(SHORTEST_SLEEP));
            }
            if send.send((n, at)).is_err() {
                return;
            }
        }
    });
    receive
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn each_comes_when_it_is_due_and_not_before() {
        let start = Instant::now();
        let mut pace = super::start([0, 20, 40].map(Duration::from_millis));
        let mut numbers = Vec::new();
        while let Some((n, due)) = pace.recv().await {
            assert!(Instant::now() >= due && due >= start + Duration::from_millis(20 * n as u64));
            numbers.push(n);
        }
        assert_eq!(numbers, [0, 1, 2]);
    }

    #[tokio::test]
    async fn it_does_not_wait_for_a_slow_caller() {
        let mut pace = super::start([0, 10, 20].map(Duration::from_millis));
        let (_, first) = pace.recv().await.unwrap();
        tokio::time::sleep(Duration::from_millis(100)).await;
        let (_, second) = pace.recv().await.unwrap();
        assert_eq!(second - first, Duration::from_millis(10), "due as planned, however late it is asked for");
    }
}
