use std::fmt;
use std::str::FromStr;

use crate::line::order::WHOLE_PPB;
use crate::line::watermark::Watermark;

/// How long the line waits for an admitted person, in seconds. Somebody who comes later is still let in, since the line
/// never moves back; it only stops counting on them, so that absent people hold nobody up.
pub const TURN_S: u32 = 60;
/// How many people the line admits for a free unit, at most. Most admitted people are absent or undecided.
pub const OVERBOOKED: u64 = 10;
/// The line moves at most once in this many milliseconds.
pub const POLL_AGAIN_MS: u64 = 1000;
/// The longest pause that is made up for, in milliseconds: twice the usual one while people poll. After a longer one,
/// or an outage of Redis, the line does not catch up all at once.
const LONGEST_STEP_MS: u64 = 2 * POLL_AGAIN_MS;
/// How far ahead of what is published the ledger's ceiling is, in seconds at the planned rate: see [`ceiling`].
const AHEAD_S: u64 = 10;
/// A person in the unit of rates and remainders, thousandths.
const MILLI: u64 = 1000;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Progress {
    /// When it moved last, in milliseconds since the Unix epoch by Redis's clock.
    pub at_ms: u64,
    pub watermark: Watermark,
    /// People who came early, as far as they are counted. Never decreases.
    pub people: u64,
    /// The remainder of the last step: less than a part per billion (in millionths of a thousandth of a person), or
    /// less than a late person (in thousandths); or of its time less than a second (in milliseconds), while the line
    /// passes through seconds that Redis has lost.
    pub carry: u64,
    /// Admitted people who have neither bought nor run out of time, in thousandths.
    pub waited_for: u64,
    pub taken: u64,
    /// Redis has lost the users who came late before this second, so their number is unknown. Their tickets have their
    /// places, and the line passes through these seconds as fast as they passed.
    pub unknown_until_s: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Flow {
    /// The current time, by Redis's clock.
    pub now_ms: u64,
    pub opens_at_ms: u64,
    pub people: u64,
    pub late_waiting: u64,
    pub free: u64,
    pub taken: u64,
    /// How many of those may come back.
    pub may_return: u64,
    /// People to admit in a second; 0 while the line is paused.
    pub per_s: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Advance {
    pub progress: Progress,
    pub late: Late,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Late {
    /// None: it is early users' turn.
    Stay,
    More(u64),
    /// Those who came before this second.
    Until(u64),
}

/// Moves a line as far as its rate and the units allow. `None` if it is not time.
///
/// The line moves as long as the admitted people who have neither bought nor run out of time could still be served:
/// from free units, from those that may come back, or, since most admitted people do not come at once, from
/// [`OVERBOOKED`] people for each free unit. While nothing is free it stands still, and waits for nobody. A unit that
/// comes back moves it by at most [`OVERBOOKED`] people a second.
pub fn advance(before: &Progress, flow: &Flow) -> Option<Advance> {
    let since_ms = since_ms(before, flow)?;
    let step_ms = since_ms.clamp(POLL_AGAIN_MS, LONGEST_STEP_MS);
    let people = before.people.max(flow.people);
    let bought = flow.taken.saturating_sub(before.taken);
    // Admitted people who found nothing free have been told "sold out", and need not be waited for.
    let since_ms = if flow.free == 0 { u64::MAX } else { since_ms };
    let waited_for = still_waited_for(before.waited_for.saturating_sub(bought * MILLI), since_ms);

    let can_serve = (flow.free + flow.may_return).max(flow.free * OVERBOOKED) * MILLI;
    let room = if flow.free == 0 { 0 } else { can_serve.saturating_sub(waited_for) };
    // People a second times milliseconds gives thousandths of people.
    let budget = (flow.per_s * step_ms).min(flow.free * OVERBOOKED * step_ms).min(room);

    let mut watermark = before.watermark;
    let mut carry = before.carry;
    let mut left = budget;
    if watermark.early_ppb < WHOLE_PPB {
        let missing = WHOLE_PPB - watermark.early_ppb;
        // Parts per billion of all people, times people.
        let given = u128::from(budget) * 1_000_000 + u128::from(carry);
        let needed = u128::from(missing) * u128::from(people);
        if flow.per_s > 0 && needed <= given && (people == 0 || budget > 0) {
            watermark.early_ppb = WHOLE_PPB;
            left = ((given - needed) / 1_000_000) as u64;
            carry = 0;
        } else {
            let parts = given.checked_div(u128::from(people)).unwrap_or(0);
            watermark.early_ppb += parts as u32;
            carry = (given - parts * u128::from(people)) as u64;
            left = 0;
        }
    }
    let mut late = Late::Stay;
    let mut unused = 0;
    if watermark.early_ppb == WHOLE_PPB && watermark.late_s < before.unknown_until_s {
        let passed_ms = carry + if budget > 0 { step_ms } else { 0 };
        let until_s = watermark.late_s.max(flow.opens_at_ms / 1000) + passed_ms / 1000;
        late = Late::Until(until_s.min(before.unknown_until_s));
        carry = if until_s < before.unknown_until_s { passed_ms % 1000 } else { 0 };
        unused = left;
    } else if watermark.early_ppb == WHOLE_PPB {
        let given = left + carry;
        let more = (given / MILLI).min(flow.late_waiting);
        late = Late::More(more);
        carry = given % MILLI;
        unused = (given / MILLI - more) * MILLI;
    }
    let waited_for = waited_for + budget.saturating_sub(unused);
    if let Late::Until(second) = late {
        (watermark.late_s, watermark.late_ppb) = (second, 0);
    }
    let progress = Progress { at_ms: flow.now_ms, watermark, people, carry, waited_for, taken: flow.taken, ..*before };
    Some(Advance { progress, late })
}

/// Lets time pass while a line stands still, so that it does not catch up later: the units are unknown, or the position
/// cannot be recorded in the ledger. `None` if it is not time.
pub fn stand(before: &Progress, flow: &Flow) -> Option<Progress> {
    let waited_for = still_waited_for(before.waited_for, since_ms(before, flow)?);
    Some(Progress { at_ms: flow.now_ms, people: before.people.max(flow.people), waited_for, ..*before })
}

/// Milliseconds since the line last moved. `None` if it is not time to move it again.
fn since_ms(before: &Progress, flow: &Flow) -> Option<u64> {
    let since_ms = flow.now_ms.saturating_sub(before.at_ms.max(flow.opens_at_ms));
    (flow.now_ms >= flow.opens_at_ms && (since_ms >= POLL_AGAIN_MS || before.at_ms == 0)).then_some(since_ms)
}

/// How many admitted people are still waited for after `since_ms`.
fn still_waited_for(people: u64, since_ms: u64) -> u64 {
    let turn_ms = u64::from(TURN_S) * 1000;
    let still_ms = turn_ms - since_ms.min(turn_ms);
    (u128::from(people) * u128::from(still_ms) / u128::from(turn_ms)) as u64
}

impl Progress {
    /// Restores a line that Redis does not have, from the ledger's record: its ceiling, if it has moved, and how many
    /// people came early. `counted` is how many Redis knows now: if fewer, it has lost the others, and late users too.
    pub fn restored(ceiling: Option<Watermark>, people: u64, counted: u64, now_ms: u64, taken: u64) -> Self {
        let unknown_until_s = if ceiling.is_some() || counted < people { now_ms / 1000 + 1 } else { 0 };
        match ceiling {
            Some(watermark) => Self { at_ms: now_ms, watermark, people, taken, unknown_until_s, ..Self::default() },
            None => Self { people, unknown_until_s, ..Self::default() },
        }
    }

    pub fn head(&self) -> String {
        format!("{} {}", self.at_ms, self.watermark.early_ppb)
    }

    pub fn tail(&self) -> String {
        let Self { people, carry, waited_for, taken, unknown_until_s, .. } = self;
        format!("{people} {carry} {waited_for} {taken} {unknown_until_s}")
    }
}

/// The form in Redis.
impl fmt::Display for Progress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {} {}", self.head(), self.watermark.late_s, self.watermark.late_ppb, self.tail())
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("this is not how far a line is")]
pub struct InvalidProgress;

/// Fields that a later version appended are ignored.
impl FromStr for Progress {
    type Err = InvalidProgress;

    fn from_str(text: &str) -> Result<Self, InvalidProgress> {
        let numbers: Result<Vec<u64>, _> = text.split(' ').map(str::parse).collect();
        let numbers = numbers.map_err(|_| InvalidProgress)?;
        let [at_ms, early, late_s, late, people, carry, waited_for, taken, unknown_until_s, ..] = numbers[..] else {
            return Err(InvalidProgress);
        };
        let parts = |number: u64| u32::try_from(number).ok().filter(|ppb| *ppb <= WHOLE_PPB).ok_or(InvalidProgress);
        let watermark = Watermark { early_ppb: parts(early)?, late_s, late_ppb: parts(late)? };
        Ok(Self { at_ms, watermark, people, carry, waited_for, taken, unknown_until_s })
    }
}

/// A watermark that the line does not pass within the next seconds. It is written to the ledger before the line passes
/// the previous one. After Redis has lost the line, it continues from there.
pub fn ceiling(progress: &Progress, per_s: u64) -> Watermark {
    let Progress { watermark, people, .. } = *progress;
    let ahead = u128::from(per_s) * u128::from(AHEAD_S) * u128::from(WHOLE_PPB);
    // Either nobody is known yet or nobody is there; neither is a reason to admit everybody.
    let parts = ahead.checked_div(u128::from(people)).unwrap_or(0);
    let early_ppb = (u128::from(watermark.early_ppb) + parts).min(u128::from(WHOLE_PPB)) as u32;
    let late_s = if watermark.late_s == 0 { 0 } else { watermark.late_s + AHEAD_S };
    Watermark { early_ppb, late_s, late_ppb: 0 }
}
