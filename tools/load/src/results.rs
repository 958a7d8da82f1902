//! The results so far.

use std::num::NonZero;
use std::time::{Duration, Instant};

use hdrhistogram::Histogram;
use parking_lot::Mutex;
use tokio::sync::Semaphore;

use crate::answer::{Answer, Failure};
use crate::outcome::{Gate, Outcome, Second, Seen, Stopped, histogram, quantile_ms};
use crate::progress::ProgressLine;
use crate::request::Response;

/// The smallest number of answers for which a rate of errors is computed: fewer say little.
const MIN_JUDGED: u64 = 20;
/// How many of the last seconds that rate covers.
const JUDGED_S: usize = 3;

/// Records a value in a histogram that grows to fit it, which `saturating_record` does not.
fn record(histogram: &mut Histogram<u64>, us: u64) {
    histogram.record(us).expect("it grows");
}

pub(crate) struct Results {
    start: Instant,
    /// The cores that may compute proofs of work.
    pub(crate) cores: Semaphore,
    heard: Mutex<Heard>,
}

struct Heard {
    /// Whether nothing may be sent any more.
    ended: bool,
    visiting: Visiting,
    proofs_computed: u64,
    /// Latencies of the last second.
    last: Histogram<u64>,
    /// What is known of it so far.
    outcome: Outcome,
}

impl Results {
    pub(crate) fn start() -> Self {
        let (visiting, outcome) = (Visiting::default(), Outcome::nothing_yet());
        let heard = Heard { ended: false, visiting, proofs_computed: 0, last: histogram(), outcome };
        let cores = Semaphore::new(cores_beside_the_load());
        Self { start: Instant::now(), cores, heard: Mutex::new(heard) }
    }

    fn second(&self) -> usize {
        self.start.elapsed().as_secs() as usize
    }

    /// Counts a user, and how late the user came.
    pub(crate) fn came(&self, due: Instant) {
        let mut heard = self.heard.lock();
        record(&mut heard.outcome.behind_us, due.elapsed().as_micros() as u64);
        heard.visit(|visiting| visiting.here += 1);
    }

    pub(crate) fn left(&self) {
        self.heard.lock().visit(|visiting| visiting.here = visiting.here.saturating_sub(1));
    }

    /// No more users come. The core that was left to the load may compute proofs, too.
    pub(crate) fn all_came(&self) {
        self.heard.lock().visit(|visiting| visiting.all_came = true);
        self.cores.add_permits(cores() - cores_beside_the_load());
    }

    /// Counts a user who waits to compute a proof of work, or computes one.
    pub(crate) fn computes(&self) {
        self.heard.lock().visit(|visiting| visiting.computing += 1);
    }

    pub(crate) fn has_computed(&self) {
        let mut heard = self.heard.lock();
        heard.proofs_computed += 1;
        heard.visit(|visiting| visiting.computing -= 1);
    }

    pub(crate) fn proofs_computed(&self) -> u64 {
        self.heard.lock().proofs_computed
    }

    pub(crate) fn gate(&self, change: impl FnOnce(&mut Gate)) {
        change(&mut self.heard.lock().outcome.gate);
    }

    /// Counts a request that is about to be sent. Never returns if none may be sent any more.
    pub(crate) async fn sent(&self) {
        let second = self.second();
        {
            let mut heard = self.heard.lock();
            if !heard.ended {
                heard.outcome.sent += 1;
                heard.up_to(second).sent += 1;
                return;
            }
        }
        std::future::pending().await
    }

    /// Stops sending. Requests under way may still be answered.
    pub(crate) fn end_sending(&self) {
        self.heard.lock().ended = true;
    }

    pub(crate) fn under_way(&self) -> u64 {
        let heard = self.heard.lock();
        heard.outcome.sent - heard.outcome.answered()
    }

    pub(crate) fn answered(&self, step: &'static str, due: Instant, answer: Answer) {
        let (us, second) = (due.elapsed().as_micros() as u64, self.second());
        let error = u64::from(answer.is_error());
        let mut heard = self.heard.lock();
        let now = heard.up_to(second);
        now.errors += error;
        *now.answers.entry(answer.clone()).or_default() += 1;
        record(&mut heard.last, us);
        let outcome = &mut heard.outcome;
        outcome.errors += error;
        record(&mut outcome.latency_us, us);
        record(outcome.answers.entry((step, answer)).or_insert_with(histogram), us);
    }

    pub(crate) fn failed(&self, response: &Result<Response, Failure>) {
        if let Err(failure) = response {
            let first = || Seen { count: 0, example: failure.to_string() };
            self.heard.lock().outcome.failures.entry(failure.code()).or_insert_with(first).count += 1;
        }
    }

    pub(crate) fn too_many_errors(&self, limit: f64) -> bool {
        let heard = self.heard.lock();
        let judged = heard.outcome.seconds.iter().rev().take(JUDGED_S);
        let (answers, errors) = judged.fold((0, 0), |sum, each| (sum.0 + each.answered(), sum.1 + each.errors));
        answers >= MIN_JUDGED && reaches(limit, errors, answers)
    }

