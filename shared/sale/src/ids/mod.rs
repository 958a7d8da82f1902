//! Ids. Every id has exactly one text form, so keys and comparisons are exact.

use std::borrow::Borrow;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::text_serde::text_type;

macro_rules! number {
    ($(#[$of_it:meta])* $name:ident, $inner:ty) => {
        $(#[$of_it])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub $inner);

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

mod lane;
mod reservation;

pub use lane::{Lane, MAX_LANES};
pub use reservation::ReservationId;

/// The longest sale id. It is part of every key and every reservation id, so it is kept short.
pub const MAX_SALE_ID_LENGTH: usize = 48;

/// The longest user id: OpenID Connect Core 1.0, section 2, allows a subject 255 ASCII characters.
pub const MAX_USER_ID_LENGTH: usize = 255;

/// The longest name of a group. It is part of a key for each member.
pub const MAX_GROUP_NAME_LENGTH: usize = 48;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidId {
    #[error("a sale id is 1 to {MAX_SALE_ID_LENGTH} of a-z, 0-9 and '-', and starts with a letter or digit")]
    Sale,
    #[error("a campaign id is 1 to {MAX_SALE_ID_LENGTH} of a-z, 0-9 and '-', and starts with a letter or digit")]
    Campaign,
    #[error(
        "a user id is 1 to {MAX_USER_ID_LENGTH} printable ASCII characters without spaces, and neither '.' nor '..'"
    )]
    User,
    #[error("a group's name has 1 to {MAX_GROUP_NAME_LENGTH} of A-Z, a-z, 0-9, - and _")]
    Group,
    #[error("a round is a whole number from 1 to {}", u32::MAX)]
    RoundNumber,
    #[error("a round id has the form SALE.NUMBER")]
    Round,
    #[error("a reservation id has the form SALE.ROUND.UUID with the UUID in 32 hexadecimal digits")]
    Reservation,
}

text_type!(
    /// The id of a sale, chosen by the operator.
    SaleId, InvalidId, InvalidId::Sale, |text| {
        let allowed = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
        (1..=MAX_SALE_ID_LENGTH).contains(&text.len()) && text.bytes().all(allowed) && !text.starts_with('-')
    }
);

/// A map by sale can be asked with a text that may be anything.
impl Borrow<str> for SaleId {
    fn borrow(&self) -> &str {
        &self.0
    }
}

text_type!(
    /// The id of a user: the subject of a verified token.
    UserId, InvalidId, InvalidId::User, |text| {
        // Spaces separate the fields of records in Redis, so no id may contain one.
        let good = (1..=MAX_USER_ID_LENGTH).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_graphic());
        // In a path of the operators' API these two would not be segments.
        good && !matches!(text, "." | "..")
    }
);

number!(
    /// The number of a sale's round, from 1. A daily sale begins a new round each day.
    RoundNumber,
    u32
);
number!(
    /// A numbered unit of a round's stock: 1 to the round's total.
    Unit,
    u32
);
number!(
    /// Which of a user's allowed purchases in the round it is: 0 to `per_user_limit` - 1.
    Slot,
    u8
);

/// The id of one occurrence of a sale. Its text is `SALE.NUMBER`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct RoundId {
    pub sale: SaleId,
    #[serde(rename = "round")]
    pub number: RoundNumber,
}

impl FromStr for RoundNumber {
    type Err = InvalidId;
    fn from_str(text: &str) -> Result<Self, InvalidId> {
        // `u32::from_str` also accepts "+1" and "01", which would give a round several ids.
        match text.parse::<u32>() {
            Ok(round) if round > 0 && round.to_string() == text => Ok(Self(round)),
            _ => Err(InvalidId::RoundNumber),
        }
    }
}

impl FromStr for RoundId {
    type Err = InvalidId;
    fn from_str(text: &str) -> Result<Self, InvalidId> {
        // No sale id contains a dot.
        let (sale, number) = text.split_once('.').ok_or(InvalidId::Round)?;
        let invalid = |_| InvalidId::Round;
        Ok(Self { sale: sale.parse().map_err(invalid)?, number: number.parse().map_err(invalid)? })
    }
}

impl fmt::Display for RoundId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.sale, self.number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sale_ids_are_short_plain_names() {
        for good in ["a", "7", "summer-2026", &"a".repeat(MAX_SALE_ID_LENGTH)] {
            assert_eq!(good.parse::<SaleId>().unwrap().as_str(), good);
        }
        for bad in ["", "-a", "A", "a b", "a.b", "a#b", "{a}", "a\0", "é", &"a".repeat(MAX_SALE_ID_LENGTH + 1)] {
            assert_eq!(bad.parse::<SaleId>(), Err(InvalidId::Sale), "{bad:?}");
        }
    }

    #[test]
    fn user_ids_are_token_subjects() {
        for good in ["1", "auth0|abc", "a#b/c=", &"u".repeat(MAX_USER_ID_LENGTH)] {
            assert_eq!(good.parse::<UserId>().unwrap().as_str(), good);
        }
        for bad in ["", ".", "..", "a b", "a\n", "ü", "\u{7f}", &"u".repeat(MAX_USER_ID_LENGTH + 1)] {
            assert_eq!(bad.parse::<UserId>(), Err(InvalidId::User), "{bad:?}");
        }
    }

    #[test]
    fn a_round_number_has_one_text() {
        assert_eq!("1".parse(), Ok(RoundNumber(1)));
        for bad in ["", "0", "01", "+1", "-1", "1.0", "4294967296"] {
            assert_eq!(bad.parse::<RoundNumber>(), Err(InvalidId::RoundNumber), "{bad:?}");
        }
    }

    #[test]
    fn a_round_id_reads_back() {
        let id = RoundId { sale: "s-1".parse().unwrap(), number: RoundNumber(3) };
        assert_eq!(id.to_string(), "s-1.3");
        assert_eq!(id.to_string().parse(), Ok(id));
        for bad in ["", "s", ".1", "s.", "s.0", "s.01", "S.1", "s.1.", "s.1.2"] {
            assert_eq!(bad.parse::<RoundId>(), Err(InvalidId::Round), "{bad:?}");
        }
    }
}
