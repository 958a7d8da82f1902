use std::panic::{AssertUnwindSafe, catch_unwind};

use shuttle::scheduler::{DfsScheduler, PctScheduler, RandomScheduler, Scheduler};
use shuttle::{Config, FailurePersistence, Runner};

use crate::sync::restart;

/// Schedules of each kind that a scenario runs under, unless `SCHEDULES` says otherwise.
const SCHEDULES: usize = 300;
/// Schedules of each kind among which a mistake must show. More, because the search ends at the first that shows it.
const SCHEDULES_OF_A_MISTAKE: usize = 1_000;
/// The seed, so that every run has the same schedules. `SHUTTLE_RANDOM_SEED` overrides it.
const SEED: u64 = 2026;
/// How often a schedule of the second kind switches tasks.
const CHANGES: usize = 4;
/// The most schedules that [`explore_all`] runs.
const MOST: usize = 200_000;

/// Runs a scenario under random schedules, and under as many that switch tasks only at a few random moments: those find mistakes
/// that need one long pause. If it panics under one, the log has the schedule to pass to `shuttle::replay`.
pub fn explore(scenario: fn()) {
    let schedules = std::env::var("SCHEDULES").ok().and_then(|text| text.parse().ok()).unwrap_or(SCHEDULES);
    run_both(schedules, FailurePersistence::Print, scenario);
}

/// Runs a small scenario under every possible schedule.
pub fn explore_all(scenario: fn()) {
    let schedules = run(DfsScheduler::new(Some(MOST), false), FailurePersistence::Print, scenario);
    assert!(schedules < MOST, "there are more schedules than were run");
}

/// Asserts that the scenario panics with `rule` in its message under a schedule of one of the kinds of [`explore`].
pub fn assert_caught(mistake: fn(), rule: &str) {
    let ran = catch_unwind(AssertUnwindSafe(|| run_both(SCHEDULES_OF_A_MISTAKE, FailurePersistence::None, mistake)));
    let Err(broken) = ran else { panic!("no schedule shows the mistake") };
    let words = broken.downcast_ref::<String>().cloned();
    let words = words.or_else(|| broken.downcast_ref::<&str>().map(|words| (*words).to_owned())).unwrap_or_default();
    assert!(words.contains(rule), "the mistake shows as {words:?}, not as {rule:?}");
}

fn run_both(schedules: usize, failure_persistence: FailurePersistence, scenario: fn()) {
    run(RandomScheduler::new_from_seed(SEED, schedules), failure_persistence.clone(), scenario);
    run(PctScheduler::new_from_seed(SEED, CHANGES, schedules), failure_persistence, scenario);
}

/// Returns the number of schedules.
fn run(scheduler: impl Scheduler + 'static, failure_persistence: FailurePersistence, scenario: fn()) -> usize {
    let mut config = Config::new();
    config.failure_persistence = failure_persistence;
    config.stack_size = 256 * 1024;
    Runner::new(scheduler, config).run(move || {
        restart();
        scenario();
    })
}
