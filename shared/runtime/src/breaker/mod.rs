//! A circuit breaker: while a part does not answer, calls to it fail at once instead of waiting for a timeout.

mod sync;
mod watch;

use std::sync::Arc;

use crate::breaker::watch::{Change, Watch};
use crate::cache::Clock;

/// The circuit breaker in front of all calls to one part. Clones share it.
#[derive(Debug, Clone)]
pub struct Breaker {
    part: &'static str,
    watch: Arc<Watch>,
    clock: Clock,
}

/// The breaker is open: the call was not made. Who finds this among an error's sources need not log it: it is logged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("its breaker is open")]
pub struct Open;

/// What a part holds can never have been right: asking again does not help. Callers find it among an error's sources.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("asking again does not help")]
pub struct Corrupt;

#[derive(Debug)]
pub enum Broken<E> {
    Open,
    Failed(E),
}

impl Breaker {
    /// In front of `part`, which answers as far as anybody knows.
    pub fn new(part: &'static str, clock: Clock) -> Self {
        Self { part, watch: Arc::default(), clock }
    }

    /// Makes a call, unless the breaker is open. `unanswered` says which errors mean that the part did not answer.
    /// Fails with [`Broken::Open`] if the breaker is open, [`Broken::Failed`] with the call's own error.
    pub async fn call<T, E>(
        &self,
        unanswered: impl Fn(&E) -> bool,
        call: impl Future<Output = Result<T, E>>,
    ) -> Result<T, Broken<E>> {
        let Some(begun) = self.watch.begin(self.clock) else { return Err(Broken::Open) };
        let result = call.await;
        match begun.end(result.as_ref().map_or_else(|error| !unanswered(error), |_| true)) {
            Change::None => {}
            Change::Opened => {
                tracing::error!(part = self.part, "the part does not answer; its circuit breaker opens")
            }
            Change::Closed => tracing::info!(part = self.part, "the part answers again; its circuit breaker closes"),
        }
        result.map_err(Broken::Failed)
    }
}

#[cfg(test)]
mod tests {
    use std::future::{pending, ready};
    use std::sync::atomic::{AtomicI64, Ordering};
    use std::time::Duration;

    use tokio::time::advance;

    use super::*;
    use crate::breaker::watch::{WAIT, WINDOW};

    const SILENCE: &str = "no answer";

    async fn ask(breaker: &Breaker, result: Result<(), &'static str>) -> Result<(), Broken<&'static str>> {
        breaker.call(|error| *error == SILENCE, ready(result)).await
    }

    /// Makes calls without an answer until one is refused. Returns how many that took.
    async fn silence(breaker: &Breaker) -> usize {
        for calls in 0..1000 {
            if matches!(ask(breaker, Err(SILENCE)).await, Err(Broken::Open)) {
                return calls;
            }
        }
        panic!("every call is let through")
    }

    #[tokio::test(start_paused = true)]
    async fn a_silent_part_is_left_alone_after_a_few_calls() {
        let breaker = Breaker::new("a part", Clock::system());
        assert!(silence(&breaker).await <= WINDOW + 1);
        assert!(matches!(ask(&breaker, Ok(())).await, Err(Broken::Open)), "though it would answer");
    }

    #[tokio::test(start_paused = true)]
    async fn errors_that_are_answers_do_not_count() {
        let breaker = Breaker::new("a part", Clock::system());
        for _ in 0..100 {
            assert!(matches!(ask(&breaker, Err("no such thing")).await, Err(Broken::Failed(_))));
        }
        ask(&breaker, Ok(())).await.unwrap();
    }

    /// The first calls of a process, or those after it was open: only then does an answer complete the number.
    #[tokio::test(start_paused = true)]
    async fn an_answer_does_not_open_it() {
        let breaker = Breaker::new("a part", Clock::system());
        for _ in 0..WINDOW / 2 {
            assert!(matches!(ask(&breaker, Err(SILENCE)).await, Err(Broken::Failed(_))));
        }
        for _ in 0..WINDOW {
            ask(&breaker, Ok(())).await.unwrap();
        }
    }

    #[tokio::test(start_paused = true)]
    async fn one_call_tries_and_its_answer_lets_everybody_in() {
        let breaker = Breaker::new("a part", Clock::system());
        silence(&breaker).await;
        advance(WAIT + Duration::from_millis(1)).await;
        {
            let mut hanging = Box::pin(breaker.call(|_: &&str| true, pending::<Result<(), _>>()));
            assert!(is_pending(&mut hanging).await);
            assert!(matches!(ask(&breaker, Ok(())).await, Err(Broken::Open)), "another one is trying");
        }
        // A caller that gives up its trial call leaves it to the next caller.
        ask(&breaker, Ok(())).await.unwrap();
        for _ in 0..3 {
            ask(&breaker, Ok(())).await.unwrap();
        }
    }

    /// Lambda freezes a process between requests, and its monotonic clock with it.
    #[tokio::test(start_paused = true)]
    async fn the_wait_passes_while_the_process_is_frozen() {
        let moved_ms: &AtomicI64 = Box::leak(Box::default());
        let breaker = Breaker::new("a part", Clock::moved_by_ms(moved_ms));
        silence(&breaker).await;
        assert!(matches!(ask(&breaker, Ok(())).await, Err(Broken::Open)));
        moved_ms.store(WAIT.as_millis() as i64, Ordering::Relaxed);
        ask(&breaker, Ok(())).await.unwrap();
    }

    /// So nobody was turned away either, which is not to let all of them in at once.
    #[tokio::test(start_paused = true)]
    async fn one_call_tries_though_nobody_came_while_it_was_left_alone() {
        let breaker = Breaker::new("a part", Clock::system());
        for _ in 0..WINDOW {
            assert!(matches!(ask(&breaker, Err(SILENCE)).await, Err(Broken::Failed(_))));
        }
        advance(WAIT + Duration::from_millis(1)).await;
        assert_eq!(hanging_at_once(&breaker, 10).await, 1);
    }

    #[tokio::test(start_paused = true)]
    async fn an_answer_to_a_call_from_before_does_not_let_everybody_try() {
        let breaker = Breaker::new("a part", Clock::system());
        let (answer, late) = tokio::sync::oneshot::channel();
        let mut slow = Box::pin(breaker.call(|_: &&str| true, async { late.await.map_err(|_| SILENCE) }));
        assert!(is_pending(&mut slow).await);
        silence(&breaker).await;
        answer.send(()).unwrap();
        slow.await.unwrap();
        advance(WAIT + Duration::from_millis(1)).await;
        assert_eq!(hanging_at_once(&breaker, 10).await, 1);
    }

    /// How many of `calls` concurrent calls wait for an answer that does not come.
    async fn hanging_at_once(breaker: &Breaker, calls: usize) -> usize {
        let call = || Box::pin(breaker.call(|_: &&str| true, pending::<Result<(), _>>()));
        let mut calls: Vec<_> = (0..calls).map(|_| call()).collect();
        let mut hanging = 0;
        for call in &mut calls {
            hanging += usize::from(is_pending(call).await);
        }
        hanging
    }

    /// Polls once; returns whether it is still pending.
    async fn is_pending<F: Future + Unpin>(future: &mut F) -> bool {
        std::future::poll_fn(|cx| std::task::Poll::Ready(std::pin::Pin::new(&mut *future).poll(cx).is_pending())).await
    }
}
