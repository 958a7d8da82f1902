//! The line in front of a round: who came when, and how far it is. Its keys have a hash tag of their own, so they need not be where
//! the round's units are.

use std::sync::LazyLock;

use sale::{EpochMs, RoundId, UserId};
use sha2::{Digest, Sha256};

use crate::script::Script;
use crate::script_code::{moment, parse, unexpected};
use crate::{RoundStock, ScriptCode, StockError};

static TICKET: LazyLock<Script> = LazyLock::new(|| Script::new(crate::expanded::TICKET));
static LINE: LazyLock<Script> = LazyLock::new(|| Script::new(crate::expanded::LINE));

/// Bits of the filter for each person who is expected, and bits that it has of each: 0.8 % of the others are taken for somebody
/// who was early. 1.25 MB for a million people.
const BITS_PER_PERSON: u64 = 10;
const BITS_OF_A_PERSON: usize = 7;
/// Fewest people that a filter is made for: twelve kilobytes.
const FEWEST_PEOPLE: u32 = 10_000;
/// People that a filter is made for if nobody says how many come. One that is too full takes late ones for early ones.
const USUAL_PEOPLE: u32 = 1_000_000;
/// Most people that a filter is made for: 12.5 MB, which Redis fills with zeros for whoever comes first while all others wait. By its
/// documentation of SETBIT that takes about a millisecond for each megabyte.
const MOST_PEOPLE: u32 = 10_000_000;

/// Somebody who asks for a ticket.
#[derive(Debug, Clone, Copy)]
pub struct Joining<'a> {
    /// Who.
    pub user: &'a UserId,
    /// From when on there are tickets.
    pub tickets_from: EpochMs,
    /// When the sale opens.
    pub opens_at: EpochMs,
    /// When it closes.
    pub closes_at: EpochMs,
    /// When Redis may forget the line.
    pub expires_at: EpochMs,
    /// How many people are expected, if anybody says so.
    pub expected: Option<u32>,
}

/// What became of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Joined {
    /// The user came before the opening.
    Early,
    /// The user came in this second since the Unix epoch, after the opening.
    Late(u64),
    /// There are tickets from then on.
    NotOpen(EpochMs),
    /// The sale is over.
    Closed,
}

/// A line, as Redis has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineLook {
    /// Now, by Redis's clock.
    pub now: EpochMs,
    /// About how many users came early: a HyperLogLog with a standard error of 0.81 %.
    pub people: u64,
    /// How many came late.
    pub late: u64,
    /// How many of them are admitted.
    pub late_admitted: u64,
    /// How far the line is, as it was written. None if Redis does not have it.
    pub progress: Option<String>,
}

/// How a line is to move on.
#[derive(Debug, Clone)]
pub struct LineStep {
    /// What was read.
    pub before: Option<String>,
    /// What comes before the late ones.
    pub head: String,
    /// What comes after them.
    pub tail: String,
    /// How many late ones to admit; none to leave them as they are.
    pub late: Option<u64>,
    /// Late ones before this second are admitted.
    pub late_s: u64,
    /// And this part of those who came in it.
    pub late_ppb: u32,
    /// When Redis may forget the line.
    pub expires_at: EpochMs,
}

/// What is left if nobody has moved the line.
const ABSENT: &str = "-";

impl RoundStock<'_> {
    fn line_key(self, kind: &str) -> String {
        let RoundId { sale, number } = self.id;
        format!("{kind}:{{{sale}:{number}:line}}")
    }

    /// Puts a user in line, or finds again where the user is. One call, and it can be repeated.
    ///
    /// # Errors
    /// If Redis does not answer.
    pub async fn join_line(self, joining: &Joining<'_>) -> Result<Joined, StockError> {
        let Joining { user, tickets_from, opens_at, closes_at, expires_at, expected } = joining;
        let people = u64::from(expected.unwrap_or(USUAL_PEOPLE).clamp(FEWEST_PEOPLE, MOST_PEOPLE));
        let mut call = TICKET.key(self.line_key("people")).key(self.line_key("early"));
        call = call.key(self.line_key("arrivals")).key(self.line_key("line"));
        call = call.arg(tickets_from.0).arg(opens_at.0).arg(closes_at.0).arg(user.as_str());
        call = call.arg((people * BITS_PER_PERSON).next_multiple_of(8)).arg(expires_at.0);
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

    /// The line as it is.
    ///
    /// # Errors
    /// If Redis does not answer.
    pub async fn look_at_line(self) -> Result<LineLook, StockError> {
        let call = LINE.key(self.line_key("line")).key(self.line_key("people")).key(self.line_key("arrivals"));
        let answer = call.invoke_async(self.connection).await?;
        let (ScriptCode::Line, rest) = parse(&answer)? else { return Err(unexpected(&answer)) };
        let look = || {
            let mut words = rest.splitn(5, ' ');
            let mut number = || words.next()?.parse::<u64>().ok();
            let (now, people, late, late_admitted) = (number()?, number()?, number()?, number()?);
            let progress = words.next()?;
            let progress = (progress != ABSENT).then(|| progress.to_owned());
            Some(LineLook { now: EpochMs(now.try_into().ok()?), people, late, late_admitted, progress })
        };
        look().ok_or_else(|| unexpected(&answer))
    }

    /// Moves the line on if it is as it was read: up to which second late ones are admitted then, and which part of those of that
    /// second. None if somebody else has moved it.
    ///
    /// # Errors
    /// If Redis does not answer; then it may or may not be moved.
    pub async fn move_line(self, step: &LineStep) -> Result<Option<(u64, u32)>, StockError> {
        let late = step.late.map_or(-1, |count| i64::try_from(count).unwrap_or(i64::MAX));
        let call = LINE.key(self.line_key("line")).key(self.line_key("people")).key(self.line_key("arrivals"));
        let call = call.arg(step.before.as_deref().unwrap_or(ABSENT)).arg(&step.head).arg(&step.tail).arg(late);
        let call = call.arg(step.late_s).arg(step.late_ppb).arg(step.expires_at.0);
        let answer = call.invoke_async(self.connection).await?;
        let late = |rest: &str| {
            let (second, ppb) = rest.split_once(' ')?;
            Some((second.parse().ok()?, ppb.parse().ok()?))
        };
        match parse(&answer)? {
            (ScriptCode::Advanced, rest) => late(rest).map(Some).ok_or_else(|| unexpected(&answer)),
            (ScriptCode::Overtaken, _) => Ok(None),
            _ => Err(unexpected(&answer)),
        }
    }
}

/// The numbers from which a user's bits in the filter follow.
fn words(user: &UserId) -> [u32; BITS_OF_A_PERSON] {
    let digest: [u8; 32] = Sha256::digest(user.as_str()).into();
    let (words, _) = digest.as_chunks::<4>();
    std::array::from_fn(|n| u32::from_be_bytes(words[n]))
}
