use std::time::Duration;

use sale::EpochMs;
use strum::{EnumString, IntoStaticStr, VariantArray};

use crate::{StockError, WinsSeen};

/// What a script answers. `lua/README.md` says when.
#[derive(Debug, Clone, Copy, PartialEq, Eq, EnumString, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum ScriptCode {
    /// The unit is the user's.
    Reserved,
    /// This id was reserved before.
    Replayed,
    /// The user's live reservations reach the limit.
    AlreadyReserved,
    /// As many of the user's reservations in the round ended unpaid as may.
    TooManyUnpaid,
    /// No unit is left, or none until the next drop.
    SoldOut,
    /// The sale opens later.
    NotOpen,
    /// What is left is set aside for a group.
    SetAside,
    /// The sale is over.
    Closed,
    /// An operator paused the sale.
    Paused,
    /// The round has no keys.
    UnknownSale,
    /// Held became ordered.
    Confirmed,
    /// It was ordered before.
    AlreadyConfirmed,
    /// The unit is back.
    Released,
    /// The unit was given back before.
    AlreadyReleased,
    /// The user has no such reservation here.
    UnknownHold,
    /// The reservation has another unit.
    Reseated,
    /// The round can be bought from.
    Loaded,
    /// A page of buyers is written.
    Staged,
    /// The round was there before, as new or newer.
    Present,
    /// The sale's new terms are in force.
    Amended,
    /// These reservations are to be sent again.
    Due,
    /// Redis knows the order now.
    Adopted,
    /// The units can be handed out again.
    Restored,
    /// Who has or had a reservation.
    Buyers,
    /// There are more of them than were asked for.
    TooMany,
    /// Units can be handed out.
    Selling,
    /// Units have moved since the look.
    Moved,
    /// The user is to answer a challenge.
    Challenged,
    /// The user may try for a unit.
    Admitted,
    /// Not the answer to the user's challenge.
    WrongAnswer,
    /// There is no such challenge.
    NoChallenge,
    /// Too many requests.
    RateLimited,
    /// The user is kept out.
    Denied,
    /// The users' denials are noted, or their notes removed.
    Noted,
    /// So many requests may come in the rest of the second.
    Leased,
    /// The counts are added.
    Tallied,
    /// The user came before the opening.
    Early,
    /// The user came after it.
    Late,
    /// How far a line is.
    Line,
    /// The line is moved.
    Advanced,
    /// The line would go farther than it may.
    Beyond,
    /// Somebody else moved the line, or began to load the lane.
    Overtaken,
    /// Units are on their way to another lane.
    Donated,
    /// The lane has what was on its way to it.
    Accepted,
    /// Nothing is recorded of a transfer any more.
    Settled,
    /// What a lane has free.
    Looked,
    /// Units that a lane had free and has no longer.
    Excluded,
    /// Who has this number loads the lane.
    Claimed,
    /// What lanes gave before Redis lost them is refused.
    Fenced,
    /// No unit is in no place that the lane may have had.
    Completed,
}

impl ScriptCode {
    /// Every code.
    pub const ALL: &[Self] = Self::VARIANTS;

    /// The code as the scripts write it.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// Splits an answer into its code and the rest.
pub(crate) fn parse(answer: &str) -> Result<(ScriptCode, &str), StockError> {
    let (word, rest) = answer.split_once(' ').unwrap_or((answer, ""));
    word.parse().map(|code| (code, rest)).map_err(|_| unexpected(answer))
}

/// The moment that an answer ends with.
pub(crate) fn moment(text: &str, answer: &str) -> Result<EpochMs, StockError> {
    text.parse().map(EpochMs).map_err(|_| unexpected(answer))
}

/// That nobody gets a unit now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SoldOut {
    /// As of which win.
    pub wins: WinsSeen,
    /// For so long nobody gets one.
    pub lasts: Duration,
    /// When the next ones become available, if the round has a plan by which more do.
    pub next_release_ms: Option<EpochMs>,
}

/// The rest of `sold_out MS FOR_MS [NEXT]`.
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

/// An answer that the script in question does not give.
pub(crate) fn unexpected(answer: &str) -> StockError {
    StockError::Answer(answer.chars().take(100).collect())
}
