use std::time::Duration;

use sale::EpochMs;
use strum::{EnumString, IntoStaticStr, VariantArray};

use crate::{StockError, WinsSeen};

/// The code at the beginning of a script's answer. `lua/README.md` describes them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, EnumString, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum ScriptCode {
    /// The user has the unit.
    Reserved,
    /// This id was reserved before.
    Replayed,
    /// The user's live reservations reach the limit.
    AlreadyReserved,
    /// As many of the user's reservations in the round have ended unpaid as the sale allows.
    TooManyUnpaid,
    /// No unit is left, or none until the next drop.
    SoldOut,
    /// The sale opens later.
    NotOpen,
    /// What is left is a group's quota.
    QuotaOnly,
    /// The sale is over.
    Closed,
    /// An operator paused the sale.
    Paused,
    /// The round has no keys.
    UnknownSale,
    /// A held reservation became ordered.
    Confirmed,
    AlreadyConfirmed,
    /// The unit was given back.
    Released,
    /// The unit had been given back before.
    AlreadyReleased,
    /// The user has no such reservation here.
    UnknownHold,
    /// The reservation has another unit.
    Reseated,
    /// Other reservations have all of the user's slots.
    LimitReached,
    Loaded,
    /// A page of buyers was written.
    Staged,
    /// The round already existed, as new or newer.
    Present,
    /// The new terms were applied.
    Amended,
    /// These reservations must be sent again.
    Due,
    /// Redis knows the order now.
    Adopted,
    /// The units can be handed out again.
    Restored,
    /// The users with reservations.
    Buyers,
    /// There are more of them than requested.
    TooMany,
    /// There are units to hand out.
    Selling,
    /// Units have moved since the read.
    Moved,
    Challenged,
    Admitted,
    WrongAnswer,
    NoChallenge,
    /// Too many requests.
    RateLimited,
    Denied,
    /// The users' denials were written or removed.
    Noted,
    /// How many requests may come in the rest of the second.
    Leased,
    /// The counts were added.
    Tallied,
    /// The user came before the opening.
    Early,
    /// The user came after it.
    Late,
    /// How far a line has moved.
    Line,
    /// The line has moved.
    Advanced,
    /// The line would move further than it may.
    Beyond,
    /// Somebody else moved the line, or began to load the lane.
    Overtaken,
    /// Units are on their way to another lane.
    Donated,
    /// The lane has the units of the transfer.
    Accepted,
    /// There is no record of the transfer any more.
    Settled,
    /// What a lane has free.
    Looked,
    /// How many units a lane had free and has no longer.
    Excluded,
    /// The caller with this number loads the lane.
    Claimed,
    /// Transfers from lost lanes are refused.
    Fenced,
    /// The lane is not short of units any more.
    Completed,
}

impl ScriptCode {
    pub const ALL: &[Self] = Self::VARIANTS;

    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// Splits an answer into its code and the rest.
pub(crate) fn parse(answer: &str) -> Result<(ScriptCode, &str), StockError> {
    let (word, rest) = answer.split_once(' ').unwrap_or((answer, ""));
    word.parse().map(|code| (code, rest)).map_err(|_| unexpected(answer))
}

/// Parses the time at the end of an answer.
pub(crate) fn moment(text: &str, answer: &str) -> Result<EpochMs, StockError> {
    text.parse().map(EpochMs).map_err(|_| unexpected(answer))
}

/// That nobody can get a unit now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SoldOut {
    /// The last win that it includes.
    pub wins: WinsSeen,
    /// How long it stays true.
    pub lasts: Duration,
    /// When the next units become available, if the round has a plan with more to come.
    pub next_release_ms: Option<EpochMs>,
}

/// Parses the rest of `sold_out MS FOR_MS [NEXT]`.
pub(crate) fn sold_out(rest: &str, answer: &str) -> Result<SoldOut, StockError> {
    let mut words = rest.split(' ');
    let (Some(at), Some(for_ms)) = (words.next(), words.next()) else { return Err(unexpected(answer)) };
    let for_ms = for_ms.parse().map_err(|_| unexpected(answer))?;
    Ok(SoldOut {
        wins: WinsSeen::at(moment(at, answer)?),
        lasts: Duration::from_millis(for_ms),
        next_release_ms: words.next().map(|next| moment(next, answer)).transpose()?,
    })
}

/// The error for an answer that the script in question never gives.
pub(crate) fn unexpected(answer: &str) -> StockError {
    StockError::Answer(answer.chars().take(100).collect(), breaker::Corrupt)
}
