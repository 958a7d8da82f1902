//! The checks of a run, as functions of its samples. Each reports what it found, even if all is well.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::program::clock;
use super::sample::{EMULATOR, REDIS, SOAK, Sample, is_for_the_dead};

/// Memory may grow by this fraction, or this many kB if that is more: a short run includes the warm-up.
const MEMORY_PART: f64 = 0.25;
const MEMORY_FLOOR_KB: f64 = 8.0 * 1024.0;
const MEMORY_FLOOR_SHORT_KB: f64 = 24.0 * 1024.0;
/// A run of fewer seconds is short.
const SHORT_RUN_S: f64 = 20.0 * 60.0;
/// Redis's memory beyond its keys: clients, scripts and their buffers, which come with the second gateway.
const BEYOND_KEYS_PART: f64 = 0.25;
const BEYOND_KEYS_FLOOR: f64 = 4.0 * 1024.0 * 1024.0;
/// The number of short-lived keys follows the visitors, who come at random.
const FLEETING_PART: f64 = 0.5;
const FLEETING_FLOOR: f64 = 50.0;
/// How much a finished round's keys may grow: a count gets another digit, a late reservation another state.
const OVER_PART: f64 = 0.1;
const OVER_FLOOR: f64 = 2048.0;
/// The most kinds of keys that a lane can have.
const KINDS_OF_A_LANE: u64 = 8;
/// The fewest samples that give a quarter a meaningful median, and the fraction of a run for which a process must exist.
const SAMPLES_OF_A_QUARTER: usize = 3;
const SPAN: f64 = 0.25;
/// The fraction of requests in quiet times that may get an error: a machine may be busy.
const ERRORS_IN_CALM: f64 = 0.01;
const MOST_SHOWN: usize = 12;

#[derive(Debug, Clone, Serialize)]
pub(super) struct Check {
    pub(super) name: &'static str,
    pub(super) passed: bool,
    pub(super) found: String,
    pub(super) wrong: Vec<String>,
}

impl Check {
    /// A check that passes if nothing is wrong.
    pub(super) fn of(name: &'static str, found: impl Into<String>, mut wrong: Vec<String>) -> Self {
        let more = wrong.len().saturating_sub(MOST_SHOWN);
        let passed = wrong.is_empty();
        wrong.truncate(MOST_SHOWN);
        if more > 0 {
            wrong.push(format!("… and {more} more"));
        }
        Self { name, passed, found: found.into(), wrong }
    }
}

/// How a figure changed from the second quarter of its time to the last.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Growth {
    pub(super) what: String,
    pub(super) from: f64,
    pub(super) to: f64,
    pub(super) allowed: f64,
    /// Whether the check judges it, or only reports it.
    pub(super) is_judged: bool,
}

impl Growth {
    pub(super) fn is_flat(&self) -> bool {
        !self.is_judged || self.to <= self.allowed
    }
}

fn median(mut of: Vec<f64>) -> Option<f64> {
    of.sort_by(f64::total_cmp);
    (of.len() >= SAMPLES_OF_A_QUARTER).then(|| of[of.len() / 2])
}

/// The medians of the second and of the last quarter of the time for which there are samples. None if that is too short.
fn quarters(series: &[(f64, f64)], run_s: f64) -> Option<(f64, f64)> {
    let (begin, end) = (series.first()?.0, series.last()?.0);
    let span = end - begin;
    if span < run_s * SPAN {
        return None;
    }
    let between = |from: f64, to: f64| {
        let inside = series.iter().filter(|(at, _)| (begin + span * from..=begin + span * to).contains(at));
        median(inside.map(|(_, value)| *value).collect())
    };
    Some((between(0.25, 0.5)?, between(0.75, 1.0)?))
}

fn growth(what: &str, series: &[(f64, f64)], run_s: f64, part: f64, floor: f64) -> Option<Growth> {
    let (from, to) = quarters(series, run_s)?;
    Some(Growth { what: what.to_owned(), from, to, allowed: (from * (1.0 + part)).max(from + floor), is_judged: true })
}