    /// Whether too many of the last answers were errors, or of all answers, however few: no more will come.
    pub(crate) fn too_many_errors_at_the_end(&self, limit: f64) -> bool {
        self.too_many_errors(limit) || {
            let heard = self.heard.lock();
            reaches(limit, heard.outcome.errors, heard.outcome.answered())
        }
    }

    /// Shows the progress so far.
    pub(crate) fn tell(&self, progress: &mut ProgressLine) {
        let heard = self.heard.lock();
        let line = progress.line(self.start.elapsed(), heard.visiting.computing, &heard.outcome);
        drop(heard);
        progress.show(line);
    }

    pub(crate) fn finish(&self, users: usize, stopped: Option<Stopped>) -> Outcome {
        let took = self.start.elapsed();
        let mut heard = self.heard.lock();
        heard.visiting.note();
        heard.outcome.gate.alone = heard.visiting.alone.min(took);
        heard.end_second();
        Outcome { users, took, stopped, ..heard.outcome.clone() }
    }
}

/// Whether there are answers, and at least this fraction of them are errors.
fn reaches(limit: f64, errors: u64, answers: u64) -> bool {
    answers > 0 && errors as f64 >= limit * answers as f64
}

pub(crate) fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, NonZero::get)
}

/// How many of them compute proofs of work while users still come: those who come are measured.
fn cores_beside_the_load() -> usize {
    cores().saturating_sub(1).max(1)
}

/// The users who are here, and the time in which nothing happens except that some of them compute proofs of work.
#[derive(Default)]
struct Visiting {
    here: u64,
    computing: u64,
    all_came: bool,
    alone: Duration,
    alone_since: Option<Instant>,
}

impl Visiting {
    /// Ends a time in which users only computed, or begins one.
    fn note(&mut self) {
        let now = Instant::now();
        self.alone += self.alone_since.take().map_or(Duration::ZERO, |since| now - since);
        if self.all_came && self.computing > 0 && self.computing >= self.here {
            self.alone_since = Some(now);
        }
    }
}

impl Heard {
    fn visit(&mut self, change: impl FnOnce(&mut Visiting)) {
        change(&mut self.visiting);
        self.visiting.note();
    }

    /// The figures of a second. Earlier seconds are complete then.
    fn up_to(&mut self, second: usize) -> &mut Second {
        while self.outcome.seconds.len() <= second {
            self.end_second();
            self.outcome.seconds.push(Second::default());
        }
        self.outcome.seconds.last_mut().expect("there is one now")
    }

    fn end_second(&mut self) {
        if let Some(ended) = self.outcome.seconds.last_mut()
            && !self.last.is_empty()
        {
            (ended.p50_ms, ended.p99_ms) = (Some(quantile_ms(&self.last, 0.5)), Some(quantile_ms(&self.last, 0.99)));
        }
        self.last.reset();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_are_counted_with_the_first_as_an_example() {
        let results = Results::start();
        for _ in 0..2 {
            results.failed(&Err(Failure::Timeout));
        }
        let outcome = results.finish(1, None);
        let timeouts = &outcome.failures["timeout"];
        assert_eq!((timeouts.count, &*timeouts.example), (2, "no answer in time"));
    }

    #[test]
    fn errors_are_judged_by_their_share_of_the_last_seconds() {
        let results = Results::start();
        let answered = |status, count| {
            (0..count).for_each(|_| results.answered("reserve", Instant::now(), Answer::status(status)));
        };
        answered(503, 19);
        assert!(!results.too_many_errors(0.5), "too few to say");
        answered(409, 18);
        assert!(results.too_many_errors(0.5), "19 of 37");
        answered(429, 2);
        assert!(!results.too_many_errors(0.5), "19 of 39");
    }

    #[test]
    fn at_the_end_all_are_judged_however_few() {
        let results = Results::start();
        assert!(!results.too_many_errors_at_the_end(0.5), "none");
        results.answered("reserve", Instant::now(), Answer::status(500));
        assert!(!results.too_many_errors(0.5) && results.too_many_errors_at_the_end(0.5));
        results.answered("reserve", Instant::now(), Answer::status(202));
        assert!(results.too_many_errors_at_the_end(0.5), "half");
        results.answered("reserve", Instant::now(), Answer::status(202));
        assert!(!results.too_many_errors_at_the_end(0.5), "a third");
    }

    #[tokio::test]
    async fn a_second_has_its_own_figures() {
        let results = Results::start();
        results.sent().await;
        results.answered("reserve", Instant::now(), Answer::status(202));
        results.heard.lock().up_to(2);
        let outcome = results.finish(1, None);
        assert_eq!(outcome.seconds.len(), 3);
        assert_eq!((outcome.seconds[0].sent, outcome.seconds[0].answered()), (1, 1));
        assert!(outcome.seconds[0].p50_ms.is_some() && outcome.seconds[1].p50_ms.is_none());
    }
}
