//! Random sequences of events in a sale, on the real scripts and compared with a model of them. `PROPTEST_CASES` sets how
//! many. Examples beside them are for what each run of these does not reach, and for moments, sizes and crowds.

mod checked;
mod model;
mod operation;
mod orders;
mod perform;
mod sequence;

use proptest::strategy::Strategy;
use proptest::test_runner::{Config, TestCaseError, TestRunner};
use tokio::runtime::{Builder, Runtime};

pub(crate) use checked::clock;
use checked::{Checked, Outcome, Stop};
use operation::Script;
use sequence::{Sequence, first_round};

use crate::prelude::*;

const CASES: u32 = 48;
/// Shrinking a sequence takes a few runs for each of its operations.
const MAX_SHRINK_ITERS: u32 = 4000;

#[test]
fn redis_answers_as_the_model_does() {
    run(&operation::calm(), true);
}

#[test]
fn whatever_redis_loses_is_repaired() {
    run(&operation::with_losses(), false);
}

/// Runs all cases on one server, each with its own sale.
fn run(scripts: &impl Strategy<Value = Script>, calm: bool) {
    let runtime = one_thread();
    let server = runtime.block_on(async { TestRound::start_empty() });
    run_cases(CASES, scripts, |script| runtime.block_on(play(&server, &script, calm)));
}

pub(crate) fn one_thread() -> Runtime {
    Builder::new_current_thread().enable_all().build().expect("a runtime")
}

/// Runs this many cases, unless `PROPTEST_CASES` sets another number.
pub(crate) fn run_cases<S: Strategy>(cases: u32, scripts: &S, case: impl Fn(S::Value) -> Result<(), TestCaseError>) {
    let mut config = Config { failure_persistence: None, max_shrink_iters: MAX_SHRINK_ITERS, ..Config::default() };
    if std::env::var_os("PROPTEST_CASES").is_none() {
        config.cases = cases;
    }
    if let Err(error) = TestRunner::new(config).run(scripts, case) {
        panic!("{error}");
    }
}

async fn play(server: &TestRound, script: &Script, calm: bool) -> Result<(), TestCaseError> {
    let first = tests::round(&format!("lamp-{}", Uuid::new_v4().as_simple()), 1);
    let redis = Checked::new(server, clock()).await;
    let mut sequence = Sequence::new(redis, first_round(first, script.total, script.per_user_limit), script.patient);
    let outcome = play_all(&mut sequence, script, calm).await;
    sequence.redis.lose_all().await.map_err(|stop| TestCaseError::fail(format!("{stop:?}")))?;
    match outcome {
        Ok(()) => Ok(()),
        Err(Stop::Died) => Err(TestCaseError::fail("a process died unexpectedly")),
        Err(Stop::Wrong(what)) => Err(TestCaseError::fail(format!("{what}\n{}", sequence.redis.trace.join("\n")))),
    }
}

async fn play_all(sequence: &mut Sequence, script: &Script, calm: bool) -> Outcome {
    sequence.load(&sequence.round()).await?;
    for operation in &script.operations {
        sequence.redis.trace.push(format!("{operation:?}"));
        sequence.perform(operation).await?;
        sequence.check_limit()?;
        if calm {
            sequence.check_places().await?;
        }
    }
    sequence.redis.trace.push("in the end".into());
    sequence.heal().await?;
    sequence.sell_out().await
}
