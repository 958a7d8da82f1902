//! The result of a run: for people, for programs, and every sample.

use std::collections::BTreeMap;
use std::fmt;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::PathBuf;

use anyhow::{Context, Result};
use serde::Serialize;

use super::changed::Scripts;
use super::check::{Check, Growth};
use super::drain::Rest;
use super::journal::folder;
use super::keys::{Life, kinds};
use super::program::{Program, clock};
use super::run::Done;
use super::sample::Sample;
use super::tally::Counts;
use super::watch::pause_s;

#[derive(Debug, Serialize)]
pub(super) struct Report {
    pub(super) passed: bool,
    pub(super) program: Program,
    pub(super) checks: Vec<Check>,
    pub(super) events: Vec<Done>,
    pub(super) killed: usize,
    pub(super) scripts: Option<Scripts>,
    pub(super) counts: Counts,
    pub(super) memory: Vec<Growth>,
    pub(super) rest: Rest,
    pub(super) orders: BTreeMap<String, u64>,
    /// Items of the table by the prefix of their keys: all of them, and those that expire.
    pub(super) items: BTreeMap<String, (u64, u64)>,
    pub(super) history: String,
    pub(super) samples: usize,
    pub(super) last: Option<Sample>,
    pub(super) most_keys: BTreeMap<String, u64>,
}

pub(super) fn most_keys(samples: &[Sample]) -> BTreeMap<String, u64> {
    let mut most: BTreeMap<String, u64> = BTreeMap::new();
    for (kind, count) in samples.iter().filter_map(|sample| sample.keys.as_ref()).flat_map(|keys| &keys.by_kind) {
        let most = most.entry(kind.clone()).or_default();
        *most = (*count).max(*most);
    }
    most
}

impl Report {
    /// Writes `report.json`, `report.txt` and `samples.jsonl` in `target/soak`. Returns the path of the text.
    pub(super) fn write(&self, samples: &[Sample]) -> Result<PathBuf> {
        let text = folder().join("report.txt");
        let write = || -> Result<()> {
            std::fs::write(&text, self.to_string())?;
            std::fs::write(folder().join("report.json"), serde_json::to_string_pretty(self)?)?;
            let mut lines = BufWriter::new(File::create(folder().join("samples.jsonl"))?);
            for sample in samples {
                serde_json::to_writer(&mut lines, sample)?;
                lines.write_all(b"\n")?;
            }
            Ok(lines.flush()?)
        };
        write().with_context(|| format!("cannot write to {}", folder().display()))?;
        Ok(text)
    }
}

fn line(f: &mut fmt::Formatter<'_>, name: &str, value: &dyn fmt::Display) -> fmt::Result {
    writeln!(f, "  {name:<34} {value}")
}

fn list<K: fmt::Display, V: fmt::Display>(of: impl IntoIterator<Item = (K, V)>) -> String {
    of.into_iter().map(|(name, count)| format!("{name} {count}")).collect::<Vec<_>>().join(", ")
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Program { minutes, seed, day_s, units, visitors_per_s, .. } = &self.program;
        let result = if self.passed { "PASSED" } else { "FAILED" };
        writeln!(f, "Soak of {minutes} minutes, seed {seed}: {result}\n")?;
        let days = self.rest.audits.iter().filter(|audit| audit.round.starts_with("daily.")).count();
        line(f, "days of the daily sale", &format!("{days}, of {day_s:.0} s and {units} units each"))?;
        line(f, "visitors", &format!("{}, {visitors_per_s} a second", self.counts.visitors))?;
        line(f, "reserved (202)", &self.counts.reserved)?;
        line(f, "orders", &list(&self.orders))?;
        line(f, "processes killed", &self.killed)?;
        if let Some(Scripts { old, new }) = &self.scripts {
            line(f, "reserve.lua", &format!("{}, and {} on the new side", &old[..12], &new[..12]))?;
        }
        let pause = pause_s(self.program.lasts_s());
        line(f, "samples", &format!("{}, one every {pause:.0} s", self.samples))?;
        line(f, "from the last visitor to rest", &format!("{:.0} s", self.rest.seconds))?;

        writeln!(f, "\nChecks")?;
        for Check { name, passed, found, wrong } in &self.checks {
            let gap = if found.is_empty() { "" } else { ": " };
            writeln!(f, "  {} {name}{gap}{found}", if *passed { "✓" } else { "✗" })?;
            wrong.iter().try_for_each(|wrong| writeln!(f, "      {wrong}"))?;
        }

        writeln!(f, "\nMemory, MB: medians of the second and the last quarter of a process's time, and the limit")?;
        for Growth { what, from, to, allowed, is_judged } in &self.memory {
            let mb = |kb: &f64| kb / 1024.0;
            let allowed = if *is_judged { format!("{:>8.1}", mb(allowed)) } else { "not judged".to_owned() };
            writeln!(f, "  {what:<34} {:>8.1} {:>8.1} {allowed}", mb(from), mb(to))?;
        }

        writeln!(f, "\nKeys in Redis: at most at once, and at the end")?;
        let last = self.last.as_ref().and_then(|sample| sample.keys.as_ref());
        for (kind, life) in kinds().filter(|(kind, _)| self.most_keys.contains_key(*kind)) {
            let (most, now) = (self.most_keys[kind], last.and_then(|keys| keys.by_kind.get(kind)).copied());
            let lives = if life == Life::Round { "as long as its round" } else { "comes and goes" };
            writeln!(f, "  {kind:<34} {most:>8} {:>8} {lives}", now.unwrap_or_default())?;
        }

        writeln!(f, "\nItems in the table by prefix: all, and those that expire")?;
        self.items.iter().try_for_each(|(prefix, (all, expire))| writeln!(f, "  {prefix:<34} {all:>8} {expire:>8}"))?;

        writeln!(f, "\nAnswers")?;
        for (step, answers) in &self.counts.answers {
            line(f, step, &list(answers))?;
        }
        line(f, "how reservations ended", &list(&self.counts.ended))?;
        line(f, "by gateway", &list(&self.counts.by_side))?;

        writeln!(f, "\nRounds: free + held + ordered of all")?;
        for audit in &self.rest.audits {
            let place = if audit.in_redis { "" } else { ", by its orders alone: Redis lost it when it was over" };
            let said = format!("{} + {} + {} of {}{place}", audit.free, audit.held, audit.ordered, audit.total);
            line(f, &format!("{}, lanes: {}", audit.round, audit.lanes), &said)?;
        }

        writeln!(f, "\nWhat happened")?;
        for Done { at_s, what, found, succeeded, .. } in &self.events {
            let mark = if *succeeded { " " } else { "✗" };
            writeln!(f, "  {} {mark} {what}: {found}", clock(*at_s))?;
        }
        writeln!(f, "\nHistory\n  {}", self.history.trim_end().replace('\n', "\n  "))
    }
}
