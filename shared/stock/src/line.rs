//! The line in front of a round: who came when, and how far it has moved. Its keys have their own hash tag, so they
//! need not be on the same shard as the round's units.

use sale::{EpochMs, RoundId, UserId};
use sha2::{Digest, Sha256};

use crate::script::{Invocation, LINE, TICKET};
use crate::script_code::{moment, parse, unexpected};
use crate::{RoundStock, ScriptCode, StockError};

/// Bits of the filter for each expected person, and bits set for each: 0.8 % of late users are taken for early ones.
/// 1.25 MB for a million people. `ticket.lua` begins another filter when there are fewer bits for each.
const BITS_PER_PERSON: u64 = 10;
const BITS_OF_A_PERSON: usize = 7;
/// The fewest people that a filter is made for: a full one gives late users the places of early ones.
const FEWEST_PEOPLE: u32 = 1_000_000;
/// The largest number of people that the first and the second filter are made for: 12.5 MB each, which Redis fills with
/// zeros for the first user while all others wait. That takes about a millisecond a megabyte (SETBIT).
const MOST_PEOPLE: u32 = 10_000_000;

#[derive(Debug, Clone, Copy)]
pub struct Joining<'a> {
    pub user: &'a UserId,
    pub tickets_from: EpochMs,
    pub opens_at: EpochMs,
    pub closes_at: EpochMs,
    pub expires_at: EpochMs,
    pub expected: Option<u32>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Joined {
    Early,
    Late(u64),
    NotOpen(EpochMs),
    Closed,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineSnapshot {
    pub now: EpochMs,
    /// Roughly how many users came early: a HyperLogLog with a standard error of 0.81 %.
    pub people: u64,
    pub late: u64,
    pub late_admitted: u64,
    /// How far the line has moved, as stored. `None` if Redis does not have it.
    pub progress: Option<String>,
}

#[derive(Debug, Clone)]
pub struct LineStep {
    pub before: Option<String>,
    pub head: String,
    pub tail: String,
    /// How many late users to admit; `None` to leave them as they are.
    pub late: Option<u64>,
    /// Users who came late before this second are admitted.
    pub late_s: u64,
    /// And this part of those who came in it, in parts per billion.
    pub late_ppb: u32,
    /// The second, and the part of those who came in it, beyond which no late user may be admitted.
    pub late_most: Option<(u64, u32)>,
    pub expires_at: EpochMs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineMoved {
    /// Late users are admitted up to this second, and this part of those who came in it.
    To(u64, u32),
    /// They would be admitted up to this second and part, which is too far. Nothing changed.
    Beyond(u64, u32),
    Overtaken,
}

/// Stands for a line that Redis does not have.
const ABSENT: &str = "-";

impl RoundStock<'_> {
    fn line_key(self, kind: &str) -> String {
        let RoundId { sale, number } = self.id;
        format!("{kind}:{{{sale}:{number}:line}}")
    }

    /// Puts a user in line, or finds the user's place again. One call, and it can be repeated.
    pub async fn join_line(self, joining: &Joining<'_>) -> Result<Joined, StockError> {
        let Joining { user, tickets_from, opens_at, closes_at, expires_at, expected } = joining;
        let people = expected.unwrap_or(FEWEST_PEOPLE).clamp(FEWEST_PEOPLE, MOST_PEOPLE);
        let keys = ["people", "early", "arrivals", "line", "early_more"].map(|kind| self.line_key(kind));
        let mut call = TICKET.keys(keys);
        call = call.arg(tickets_from.0).arg(opens_at.0).arg(closes_at.0).arg(user.as_str());
        call = call.arg(bits_for(people)).arg(expires_at.0).arg(bits_for(MOST_PEOPLE));
        for word in words(user) {
            call = call.arg(word);
        }
        let answer = call.invoke_async(self.connection).await?;
        match parse(&answer)? {
            (ScriptCode::Early, _) => Ok(Joined::Early),
            (ScriptCode::Late, second) => second.parse().map(Joined::Late).map_err(|_| unexpected(&answer)),
            (ScriptCode::NotOpen, at) => Ok(Joined::NotOpen(moment(at, &answer)?)),
            (ScriptCode::Closed, _) => Ok(Joined::Closed),
            _ => Err(unexpected(&answer)),
        }
    }

    pub async fn read_line(self) -> Result<LineSnapshot, StockError> {
        self.snapshot_by(self.line()).await
    }

    /// Reads the line, and makes Redis keep it at least until this time.
    pub async fn read_line_and_keep(self, until: EpochMs) -> Result<LineSnapshot, StockError> {
        self.snapshot_by(self.line().arg(until.0)).await
    }

    fn line(self) -> Invocation<'static> {
        LINE.keys(["line", "people", "arrivals", "early", "early_more"].map(|kind| self.line_key(kind)))
    }

    async fn snapshot_by(self, call: Invocation<'_>) -> Result<LineSnapshot, StockError> {
        let answer = call.invoke_async(self.connection).await?;
        let (ScriptCode::Line, rest) = parse(&answer)? else { return Err(unexpected(&answer)) };
        let parse_all = || {
            let mut words = rest.splitn(5, ' ');
            let mut number = || words.next()?.parse::<u64>().ok();
            let (now, people, late, late_admitted) = (number()?, number()?, number()?, number()?);
            let progress = words.next()?;
            let progress = (progress != ABSENT).then(|| progress.to_owned());
            Some(LineSnapshot { now: EpochMs(now.try_into().ok()?), people, late, late_admitted, progress })
        };
        parse_all().ok_or_else(|| unexpected(&answer))
    }

    /// Moves the line if nobody else has since it was read. If Redis does not answer, it may or may not have moved.
    pub async fn move_line(self, step: &LineStep) -> Result<LineMoved, StockError> {
        let late = step.late.map_or(-1, |count| i64::try_from(count).unwrap_or(i64::MAX));
        let call = self.line().arg(step.before.as_deref().unwrap_or(ABSENT)).arg(&step.head).arg(&step.tail);
        let mut call = call.arg(late).arg(step.late_s).arg(step.late_ppb).arg(step.expires_at.0);
        if let Some((most_s, most_ppb)) = step.late_most {
            call = call.arg(most_s).arg(most_ppb);
        }
        let answer = call.invoke_async(self.connection).await?;
        let late = |rest: &str| {
            let (second, ppb) = rest.split_once(' ')?;
            Some((second.parse().ok()?, ppb.parse().ok()?))
        };
        match parse(&answer)? {
            (ScriptCode::Overtaken, _) => Ok(LineMoved::Overtaken),
            (code @ (ScriptCode::Advanced | ScriptCode::Beyond), rest) => {
                let (second, ppb) = late(rest).ok_or_else(|| unexpected(&answer))?;
                let of = if code == ScriptCode::Advanced { LineMoved::To } else { LineMoved::Beyond };
                Ok(of(second, ppb))
            }
            _ => Err(unexpected(&answer)),
        }
    }
}

fn bits_for(people: u32) -> u64 {
    (u64::from(people) * BITS_PER_PERSON).next_multiple_of(8)
}

/// The hashes from which a user's bits in the filter follow.
fn words(user: &UserId) -> [u32; BITS_OF_A_PERSON] {
    let digest: [u8; 32] = Sha256::digest(user.as_str()).into();
    let (words, _) = digest.as_chunks::<4>();
    std::array::from_fn(|n| u32::from_be_bytes(words[n]))
}
