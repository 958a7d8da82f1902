use std::sync::Arc;
use std::time::Instant;

use anyhow::Result;
use history::{Recorder, Redis};
use parking_lot::Mutex;
use pass::KeyRing;
use serde::Serialize;

use super::board::Board;
use super::changed::Scripts;
use super::journal::Journal;
use super::operator::Operator;
use super::program::{Loss, Program};
use super::system::System;
use super::tally::Counts;
use crate::identity::Bearer;

/// How many people come again and again, and how many others misbehave.
const PEOPLE: usize = 2_000;
const MISCHIEVOUS: usize = 15;

#[derive(Debug, Clone, Serialize)]
pub(super) struct Done {
    /// Seconds from the beginning.
    pub(super) at_s: f64,
    pub(super) kind: &'static str,
    pub(super) what: String,
    /// Its result, or why it failed.
    pub(super) found: String,
    pub(super) succeeded: bool,
}

pub(super) struct Run {
    pub(super) program: Program,
    pub(super) system: Arc<System>,
    pub(super) operator: Operator,
    pub(super) recorder: Recorder,
    pub(super) board: Board,
    pub(super) tally: Mutex<Counts>,
    pub(super) journal: Journal,
    pub(super) people: Vec<Bearer>,
    pub(super) mischievous: Vec<Bearer>,
    pub(super) ring: KeyRing,
    pub(super) payment_key: String,
    pub(super) noted: Mutex<Noted>,
    began: Instant,
}

#[derive(Debug, Default)]
pub(super) struct Noted {
    pub(super) done: Vec<Done>,
    /// When Redis forgot something, by the recorder's clock.
    pub(super) losses_ns: Vec<u64>,
    pub(super) killed: usize,
    pub(super) scripts: Option<Scripts>,
    pub(super) both_known: bool,
}

impl Run {
    pub(super) async fn prepare(program: Program, system: Arc<System>, journal: Journal) -> Result<Self> {
        let people = |name: &'static str, count| (0..count).map(move |number| format!("{name}-{number:04}"));
        let mischievous = system.issuer.bearers(people("mallory", MISCHIEVOUS)).await?;
        let people = system.issuer.bearers(people("regular", PEOPLE)).await?;
        Ok(Self {
            program,
            operator: Operator::of(Arc::clone(&system))?,
            recorder: Recorder::default(),
            board: Board::default(),
            tally: Mutex::default(),
            journal,
            people,
            mischievous,
            ring: system.deployment.pass_ring().await?,
            payment_key: system.deployment.payment_key().await?,
            noted: Mutex::default(),
            system,
            began: Instant::now(),
        })
    }

    pub(super) fn now_s(&self) -> f64 {
        self.began.elapsed().as_secs_f64()
    }

    pub(super) fn at(&self, seconds: f64) -> tokio::time::Instant {
        (self.began + std::time::Duration::from_secs_f64(seconds.max(0.0))).into()
    }

    /// Notes that Redis dies now and loses this.
    pub(super) fn redis_dies(&self, losing: Loss) {
        if losing != Loss::Nothing {
            self.noted.lock().losses_ns.push(self.recorder.now_ns());
        }
    }

    /// A moment, given in seconds from the beginning, by the recorder's clock.
    pub(super) fn recorder_ns(&self, seconds: f64) -> u64 {
        let since_ns = (self.now_s() - seconds) * 1e9;
        (self.recorder.now_ns() as f64 - since_ns).max(0.0) as u64
    }
}

impl Noted {
    /// What Redis may have forgotten of a round between these two moments of the recorder's clock.
    pub(super) fn redis_between(&self, made_ns: u64, over_ns: u64) -> Redis {
        let within = self.losses_ns.iter().copied().filter(|lost_ns| (made_ns..=over_ns).contains(lost_ns));
        within.min().map_or(Redis::Keeps, Redis::MayForgetFrom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_round_only_suffers_losses_of_its_own_time() {
        let noted = Noted { losses_ns: vec![40, 30, 10], ..Noted::default() };
        let between = |made_ns, over_ns| noted.redis_between(made_ns, over_ns);
        assert_eq!(between(0, 50), Redis::MayForgetFrom(10));
        assert_eq!(between(11, 50), Redis::MayForgetFrom(30));
        assert_eq!(between(11, 29), Redis::Keeps);
        assert_eq!(between(41, 50), Redis::Keeps);
    }
}
