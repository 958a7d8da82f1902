use std::time::Duration;

use sale::EpochMs;

use crate::StockError;

macro_rules! codes {
    ($($(#[$doc:meta])* $variant:ident = $text:literal,)*) => {
        /// What a script answers. `lua/README.md` says when.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Code {
            $($(#[$doc])* $variant,)*
        }

        impl Code {
            /// Every code.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// The code as the scripts write it.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $text,)*
                }
            }
        }
    };
}

codes! {
    /// The unit is the user's.
    Reserved = "reserved",
    /// This id was reserved before.
    Replayed = "replayed",
    /// The user's live reservations reach the limit.
    AlreadyReserved = "already_reserved",
    /// As many of the user's reservations in the round ended unpaid as may.
    TooManyUnpaid = "too_many_unpaid",
    /// No unit is left.
    SoldOut = "sold_out",
    /// The sale opens later.
    NotOpen = "not_open",
    /// The sale is over.
    Closed = "closed",
    /// An operator paused the sale.
    Paused = "paused",
    /// The round has no keys.
    UnknownSale = "unknown_sale",
    /// Held became ordered.
    Confirmed = "confirmed",
    /// It was ordered before.
    AlreadyConfirmed = "already_confirmed",
    /// The unit is back.
    Released = "released",
    /// The unit was given back before.
    AlreadyReleased = "already_released",
    /// The user has no such reservation here.
    UnknownHold = "unknown_hold",
    /// The reservation has another unit.
    Reseated = "reseated",
    /// The round can be bought from.
    Loaded = "loaded",
    /// A page of buyers is written.
    Staged = "staged",
    /// The round was there before, as new or newer.
    Present = "present",
    /// The sale's new terms are in force.
    Amended = "amended",
    /// These reservations are to be sent again.
    Due = "due",
    /// Redis knows the order now.
    Adopted = "adopted",
    /// The units can be handed out again.
    Restored = "restored",
    /// Who has or had a reservation.
    Buyers = "buyers",
    /// There are more of them than were asked for.
    TooMany = "too_many",
    /// Units can be handed out.
    Selling = "selling",
    /// Units have moved since the look.
    Moved = "moved",
    /// The user is to answer a challenge.
    Challenged = "challenged",
    /// The user may try for a unit.
    Admitted = "admitted",
    /// Not the answer to the user's challenge.
    WrongAnswer = "wrong_answer",
    /// There is no such challenge.
    NoChallenge = "no_challenge",
    /// Too many requests.
    RateLimited = "rate_limited",
    /// The user is kept out.
    Denied = "denied",
    /// The users' denials are noted, or their notes removed.
    Noted = "noted",
    /// So many requests may come in the rest of the second.
    Leased = "leased",
    /// The counts are added.
    Tallied = "tallied",
}

/// Splits an answer into its code and the rest.
pub(crate) fn parse(answer: &str) -> Result<(Code, &str), StockError> {
    let (word, rest) = answer.split_once(' ').unwrap_or((answer, ""));
    let code = Code::ALL.iter().find(|code| code.as_str() == word);
    code.map(|code| (*code, rest)).ok_or_else(|| unexpected(answer))
}

/// The moment that an answer ends with.
pub(crate) fn moment(text: &str, answer: &str) -> Result<EpochMs, StockError> {
    text.parse().map(EpochMs).map_err(|_| unexpected(answer))
}

/// The rest of `sold_out MS FOR_MS`.
pub(crate) fn sold_out(rest: &str, answer: &str) -> Result<(EpochMs, Duration), StockError> {
    let (at, for_ms) = rest.split_once(' ').ok_or_else(|| unexpected(answer))?;
    let for_ms = for_ms.parse().map_err(|_| unexpected(answer))?;
    Ok((moment(at, answer)?, Duration::from_millis(for_ms)))
}

/// An answer that the script in question does not give.
pub(crate) fn unexpected(answer: &str) -> StockError {
    StockError::Answer(answer.chars().take(100).collect())
}
