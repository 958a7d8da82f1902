//! The schedule of events, which follows from the minutes and the seed.

use std::collections::BTreeSet;
use std::fmt;

use command_line::of_these;
use rand::rngs::StdRng;
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use serde::Serialize;

/// Separates the streams of a seed: an odd number with about as many ones as zeros.
const STREAM: u64 = 0xD1B5_4A32_D192_ED03;
/// The length of a day of the daily sale: a twelfth of a run of an hour, and at least long enough to sell something.
const SHORTEST_DAY_S: f64 = 40.0;
const LONGEST_DAY_S: f64 = 300.0;
const DAYS_AT_LEAST: f64 = 12.0;
/// The fraction of a day for which a one-time sale is open.
const DROP_LASTS: f64 = 0.7;
/// When the changed function is deployed, and the old one gets no more requests, as fractions of the run.
const DEPLOYED_AT: f64 = 0.35;
const RETIRED_AT: f64 = 0.65;
/// One failover in this many minutes, and at least one of each kind.
const MINUTES_PER_FAILOVER: f64 = 10.0;
/// One kill in this many minutes, and at least one of each function.
const MINUTES_PER_KILL: f64 = 2.0;
pub(super) const PAUSE_S: f64 = 4.0;
const VISITORS_PER_S: f64 = 4.0;
/// The fraction of a day's visitors for whom there are units.
const UNITS_PER_VISITOR: f64 = 0.25;

/// The functions whose processes are killed: behind the API, behind queues and on schedules.
pub(super) const KILLED: [&str; 8] =
    ["reservation", "order", "payment", "expiry", "admission", "reconciliation", "warmup", "admin"];

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Loss {
    /// Its successor is a new, empty node.
    Everything,
    /// Its successor is a replica that lacks the last writes.
    LastWrites,
    /// Its successor is a replica that has all writes.
    Nothing,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "what")]
pub(super) enum What {
    NextDay,
    // The one-time sale `drop-NUMBER`.
    OpenDrop { number: usize, units: u32, lanes: u16, open_s: u32 },
    CloseDrop { number: usize },
    Restock { units: u32 },
    Edit,
    Pause,
    Kill { function: &'static str },
    Failover { losing: Loss },
    // The changed reservation function, beside the old one, which retires later.
    Deploy,
    Retire,
}

#[derive(Debug, Clone, Serialize)]
pub(super) struct Event {
    /// Seconds from the beginning.
    pub(super) at_s: f64,
    #[serde(flatten)]
    pub(super) what: What,
}

#[derive(Debug, Clone, Serialize)]
pub(super) struct Program {
    pub(super) minutes: u32,
    pub(super) seed: u64,
    pub(super) day_s: f64,
    pub(super) visitors_per_s: f64,
    /// Units of the daily sale each day.
    pub(super) units: u32,
    pub(super) events: Vec<Event>,
}

/// Repeatable chance: the same seed and stream give the same numbers.
pub(super) fn dice(seed: u64, stream: u64) -> StdRng {
    StdRng::seed_from_u64(seed ^ stream.wrapping_mul(STREAM))
}

fn shuffled<T, const N: usize>(mut of: [T; N], dice: &mut StdRng) -> [T; N] {
    of.shuffle(dice);
    of
}

impl Program {
    pub(super) fn make(minutes: u32, seed: u64) -> Self {
        let lasts_s = f64::from(minutes) * 60.0;
        let day_s = (lasts_s / DAYS_AT_LEAST).clamp(SHORTEST_DAY_S, LONGEST_DAY_S);
        let units = (VISITORS_PER_S * day_s * UNITS_PER_VISITOR) as u32;
        let mut dice = dice(seed, 0);
        let mut events = Vec::new();
        let mut at = |at_s: f64, what: What| events.push(Event { at_s: (at_s * 10.0).round() / 10.0, what });

        let days = (lasts_s / day_s).ceil() as usize;
        for day in 0..days {
            let begins_s = day as f64 * day_s;
            if day > 0 {
                at(begins_s, What::NextDay);
            }
            let in_the_day = |dice: &mut StdRng| begins_s + day_s * dice.random_range(0.2..0.8);
            let lanes = [1, 2, 4][day % 3];
            let (open_s, drop_at_s) = ((day_s * DROP_LASTS) as u32, begins_s + day_s * dice.random_range(0.05..0.2));
            at(drop_at_s, What::OpenDrop { number: day + 1, units: units / 2, lanes, open_s });
            if day % 2 == 1 {
                at(drop_at_s + day_s * 0.5, What::CloseDrop { number: day + 1 });
            }
            // One day in three there is no restock, so that the history checker can verify the moment of each `sold_out`.
            if day % 3 == 2 {
                at(in_the_day(&mut dice), What::Pause);
                continue;
            }
            at(in_the_day(&mut dice), What::Restock { units: dice.random_range(1..=units / 5) });
            let adjustment = if day % 2 == 0 { What::Pause } else { What::Edit };
            at(in_the_day(&mut dice), adjustment);
        }

        at(lasts_s * DEPLOYED_AT, What::Deploy);
        at(lasts_s * RETIRED_AT, What::Retire);

        // One in each part of the run, somewhere near its middle.
        let spread = |count: usize, dice: &mut StdRng| -> Vec<f64> {
            let part_s = lasts_s / count as f64;
            (0..count).map(|n| part_s * (n as f64 + dice.random_range(0.25..0.75))).collect()
        };
        let kinds = [Loss::Everything, Loss::LastWrites, Loss::Nothing];
        let rounds = (f64::from(minutes) / MINUTES_PER_FAILOVER / kinds.len() as f64).ceil() as usize;
        let losses: Vec<Loss> = (0..rounds).flat_map(|_| shuffled(kinds, &mut dice)).collect();
        for (at_s, losing) in spread(losses.len(), &mut dice).into_iter().zip(losses) {
            at(at_s, What::Failover { losing });
        }
        let rounds = (f64::from(minutes) / MINUTES_PER_KILL / KILLED.len() as f64).ceil() as usize;
        let killed: Vec<&str> = (0..rounds).flat_map(|_| shuffled(KILLED, &mut dice)).collect();
        for (at_s, function) in spread(killed.len(), &mut dice).into_iter().zip(killed) {
            at(at_s, What::Kill { function });
        }
        events.retain(|event| event.at_s < lasts_s);
        events.sort_by(|one, other| one.at_s.total_cmp(&other.at_s));
        Self { minutes, seed, day_s, visitors_per_s: VISITORS_PER_S, units, events }
    }