/// Checks the memory of each kind of process: the median of the last quarter is not much above that of the second one.
pub(super) fn memory(samples: &[Sample], run_s: f64) -> (Check, Vec<Growth>) {
    let mut kinds: BTreeMap<&str, Vec<(f64, f64)>> = BTreeMap::new();
    for sample in samples {
        for (kind, kb) in &sample.memory_kb {
            kinds.entry(kind).or_default().push((sample.at_s, *kb as f64));
        }
    }
    let floor = if run_s < SHORT_RUN_S { MEMORY_FLOOR_SHORT_KB } else { MEMORY_FLOOR_KB };
    let of_kind = |(kind, series): (&&str, &Vec<(f64, f64)>)| {
        let is_judged = ![EMULATOR, REDIS, SOAK].contains(kind);
        Some(Growth { is_judged, ..growth(kind, series, run_s, MEMORY_PART, floor)? })
    };
    let growths: Vec<Growth> = kinds.iter().filter_map(of_kind).collect();
    let told = |Growth { what, from, to, allowed, .. }: &Growth| {
        let [from, to, allowed] = [from, to, allowed].map(|kb| kb / 1024.0);
        format!("{what}: from {from:.1} to {to:.1} MB, but only {allowed:.1} are allowed")
    };
    let mut wrong: Vec<String> = growths.iter().filter(|growth| !growth.is_flat()).map(told).collect();
    let judged = growths.iter().filter(|growth| growth.is_judged).count();
    if judged == 0 {
        wrong.push("no process ran for long enough to be judged".to_owned());
    }
    (Check::of("memory is flat", format!("{judged} kinds of function processes"), wrong), growths)
}

/// Checks that neither Redis's memory beyond its keys nor the number of short-lived keys grows.
pub(super) fn redis(samples: &[Sample], run_s: f64) -> Vec<Check> {
    let series = |value: &dyn Fn(&super::keys::Keys) -> f64| -> Vec<(f64, f64)> {
        samples.iter().filter_map(|sample| Some((sample.at_s, value(sample.keys.as_ref()?)))).collect()
    };
    let judge = |name: &'static str, series: Vec<(f64, f64)>, part: f64, floor: f64, unit: f64, shown: &str| {
        let Some(growth) = growth(name, &series, run_s, part, floor) else {
            return Check::of(name, "", vec!["too few samples".to_owned()]);
        };
        let found =
            format!("{:.1} {shown} in the second quarter, {:.1} in the last", growth.from / unit, growth.to / unit);
        let wrong = (!growth.is_flat()).then(|| format!("only {:.1} {shown} are allowed", growth.allowed / unit));
        Check::of(name, found, wrong.into_iter().collect())
    };
    let beyond = series(&|keys| keys.used_bytes.saturating_sub(keys.bytes) as f64);
    let fleeting = series(&|keys| keys.fleeting() as f64);
    vec![
        judge("Redis's memory beyond its keys is flat", beyond, BEYOND_KEYS_PART, BEYOND_KEYS_FLOOR, 1_048_576.0, "MB"),
        judge("the number of short-lived keys is flat", fleeting, FLEETING_PART, FLEETING_FLOOR, 1.0, "keys"),
    ]
}

/// Checks that every key expires, in time, and is of a documented kind.
pub(super) fn lives(samples: &[Sample]) -> Vec<Check> {
    let seen: u64 = samples.iter().filter_map(|sample| sample.keys.as_ref()).map(super::keys::Keys::all).sum();
    let looks = samples.iter().filter(|sample| sample.keys.is_some()).count();
    let collect = |of: &dyn Fn(&super::keys::Keys) -> &Vec<String>| -> Vec<String> {
        // Each name is listed once, when first seen. Its TTL follows it.
        let mut seen = BTreeSet::new();
        let mut found = Vec::new();
        for sample in samples {
            for name in sample.keys.iter().flat_map(of) {
                if seen.insert(name.split(' ').next().unwrap_or_default().to_owned()) {
                    found.push(format!("{}  {name}", clock(sample.at_s)));
                }
            }
        }
        found
    };
    let nobody = if seen == 0 { vec!["no key was ever seen".to_owned()] } else { vec![] };
    let found = format!("{seen} keys in {looks} samples");
    vec![
        Check::of("no key lacks a TTL", found, [nobody, collect(&|keys| &keys.without_ttl)].concat()),
        Check::of("no key outlives the limit of its kind", "", collect(&|keys| &keys.too_long)),
        Check::of("every key is of a kind listed in lua/README.md", "", collect(&|keys| &keys.unknown)),
    ]
}

