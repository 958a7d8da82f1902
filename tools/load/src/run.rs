use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::FutureExt;
use futures::future::BoxFuture;
use tokio::sync::SemaphorePermit;
use tokio::task::{JoinError, JoinSet};

use crate::answer::{Answer, Failure};
use crate::outcome::{Outcome, Stopped};
use crate::pacing;
use crate::plan::Plan;
use crate::progress::ProgressLine;
use crate::request::Response;
use crate::results::Results;

/// How often figures are shown and errors are judged.
const TICK: Duration = Duration::from_secs(1);
/// How long users may take after the last one came, or the last proof of work: time for retries and polls.
const PATIENCE: Duration = Duration::from_secs(300);
/// How long to wait for requests in flight when a run is interrupted.
const GRACE: Duration = Duration::from_secs(2);
/// How often to check whether all of them are answered.
const POLL: Duration = Duration::from_millis(10);
/// The step under which the answers of [`run`] are counted.
const STEP: &str = "request";

pub struct Visit {
    pub n: usize,
    pub due: Instant,
    results: Arc<Results>,
}

/// A user who waits to compute a proof of work, or computes it, until this is dropped.
pub(crate) struct Computing<'a>(&'a Results);

impl Drop for Computing<'_> {
    fn drop(&mut self) {
        self.0.has_computed();
    }
}

impl Drop for Visit {
    fn drop(&mut self) {
        self.results.left();
    }
}

impl Visit {
    #[cfg(test)]
    pub(crate) fn of_a_test() -> Self {
        Self { n: 0, due: Instant::now(), results: Arc::new(Results::start()) }
    }

    /// Counts this user as one who goes through the gate, and whether `asking` ends with a pass.
    pub(crate) async fn at_the_gate<T>(&self, asking: impl Future<Output = Option<T>>) -> Option<T> {
        self.results.gate(|gate| gate.came += 1);
        let pass = asking.await;
        self.results.gate(|gate| if pass.is_some() { gate.passed += 1 } else { gate.refused += 1 });
        pass
    }

    pub(crate) fn computes(&self) -> Computing<'_> {
        self.results.computes();
        Computing(&self.results)
    }

    /// Waits for a core to compute a proof of work on. A real user has a device for that; these share a machine, which
    /// leaves the load a core as long as users come.
    pub(crate) async fn core(&self) -> Option<SemaphorePermit<'_>> {
        // This only fails if the semaphore is closed, and nobody closes it.
        self.results.cores.acquire().await.ok()
    }

    /// Sends a request and counts its answer under `step`. Its latency counts from `due`: [`Visit::due`] for a user's
    /// first request, and for later ones the time at which the user wanted to send it.
    pub async fn send(
        &self,
        step: &'static str,
        due: Instant,
        sending: impl Future<Output = Result<Response, Failure>>,
    ) -> Result<Response, Failure> {
        self.results.sent().await;
        let response = sending.await;
        self.results.failed(&response);
        let answer = response.as_ref().map_or_else(Answer::from, Response::answer);
        self.results.answered(step, due, answer);
        response
    }
}

/// Sends one request for each number of the plan, when it is due, and counts the answers. `ask` may inspect each
/// response before it returns how to count it.
pub async fn run<A, F>(plan: &Plan, progress: ProgressLine, ask: A) -> Outcome
where
    A: Fn(usize) -> F + Send + Sync,
    F: Future<Output = Answer> + Send + 'static,
{
    let one = |visit: Visit| {
        let asked = ask(visit.n);
        async move {
            visit.results.sent().await;
            let answer = asked.await;
            visit.results.answered(STEP, visit.due, answer);
        }
    };
    visits(plan, progress, one).await
}

/// Lets each user of a plan come when due and do what `visit` does. It sends through [`Visit::send`].
pub async fn visits<A, F>(plan: &Plan, progress: ProgressLine, visit: A) -> Outcome
where
    A: Fn(Visit) -> F + Send + Sync,
    F: Future<Output = ()> + Send + 'static,
{
    visits_until(std::future::pending(), plan, progress, visit).await
}

