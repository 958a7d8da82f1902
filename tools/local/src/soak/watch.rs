//! Samples the system, and reports the progress.

use std::convert::Infallible;
use std::time::Duration;

use parking_lot::Mutex;

use super::program::clock;
use super::run::Run;
use super::sample::{Sample, Sampler};
use crate::stages::Stage;

/// The pause between samples: ten seconds, or less if a run would have fewer than sixty samples.
const LONGEST_PAUSE_S: f64 = 10.0;
const SAMPLES_AT_LEAST: f64 = 60.0;
const TELL_EVERY: Duration = Duration::from_secs(5);
/// How often a day to run the functions that repair: their schedules' minute is long for a short day.
const HEALS_A_DAY: f64 = 5.0;
const MINUTE_S: f64 = 60.0;
const SCRIPTS_EVERY: Duration = Duration::from_secs(2);

pub(super) fn pause_s(lasts_s: f64) -> f64 {
    (lasts_s / SAMPLES_AT_LEAST).min(LONGEST_PAUSE_S)
}

pub(super) async fn take_samples(run: &Run, sampler: &Sampler, samples: &Mutex<Vec<Sample>>) -> Infallible {
    let mut pace = tokio::time::interval(Duration::from_secs_f64(pause_s(run.program.lasts_s())));
    pace.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        pace.tick().await;
        let sample = sampler.take(run.now_s()).await;
        samples.lock().push(sample);
    }
}

pub(super) async fn tell(run: &Run, stage: &Stage, samples: &Mutex<Vec<Sample>>) -> Infallible {
    loop {
        tokio::time::sleep(TELL_EVERY).await;
        let now_s = run.now_s();
        let line = line(run, now_s, samples.lock().last());
        run.journal.note(now_s, &line);
        stage.say(format!("{} {line}", clock(now_s)));
    }
}

fn line(run: &Run, now_s: f64, last: Option<&Sample>) -> String {
    let counts = run.tally.lock();
    let paid = counts.ended.get("paid").copied().unwrap_or_default();
    let (visitors, reserved) = (counts.visitors, counts.reserved);
    drop(counts);
    let live: Vec<String> = run.board.live(now_s).iter().map(|one| one.round.to_string()).collect();
    let keys = last.and_then(|sample| sample.keys.as_ref()).map_or("no".to_owned(), |keys| keys.all().to_string());
    let depth = |queue: &str| last.and_then(|sample| sample.queues.get(queue)).map_or(0, |depth| depth.all());
    let largest = last.and_then(|sample| {
        sample.memory_kb.iter().filter(|(kind, _)| kind.starts_with("reservation")).map(|(_, kb)| *kb).max()
    });
    let sides: Vec<&str> = run.system.sides().iter().map(|side| side.name).collect();
    let next = run.program.events.iter().find(|event| event.at_s > now_s);
    let next = next.map_or("the end".to_owned(), |event| format!("{} in {:.0} s", event.what, event.at_s - now_s));
    format!(
        "{visitors} visitors, {reserved} reserved, {paid} paid; open: {}; {} gateway; {keys} keys, {} orders queued, {} dead; \
         reservation {} MB; next: {next}",
        live.join(" "),
        sides.join(" and "),
        depth("orders"),
        depth("orders, dead"),
        largest.unwrap_or_default() / 1024,
    )
}

/// Runs the functions that repair, if days are short.
pub(super) async fn heal(run: &Run) -> Infallible {
    let every_s = run.program.day_s / HEALS_A_DAY;
    if every_s >= MINUTE_S {
        return std::future::pending().await;
    }
    loop {
        tokio::time::sleep(Duration::from_secs_f64(every_s)).await;
        run.operator.heal().await;
    }
}

/// Notes when Redis has run the scripts of both sides.
pub(super) async fn look_for_both_scripts(run: &Run) -> Infallible {
    loop {
        tokio::time::sleep(SCRIPTS_EVERY).await;
        let scripts = run.noted.lock().scripts.clone();
        if let Some(scripts) = scripts
            && run.system.knows(&scripts).await.is_ok_and(|known| known == [true, true])
        {
            run.noted.lock().both_known = true;
            return std::future::pending().await;
        }
    }
}
