//! A part that does not answer is left alone for a moment: its callers hear so at once, instead of each waiting as long
//! as one waits for an answer.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use recloser::{AsyncRecloser, Error, Recloser};
use tokio::sync::Semaphore;

/// Calls that are looked at, once a process has made as many.
const LOOKED_AT: usize = 8;
/// The part of them without an answer at which the part is left alone: one that answers every second call is no use.
const SHARE: f32 = 0.5;
/// How long it is left alone before one call tries. Short, since it may have been a failover.
const WAIT: Duration = Duration::from_secs(1);

/// Stands before every call of one part. Its clones are one.
#[derive(Debug, Clone)]
pub struct Breaker {
    part: &'static str,
    recloser: AsyncRecloser,
    /// Whether a call was turned away since the last answer.
    open: Arc<AtomicBool>,
    /// Held by the one call that tries a part which was left alone: the others would wait with it.
    trying: Arc<Semaphore>,
}

/// A part is left alone and was not asked. Whoever finds it among the sources of an error need not log that: the breaker has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("its breaker is open")]
pub struct Open;

/// Why there is no result.
#[derive(Debug)]
pub enum Broken<E> {
    /// The part is left alone: it was not asked.
    Open,
    /// It was asked.
    Failed(E),
}

impl Breaker {
    /// In front of `part`, which answers as far as anybody knows.
    pub fn new(part: &'static str) -> Self {
        let recloser =
            Recloser::custom().closed_len(LOOKED_AT).half_open_len(1).error_rate(SHARE).open_wait(WAIT).build();
        Self { part, recloser: recloser.into(), open: Arc::default(), trying: Arc::new(Semaphore::new(1)) }
    }

    /// Makes a call, unless the part is left alone. `unanswered` tells an error that is no answer from one that is.
    ///
    /// # Errors
    /// [`Broken::Open`] if it is left alone, [`Broken::Failed`] with the call's own error.
    pub async fn call<T, E>(
        &self,
        unanswered: impl Fn(&E) -> bool,
        call: impl Future<Output = Result<T, E>>,
    ) -> Result<T, Broken<E>> {
        let _trying = if self.open.load(Ordering::Acquire) {
            Some(self.trying.try_acquire().map_err(|_| Broken::Open)?)
        } else {
            None
        };
        match self.recloser.call_with(|error: &E| unanswered(error), call).await {
            Ok(value) => {
                self.close();
                Ok(value)
            }
            Err(Error::Rejected) => {
                if !self.open.swap(true, Ordering::AcqRel) {
                    tracing::error!(part = self.part, "it does not answer and is left alone");
                }
                Err(Broken::Open)
            }
            Err(Error::Inner(error)) => {
                if !unanswered(&error) {
                    self.close();
                }
                Err(Broken::Failed(error))
            }
        }
    }

    fn close(&self) {
        if self.open.swap(false, Ordering::AcqRel) {
            tracing::info!(part = self.part, "it answers again");
        }
    }
}

#[cfg(test)]
mod tests {
    use std::future::{pending, ready};

    use super::*;

    const SILENCE: &str = "no answer";

    async fn ask(breaker: &Breaker, result: Result<(), &'static str>) -> Result<(), Broken<&'static str>> {
        breaker.call(|error| *error == SILENCE, ready(result)).await
    }

    /// Calls without an answer until one is turned away. How many it took.
    async fn silence(breaker: &Breaker) -> usize {
        for calls in 0..1000 {
            if matches!(ask(breaker, Err(SILENCE)).await, Err(Broken::Open)) {
                return calls;
            }
        }
        panic!("every call is let through")
    }

    #[tokio::test]
    async fn a_silent_part_is_left_alone_after_a_few_calls() {
        let breaker = Breaker::new("a part");
        assert!(silence(&breaker).await <= LOOKED_AT + 1);
        assert!(matches!(ask(&breaker, Ok(())).await, Err(Broken::Open)), "though it would answer");
    }

    #[tokio::test]
    async fn errors_that_are_answers_do_not_count() {
        let breaker = Breaker::new("a part");
        for _ in 0..100 {
            assert!(matches!(ask(&breaker, Err("no such thing")).await, Err(Broken::Failed(_))));
        }
        ask(&breaker, Ok(())).await.unwrap();
    }

    #[tokio::test]
    async fn one_call_tries_and_its_answer_lets_everybody_in() {
        let breaker = Breaker::new("a part");
        silence(&breaker).await;
        std::thread::sleep(WAIT + Duration::from_millis(100));
        {
            let mut hanging = Box::pin(breaker.call(|_: &&str| true, pending::<Result<(), _>>()));
            assert!(is_pending(&mut hanging).await);
            assert!(matches!(ask(&breaker, Ok(())).await, Err(Broken::Open)), "another one is trying");
        }
        // Who gives up trying leaves it to the next.
        ask(&breaker, Ok(())).await.unwrap();
        for _ in 0..3 {
            ask(&breaker, Ok(())).await.unwrap();
        }
    }

    /// Polls once; whether it is still waiting.
    async fn is_pending<F: Future + Unpin>(future: &mut F) -> bool {
        std::future::poll_fn(|cx| std::task::Poll::Ready(std::pin::Pin::new(&mut *future).poll(cx).is_pending())).await
    }
}