/// The same, until `interrupted` is ready. Then no more users come, nothing more is sent, and requests in flight have
/// two seconds to be answered.
pub async fn visits_until<A, F>(
    interrupted: impl Future<Output = ()> + Send,
    plan: &Plan,
    progress: ProgressLine,
    visit: A,
) -> Outcome
where
    A: Fn(Visit) -> F + Send + Sync,
    F: Future<Output = ()> + Send + 'static,
{
    let visit = |arrived: Visit| visit(arrived).boxed();
    follow(interrupted.boxed(), plan, progress, &visit).await
}

/// Not `async`, like [`Client::send`](crate::Client::send).
fn follow<'a>(
    mut interrupted: BoxFuture<'a, ()>,
    plan: &'a Plan,
    mut progress: ProgressLine,
    visit: &'a (dyn Fn(Visit) -> BoxFuture<'static, ()> + Send + Sync),
) -> BoxFuture<'a, Outcome> {
    let following = async move {
        let results = Arc::new(Results::start());
        let mut pace = pacing::start(plan.due());
        let mut visiting = JoinSet::new();
        let mut ticks = tokio::time::interval(TICK);
        ticks.tick().await;
        let mut came = 0;
        let mut deadline = None;
        let mut computed = 0;
        let stopped = loop {
            tokio::select! {
                () = &mut interrupted => break Some(Stopped::Interrupted),
                next = pace.recv(), if deadline.is_none() => match next {
                    Some((n, due)) => {
                        came += 1;
                        results.came(due);
                        visiting.spawn(visit(Visit { n, due, results: Arc::clone(&results) }));
                    }
                    None => {
                        results.all_came();
                        deadline = Some(Instant::now() + PATIENCE);
                    }
                },
                Some(ended) = visiting.join_next() => check(ended),
                _ = ticks.tick() => {
                    results.tell(&mut progress);
                    if plan.stop_at_errors.is_some_and(|limit| results.too_many_errors(limit)) {
                        break Some(Stopped::Errors);
                    }
                    // Many proofs take long, however patient the others are.
                    let before = std::mem::replace(&mut computed, results.proofs_computed());
                    if deadline.is_some() && computed > before {
                        deadline = Some(Instant::now() + PATIENCE);
                    }
                    if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                        break Some(Stopped::Patience);
                    }
                }
            }
            if deadline.is_some() && visiting.is_empty() {
                let failed = plan.stop_at_errors.is_some_and(|limit| results.too_many_errors_at_the_end(limit));
                break failed.then_some(Stopped::Failed);
            }
        };
        if stopped == Some(Stopped::Interrupted) {
            results.end_sending();
            let since = Instant::now();
            while results.under_way() > 0 && since.elapsed() < GRACE {
                tokio::time::sleep(POLL).await;
            }
        }
        // Users who are still visiting are dropped.
        visiting.shutdown().await;
        results.tell(&mut progress);
        results.finish(came, stopped)
    };
    following.boxed()
}

