use std::time::Duration;

use runtime::breaker;
use sale::EpochMs;
use strum::{EnumString, IntoStaticStr, VariantArray};

use crate::{StockError, WinsSeen};

/// The code at the beginning of a script's answer. The headers of the scripts describe them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, EnumString, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum ScriptCode {
    Reserved,
    Replayed,
    AlreadyReserved,
    /// As many of the user's reservations in the round have ended unpaid as the sale allows.
    TooManyUnpaid,
    SoldOut,
    NotOpen,
    QuotaOnly,
    Closed,
    Paused,
    UnknownSale,
    Confirmed,
    AlreadyConfirmed,
    Released,
    AlreadyReleased,
    UnknownReservation,
    Reseated,
    LimitReached,
    Loaded,
    Staged,
    Present,
    Amended,
    Due,
    Adopted,
    Restored,
    Buyers,
    TooMany,
    Selling,
    Moved,
    Challenged,
    Admitted,
    WrongAnswer,
    NoChallenge,
    RateLimited,
    Blocked,
    Noted,
    Leased,
    Tallied,
    Early,
    Late,
    Line,
    Advanced,
    Beyond,
    Overtaken,
    Donated,
    Accepted,
    TransferClosed,
    Availability,
    Excluded,
    Claimed,
    Fenced,
    Completed,
}

impl ScriptCode {
    pub const ALL: &[Self] = Self::VARIANTS;

    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

pub(crate) fn parse(answer: &str) -> Result<(ScriptCode, &str), StockError> {
    let (word, rest) = answer.split_once(' ').unwrap_or((answer, ""));
    word.parse().map(|code| (code, rest)).map_err(|_| unexpected(answer))
}

pub(crate) fn moment(text: &str, answer: &str) -> Result<EpochMs, StockError> {
    text.parse().map(EpochMs).map_err(|_| unexpected(answer))
}

/// That nobody can get a unit now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SoldOut {
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

pub(crate) fn unexpected(answer: &str) -> StockError {
    StockError::Answer(answer.chars().take(100).collect(), breaker::Corrupt)
}
