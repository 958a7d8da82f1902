//! Judges every alarm each minute while visitors come. Nothing may ring that nobody has caused.

use std::collections::BTreeSet;
use std::time::Duration;

use anyhow::Result;
use parking_lot::Mutex;
use runtime::Clock;

use super::check::Check;
use super::program::clock;
use super::run::Run;
use super::sample::Sampler;
use crate::alarms::{Alarm, Measured};
use crate::control::Control;
use crate::stack::STACK;

const EVERY: Duration = Duration::from_secs(60);
/// The functions on the emulator that publish what alarms look at.
const MEASURED: [&str; 3] = ["reconciliation", "draw", "order"];
/// What a kill, a failover or a deployment may well cause: Redis has lost a round, a message was tried in vain.
const CAUSED: [&str; 3] = ["rounds-rebuilt", "orders-dlq-not-empty", "expiry-dlq-not-empty"];

#[derive(Debug)]
struct Rang {
    at_s: f64,
    alarm: String,
    /// Whether something was done to the system that causes it.
    is_caused: bool,
}

#[derive(Debug, Default)]
pub(super) struct Rung {
    looks: usize,
    rang: Vec<Rang>,
    judged: BTreeSet<String>,
    /// Alarms on metrics that nothing publishes here.
    not_judged: BTreeSet<String>,
}

/// Judges the alarms each minute until it is dropped.
pub(super) async fn listen(run: &Run, sampler: &Sampler, rung: &Mutex<Rung>) -> std::convert::Infallible {
    let mut pace = tokio::time::interval(EVERY);
    let mut measured = Measured::default();
    let mut since_ms = Clock::system().now().0;
    loop {
        pace.tick().await;
        let now_ms = Clock::system().now().0;
        match look(run, sampler, &mut measured, since_ms, now_ms).await {
            Ok(alarms) => {
                let mut rung = rung.lock();
                rung.note(run, &alarms, &measured, now_ms);
                since_ms = now_ms;
            }
            // The next look reads what this one has not.
            Err(error) => run.journal.note(run.now_s(), &format!("the alarms could not be judged: {error:#}")),
        }
    }
}

async fn look(run: &Run, sampler: &Sampler, measured: &mut Measured, since_ms: i64, now_ms: i64) -> Result<Vec<Alarm>> {
    let deployment = &run.system.deployment;
    let mut logged = Vec::new();
    for function in MEASURED {
        logged
            .extend(Control::new(&deployment.endpoint).logged(&format!("{STACK}-{function}"), since_ms, now_ms).await?);
    }
    logged.iter().for_each(|line| measured.add_line(line));
    for (queue, depth) in sampler.depths_by_queue().await? {
        measured.add_depth(&queue, now_ms, depth.waiting);
    }
    Alarm::all_of(&deployment.home.join("cdk.out/FlashSale.template.json"))
}

impl Rung {
    fn note(&mut self, run: &Run, alarms: &[Alarm], measured: &Measured, now_ms: i64) {
        self.looks += 1;
        let (at_s, is_calm) = (run.now_s(), run.system.is_calm());
        for alarm in alarms {
            if alarm.can_be_judged(measured) {
                self.judged.insert(alarm.name.clone());
            }
            // Nothing has been measured for as long as some look back.
            let has_begun = at_s * 1000.0 > alarm.looks_back_ms() as f64;
            if has_begun && alarm.rings(measured, now_ms) {
                let is_caused = !is_calm && CAUSED.contains(&&*alarm.name);
                run.journal.tell(at_s, &format!("! {} rings", alarm.name));
                self.rang.push(Rang { at_s, alarm: alarm.name.clone(), is_caused });
            }
        }
        self.not_judged = alarms.iter().map(|alarm| alarm.name.clone()).collect();
        self.not_judged.retain(|name| !self.judged.contains(name));
    }

    /// Checks that no alarm rang that nothing caused.
    pub(super) fn check(&self, lagged: usize) -> Check {
        let uncaused = self.rang.iter().filter(|rang| !rang.is_caused);
        let mut wrong: Vec<String> = uncaused.map(|rang| format!("{}  {}", clock(rang.at_s), rang.alarm)).collect();
        if self.looks == 0 || self.judged.is_empty() {
            wrong.push("no alarm was judged".to_owned());
        }
        if lagged == 0 {
            wrong.push("no index lagged".to_owned());
        }
        let caused = self.rang.iter().filter(|rang| rang.is_caused).count();
        let not_judged = Vec::from_iter(self.not_judged.iter().map(String::as_str)).join(", ");
        let found = format!(
            "{} alarms in {} looks, while {lagged} answers lagged; {caused} rang for what was done to the system; not judged: {not_judged}",
            self.judged.len(),
            self.looks
        );
        Check::of("no alarm rings falsely", found, wrong)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_alarm_that_nothing_caused_is_found_and_so_is_that_none_was_judged() {
        let rung = |is_caused| Rung {
            looks: 1,
            rang: vec![Rang { at_s: 60.0, alarm: "rounds-rebuilt".to_owned(), is_caused }],
            judged: ["rounds-rebuilt".to_owned()].into(),
            not_judged: BTreeSet::new(),
        };
        assert!(rung(true).check(1).passed && !rung(false).check(1).passed && !rung(true).check(0).passed);
        assert_eq!(Rung::default().check(1).wrong, ["no alarm was judged"]);
    }
}