/// A visit that panicked is a bug in the caller, not a result to count.
fn check(ended: Result<(), JoinError>) {
    if let Err(error) = ended
        && let Ok(panic) = error.try_into_panic()
    {
        std::panic::resume_unwind(panic);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::curve::Curve;

    fn plan(users: usize, over_ms: u64) -> Plan {
        Plan::new(users, Duration::from_millis(over_ms), Curve::Even).unwrap()
    }

    #[tokio::test]
    async fn a_server_that_stalls_is_as_slow_as_its_users_find_it() {
        let gate = Arc::new(tokio::sync::Mutex::new(()));
        let answer = |n| {
            let gate = Arc::clone(&gate);
            async move {
                let _alone = gate.lock().await;
                if n == 0 {
                    tokio::time::sleep(Duration::from_millis(300)).await;
                }
                Answer::status(200)
            }
        };
        let outcome = run(&plan(50, 50), ProgressLine::silent(), answer).await;
        // Only one answer was slow. All others were due meanwhile.
        let early = outcome.quantile_ms(0.1);
        assert!(early > 200.0, "{early} ms, {:?}", outcome.took);
    }

    #[tokio::test]
    async fn too_many_errors_end_it() {
        let asked = Arc::new(AtomicUsize::new(0));
        let endless = Plan::new(100_000, Duration::from_secs(1_000), Curve::Even).unwrap().stop_at_errors(0.5).unwrap();
        let outcome = run(&endless, ProgressLine::silent(), |_| {
            let asked = Arc::clone(&asked);
            async move {
                asked.fetch_add(1, Ordering::Relaxed);
                Answer::status(503)
            }
        });
        let outcome = tokio::time::timeout(Duration::from_secs(30), outcome).await.unwrap();
        assert_eq!(outcome.stopped, Some(Stopped::Errors));
        assert_eq!((outcome.errors, outcome.answered()), (outcome.sent, asked.load(Ordering::Relaxed) as u64));
    }

    fn reserved() -> Result<Response, Failure> {
        Ok(Response { status: 202, headers: Default::default(), body: Default::default() })
    }

    #[tokio::test]
    async fn time_in_which_users_only_compute_is_no_load() {
        let plan = plan(10, 20);
        let outcome = visits(&plan, ProgressLine::silent(), |visit| async move {
            if visit.n == 3 {
                let computing = async {
                    let _computing = (visit.computes(), visit.core().await);
                    tokio::time::sleep(Duration::from_millis(400)).await;
                    Some(())
                };
                visit.at_the_gate(computing).await;
            }
            assert!(visit.send("reserve", Instant::now(), async { reserved() }).await.is_ok());
        });
        let outcome = outcome.await;
        let gate = outcome.gate;
        assert_eq!((gate.came, gate.passed, gate.refused, gate.unfinished(), outcome.answered()), (1, 1, 0, 0, 10));
        assert!(gate.alone >= Duration::from_millis(200) && gate.alone < outcome.took, "{gate:?}, {:?}", outcome.took);
        let slow = outcome.answered() as f64 / outcome.took.as_secs_f64();
        assert!(outcome.per_s() > slow, "{} a second", outcome.per_s());
        let latency = outcome.quantile_ms(1.0);
        assert!(latency < 400.0, "a user's own work is no latency of the server: {latency} ms");
    }

    #[tokio::test]
    async fn all_cores_compute_once_all_have_come_and_no_more() {
        let cores = crate::results::cores();
        let (together, computing) = (Arc::new(tokio::sync::Barrier::new(cores)), Arc::new(AtomicUsize::new(0)));
        let plan = plan(2 * cores, 0);
        let outcome = visits(&plan, ProgressLine::silent(), |visit| {
            let (together, computing) = (Arc::clone(&together), Arc::clone(&computing));
            async move {
                let _computing = (visit.computes(), visit.core().await);
                assert!(computing.fetch_add(1, Ordering::Relaxed) < cores);
                together.wait().await;
                computing.fetch_sub(1, Ordering::Relaxed);
            }
        });
        let outcome = tokio::time::timeout(Duration::from_secs(60), outcome).await.expect("a core is idle");
        assert_eq!(outcome.stopped, None);
    }

    #[tokio::test]
    async fn who_is_interrupted_while_computing_has_not_finished() {
        let (begun, begins) = tokio::sync::oneshot::channel();
        let begun = std::sync::Mutex::new(Some(begun));
        let interrupted = async { drop(begins.await) };
        let plan = plan(1, 0);
        let outcome = visits_until(interrupted, &plan, ProgressLine::silent(), |visit| {
            let begun = begun.lock().unwrap().take();
            async move {
                let computing = async {
                    let _computing = (visit.computes(), visit.core().await);
                    begun.map(|begun| begun.send(()));
                    std::future::pending::<Option<()>>().await
                };
                visit.at_the_gate(computing).await;
            }
        });
        let outcome = outcome.await;
        assert_eq!((outcome.stopped, outcome.gate.unfinished()), (Some(Stopped::Interrupted), 1));
    }

    #[tokio::test]
    #[should_panic = "a bug"]
    async fn a_panic_is_not_counted() {
        run(&plan(1, 0), ProgressLine::silent(), |_| async { panic!("a bug") }).await;
    }
}
