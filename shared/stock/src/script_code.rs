use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::RangeInclusive;
use std::time::Duration;

use runtime::breaker;
use sale::{EpochMs, Reservation, StoredReservation};
use strum::{EnumString, IntoStaticStr, VariantArray};

use crate::StockError;

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

/// A range of units as Redis has it: `FIRST-LAST`.
pub(crate) fn parse_range(range: &str) -> Option<RangeInclusive<u32>> {
    let (first, last) = range.split_once('-')?;
    Some(first.parse().ok()?..=last.parse().ok()?)
}

pub(crate) fn range_text(range: &RangeInclusive<u32>) -> String {
    format!("{}-{}", range.start(), range.end())
}

/// Identifies the last win up to which a round was read: the same as long as nobody wins a unit, in any of its lanes.
/// It is not a time; with several lanes it is a hash.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct WinsSeen(u64);

impl WinsSeen {
    /// For a lane whose last unit was handed out at this time, by Redis's clock.
    pub const fn at(last_won_at_ms: EpochMs) -> Self {
        Self(last_won_at_ms.0.cast_unsigned())
    }

    /// For a round with these lanes, in order. It changes whenever one of them does.
    pub(crate) fn of_all(lanes: &[Self]) -> Self {
        if let [only] = lanes {
            return *only;
        }
        let mut hasher = DefaultHasher::new();
        lanes.hash(&mut hasher);
        Self(hasher.finish())
    }
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

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reserve {
    Reserved(Reservation),
    /// This id was reserved before; its current state.
    Replayed(StoredReservation),
    /// The user's live reservations, which reach the limit.
    AlreadyReserved(Vec<StoredReservation>),
    /// How many of the user's reservations in the round have ended unpaid, which is the limit.
    TooManyUnpaid(u32),
    /// No unit is left, or none until the next drop.
    SoldOut(SoldOut),
    /// The sale opens for the user at this time.
    NotOpen(EpochMs),
    /// What is left is a group's quota until this time.
    QuotaOnly(EpochMs),
    Closed,
    Paused,
    Blocked,
    UnknownSale,
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