/// A round of the run: its lanes, and the second at which it is over.
#[derive(Debug, Clone)]
pub(super) struct Opened {
    pub(super) round: String,
    pub(super) lanes: u64,
    /// Includes the payment window of its last orders.
    pub(super) over_s: f64,
}

/// Checks that keys are of rounds that were opened, few per lane, and do not grow once their round is over.
pub(super) fn rounds(samples: &[Sample], opened: &[Opened]) -> Check {
    let known: BTreeMap<&str, &Opened> = opened.iter().map(|one| (&*one.round, one)).collect();
    let (mut wrong, mut over) = (Vec::new(), 0);
    for sample in samples {
        for (round, of_round) in sample.keys.iter().flat_map(|keys| &keys.by_round) {
            let Some(one) = known.get(&**round) else {
                wrong.push(format!("{round} was never opened"));
                continue;
            };
            let most = one.lanes * KINDS_OF_A_LANE;
            if of_round.lanes > one.lanes || of_round.keys > most {
                let at = clock(sample.at_s);
                wrong.push(format!("{at}  {round} has {} keys in {} lanes", of_round.keys, of_round.lanes));
            }
        }
    }
    wrong.dedup();
    for Opened { round, over_s, .. } in opened {
        let after = samples.iter().filter(|sample| sample.at_s >= *over_s);
        let of_round: Vec<(f64, f64)> = after
            .filter_map(|sample| Some((sample.at_s, sample.keys.as_ref()?.by_round.get(round)?.bytes as f64)))
            .collect();
        let (Some((_, first)), Some((at_s, last))) = (of_round.first(), of_round.last()) else { continue };
        over += 1;
        if *last > (first * (1.0 + OVER_PART)).max(first + OVER_FLOOR) {
            wrong.push(format!("{round} grew from {first} to {last} bytes by {} although it is over", clock(*at_s)));
        }
    }
    if over == 0 {
        wrong.push("no round was sampled after its end".to_owned());
    }
    let found = format!("{} rounds were opened, {over} were sampled after their end", opened.len());
    Check::of("a round's keys are bounded, and do not grow once it is over", found, wrong)
}

pub(super) fn queues(samples: &[Sample]) -> Vec<Check> {
    let mut most: BTreeMap<&str, u64> = BTreeMap::new();
    for (queue, depth) in samples.iter().flat_map(|sample| &sample.queues) {
        let most = most.entry(queue).or_default();
        *most = depth.all().max(*most);
    }
    let last = samples.iter().rev().find(|sample| !sample.queues.is_empty());
    let left = |dead: bool| -> Vec<String> {
        let Some(last) = last else { return vec!["no queue was ever seen".to_owned()] };
        let left = last.queues.iter().filter(|(queue, depth)| is_for_the_dead(queue) == dead && depth.all() > 0);
        left.map(|(queue, depth)| format!("{queue}: {} messages", depth.all())).collect()
    };
    let at_most = |dead: bool| {
        let most = most.iter().filter(|(queue, _)| is_for_the_dead(queue) == dead);
        let most: Vec<String> = most.map(|(queue, most)| format!("{queue} {most}")).collect();
        format!("at most {}", most.join(", "))
    };
    vec![
        Check::of("the backlog drains", at_most(false), left(false)),
        Check::of("no dead letter is left", at_most(true), left(true)),
    ]
}

/// Checks that there are hardly any errors in quiet times, given the number of each kind.
pub(super) fn calm(asked: u64, errors: &BTreeMap<String, u64>) -> Check {
    let all: u64 = errors.values().sum();
    let found = format!("{all} errors in {asked} requests long after the last kill, failover or deployment");
    let is_many = all as f64 > asked as f64 * ERRORS_IN_CALM;
    let wrong = errors.iter().filter(|_| is_many).map(|(what, count)| format!("{count} × {what}")).collect();
    Check::of("there are no errors in quiet times", found, wrong)
}

#[cfg(test)]
#[path = "check_tests.rs"]
mod tests;