    pub(super) fn kinds(&self) -> BTreeSet<&'static str> {
        self.events.iter().map(|event| event.what.kind()).collect()
    }

    /// Seconds from the first visitor to the last.
    pub(super) fn lasts_s(&self) -> f64 {
        f64::from(self.minutes) * 60.0
    }
}

impl What {
    /// Its kind. Each run has at least one event of each.
    pub(super) const fn kind(&self) -> &'static str {
        match self {
            Self::NextDay => "next day",
            Self::OpenDrop { .. } => "sale opened",
            Self::CloseDrop { .. } => "sale closed early",
            Self::Restock { .. } => "restock",
            Self::Edit => "edit",
            Self::Pause => "pause and resume",
            Self::Kill { .. } => "kill -9",
            Self::Failover { losing: Loss::Everything } => "failover that loses everything",
            Self::Failover { losing: Loss::LastWrites } => "failover that loses the last writes",
            Self::Failover { losing: Loss::Nothing } => "failover that loses nothing",
            Self::Deploy => "changed function deployed",
            Self::Retire => "old function retired",
        }
    }
}

impl fmt::Display for What {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NextDay => write!(f, "the daily sale's next day begins"),
            Self::OpenDrop { number, units, lanes, open_s } => {
                let lanes = of_these(u64::from(*lanes), "lane");
                write!(f, "drop-{number} opens for {open_s} s: {units} units in {lanes}")
            }
            Self::CloseDrop { number } => write!(f, "drop-{number} is closed early"),
            Self::Restock { units } => write!(f, "{units} more units for the daily sale"),
            Self::Edit => write!(f, "the daily sale gets another title"),
            Self::Pause => write!(f, "the daily sale is paused for {PAUSE_S} s"),
            Self::Kill { function } => write!(f, "kill -9: {function}"),
            Self::Failover { losing: Loss::Everything } => write!(f, "Redis dies and comes back empty"),
            Self::Failover { losing: Loss::LastWrites } => write!(f, "Redis dies and is back without its last writes"),
            Self::Failover { losing: Loss::Nothing } => write!(f, "Redis dies and comes back with everything"),
            Self::Deploy => write!(f, "a changed reservation function with a changed script, beside the old one"),
            Self::Retire => write!(f, "the old reservation function gets no more requests"),
        }
    }
}

pub(super) fn clock(seconds: f64) -> String {
    let whole = seconds.max(0.0) as u64;
    format!("{:02}:{:02}", whole / 60, whole % 60)
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { minutes, seed, day_s, visitors_per_s, units, events } = self;
        write!(f, "{minutes} minutes with seed {seed}: days of {day_s:.0} s with {units} units each, ")?;
        writeln!(f, "{visitors_per_s} visitors a second")?;
        events.iter().try_for_each(|Event { at_s, what }| writeln!(f, "  {}  {what}", clock(*at_s)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_run_has_each_kind_of_event_in_its_time() {
        for (minutes, seed) in [(2, 1), (3, 1), (3, 7), (60, 1), (240, 9)] {
            let program = Program::make(minutes, seed);
            assert_eq!(program.kinds().len(), 12, "{minutes} minutes");
            for function in KILLED {
                assert!(program.events.iter().any(|event| event.what == What::Kill { function }), "{function}");
            }
            assert!(program.events.iter().all(|event| (0.0..program.lasts_s()).contains(&event.at_s)));
            assert!(program.events.is_sorted_by(|one, other| one.at_s <= other.at_s));
        }
    }

    #[test]
    fn a_seed_says_all() {
        let text = |seed| Program::make(5, seed).to_string();
        assert_eq!(text(1), text(1));
        assert_ne!(text(1), text(2));
    }
}
