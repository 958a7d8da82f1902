use std::fmt;
use std::pin::Pin;
use std::time::Duration;

use lambda_runtime::Error;
use tokio::task::JoinSet;
use tokio::time::timeout;

/// The time limit for everything that is done before the first request. Lambda restarts a process that does not ask for
/// requests within 10 s (Lambda, "Understanding the Lambda execution environment lifecycle"); half of that is left for
/// a slow start.
const WITHIN: Duration = Duration::from_secs(5);

type Work = Pin<Box<dyn Future<Output = Result<(), Error>> + Send>>;

/// What to do before the first request. Each task has a name for the log.
#[derive(Default)]
pub(crate) struct Beforehand(Vec<(&'static str, Work)>);

impl fmt::Debug for Beforehand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.iter().map(|(what, _)| what)).finish()
    }
}

impl Beforehand {
    pub(crate) fn add(&mut self, what: &'static str, work: impl Future<Output = Result<(), Error>> + Send + 'static) {
        self.0.push((what, Box::pin(work)));
    }

    pub(crate) async fn done(self) {
        let mut all: JoinSet<()> = self.0.into_iter().map(|(what, work)| ready(what, work)).collect();
        while all.join_next().await.is_some() {}
    }
}

async fn ready(what: &'static str, work: Work) {
    match timeout(WITHIN, work).await {
        Ok(Ok(())) => {}
        Ok(Err(error)) => {
            tracing::warn!(error = &*error as &dyn std::error::Error, what, "not ready before the first request")
        }
        Err(_) => tracing::warn!(what, "not ready in time for the first request"),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};

    use runtime::{Clock, SdkConfig, Settings};
    use tokio::time::Instant;

    use super::*;
    use crate::Context;

    fn context() -> Context {
        Context::new(Settings::given([("ADDRESS", "here")]), SdkConfig::builder().build(), Clock::system())
    }

    #[tokio::test(start_paused = true)]
    async fn all_is_done_at_once_and_only_once() {
        let (context, done) = (context(), Arc::<AtomicU32>::default());
        for what in ["one", "two", "three"] {
            let done = Arc::clone(&done);
            context.before_the_first_request(what, async move {
                tokio::time::sleep(Duration::from_secs(3)).await;
                done.fetch_add(1, Ordering::Relaxed);
                Ok(())
            });
        }
        assert_eq!(format!("{:?}", context.beforehand.lock().unwrap()), r#"["one", "two", "three"]"#);
        let began = Instant::now();
        context.warm().await;
        assert_eq!((done.load(Ordering::Relaxed), began.elapsed()), (3, Duration::from_secs(3)));
        context.warm().await;
        assert_eq!(done.load(Ordering::Relaxed), 3);
    }

    #[tokio::test(start_paused = true)]
    async fn what_fails_or_hangs_keeps_no_process_from_starting() {
        let (context, done) = (context(), Arc::<AtomicU32>::default());
        context.before_the_first_request("fails", async { Err("no".into()) });
        context.before_the_first_request("hangs", std::future::pending());
        let counted = Arc::clone(&done);
        context.before_the_first_request("works", async move {
            counted.fetch_add(1, Ordering::Relaxed);
            Ok(())
        });
        let began = Instant::now();
        context.warm().await;
        assert_eq!((done.load(Ordering::Relaxed), began.elapsed()), (1, WITHIN));
    }
}
