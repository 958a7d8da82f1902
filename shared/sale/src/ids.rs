use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use uuid::Uuid;

use crate::EpochMs;

/// Longest sale id. It is part of every key and of every reservation's id, so it is kept short.
pub const MAX_SALE_ID_LENGTH: usize = 48;

/// Longest user id: OpenID Connect Core 1.0, section 2, allows a subject 255 ASCII characters.
pub const MAX_USER_ID_LENGTH: usize = 255;

/// A text that is not an id of the kind that it should be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidId {
    /// Not a sale id.
    #[error("a sale id is 1 to {MAX_SALE_ID_LENGTH} of a-z, 0-9 and '-', and starts with a letter or digit")]
    Sale,
    /// Not a campaign id.
    #[error("a campaign id is 1 to {MAX_SALE_ID_LENGTH} of a-z, 0-9 and '-', and starts with a letter or digit")]
    Campaign,
    /// Not a user id.
    #[error(
        "a user id is 1 to {MAX_USER_ID_LENGTH} printable ASCII characters without spaces, and neither '.' nor '..'"
    )]
    User,
    /// Not a round.
    #[error("a round is a whole number from 1 to {}", u32::MAX)]
    Round,
    /// Not a reservation id.
    #[error("a reservation id has the form SALE.ROUND.UUID with the UUID in 32 hexadecimal digits")]
    Reservation,
}

macro_rules! text_serde {
    ($type:ty) => {
        impl TryFrom<String> for $type {
            type Error = InvalidId;
            fn try_from(text: String) -> Result<Self, InvalidId> {
                text.parse()
            }
        }
        impl From<$type> for String {
            fn from(id: $type) -> String {
                id.to_string()
            }
        }
    };
}

/// Names a sale. Chosen by the operator: 1 to [`MAX_SALE_ID_LENGTH`] of `a-z`, `0-9`, `-`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct SaleId(String);

impl SaleId {
    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for SaleId {
    type Err = InvalidId;
    fn from_str(text: &str) -> Result<Self, InvalidId> {
        let allowed = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
        let good =
            (1..=MAX_SALE_ID_LENGTH).contains(&text.len()) && text.bytes().all(allowed) && !text.starts_with('-');
        if good { Ok(Self(text.to_owned())) } else { Err(InvalidId::Sale) }
    }
}

impl fmt::Display for SaleId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

text_serde!(SaleId);

/// Names a user: the subject of a verified token.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct UserId(String);

impl UserId {
    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for UserId {
    type Err = InvalidId;
    fn from_str(text: &str) -> Result<Self, InvalidId> {
        // Spaces separate the fields of records in Redis, so no id may contain one.
        let good = (1..=MAX_USER_ID_LENGTH).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_graphic());
        // In an operator's path these two are not segments.
        let dots = matches!(text, "." | "..");
        if good && !dots { Ok(Self(text.to_owned())) } else { Err(InvalidId::User) }
    }
}

impl fmt::Display for UserId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

text_serde!(UserId);

macro_rules! number {
    ($(#[$doc:meta])* $name:ident, $inner:ty) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub $inner);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

number!(
    /// One occurrence of a sale, counted from 1. A daily sale begins a new round each day.
    Round,
    u32
);
number!(
    /// One numbered piece of a round's stock: 1 to the round's total.
    Unit,
    u32
);
number!(
    /// Which of a user's allowed purchases in this round: 0 to `per_user_limit` - 1.
    Slot,
    u8
);
number!(
    /// A part of a round's units with Redis keys of its own.
    Lane,
    u16
);

impl FromStr for Round {
    type Err = InvalidId;
    fn from_str(text: &str) -> Result<Self, InvalidId> {
        // `u32::from_str` also takes "+1" and "01": one round would have many names.
        match text.parse::<u32>() {
            Ok(round) if round > 0 && round.to_string() == text => Ok(Self(round)),
            _ => Err(InvalidId::Round),
        }
    }
}

/// Names a reservation and the order that it becomes, alike in the answer, Redis, the queue and DynamoDB.
///
/// Its text is `SALE.ROUND.UUID`, so whoever holds the id knows where to look for the reservation without asking
/// anything else first. Redis keeps the UUID alone, under keys that name the sale and the round.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ReservationId {
    /// The sale.
    pub sale: SaleId,
    /// The round of the sale.
    pub round: Round,
    /// A UUIDv7 derived from a pass and ordered by its time, or a UUIDv8 derived from an idempotency key.
    pub uuid: Uuid,
}

impl ReservationId {
    /// The id of a request that carries an idempotency key. The same user, sale, round and key give the same id.
    ///
    /// The UUID is version 8 (RFC 9562, section 5.8) over the first 16 bytes of a SHA-256 of the four, each preceded by
    /// its length so that no two different inputs read alike.
    pub fn derived(sale: SaleId, round: Round, user: &UserId, idempotency_key: &str) -> Self {
        let uuid = Uuid::new_v8(digest(&sale, round, user, idempotency_key));
        Self { sale, round, uuid }
    }

    /// The id of a request without an idempotency key: its pass is the key. The same user, sale, round and pass give the
    /// same id, so that a second click is a repeated request.
    ///
    /// The UUID is version 7 (RFC 9562, section 5.7): the moment at which the pass was issued, and what is random in others
    /// is a SHA-256 of the four. A pass issued before 1970 has none, and counts as of then.
    pub fn of_pass(sale: SaleId, round: Round, user: &UserId, pass: &str, issued_at_ms: EpochMs) -> Self {
        let digest: [u8; 10] = digest(&sale, round, user, pass);
        let millis = u64::try_from(issued_at_ms.0).unwrap_or(0);
        Self { sale, round, uuid: uuid::Builder::from_unix_timestamp_millis(millis, &digest).into_uuid() }
    }
}

/// The first bytes of a SHA-256 of the four, each preceded by its length so that no two different inputs read alike.
fn digest<const N: usize>(sale: &SaleId, round: Round, user: &UserId, key: &str) -> [u8; N] {
    let mut hash = Sha256::new();
    for part in [sale.as_str().as_bytes(), &round.0.to_be_bytes(), user.as_str().as_bytes(), key.as_bytes()] {
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part);
    }
    let mut bytes = [0; N];
    bytes.copy_from_slice(&hash.finalize()[..N]);
    bytes
}

impl FromStr for ReservationId {
    type Err = InvalidId;
    fn from_str(text: &str) -> Result<Self, InvalidId> {
        let mut parts = text.split('.');
        let (Some(sale), Some(round), Some(uuid), None) = (parts.next(), parts.next(), parts.next(), parts.next())
        else {
            return Err(InvalidId::Reservation);
        };
        // Upper case and hyphens would be other names for the same id.
        let plain = uuid.len() == 32 && uuid.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b));
        if !plain {
            return Err(InvalidId::Reservation);
        }
        Ok(Self {
            sale: sale.parse().map_err(|_| InvalidId::Reservation)?,
            round: round.parse().map_err(|_| InvalidId::Reservation)?,
            uuid: Uuid::try_parse(uuid).map_err(|_| InvalidId::Reservation)?,
        })
    }
}

impl fmt::Display for ReservationId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.sale, self.round, self.uuid.as_simple())
    }
}

text_serde!(ReservationId);

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
    fn a_round_has_one_name() {
        assert_eq!("1".parse(), Ok(Round(1)));
        for bad in ["", "0", "01", "+1", "-1", "1.0", "4294967296"] {
            assert_eq!(bad.parse::<Round>(), Err(InvalidId::Round), "{bad:?}");
        }
    }

    #[test]
    fn a_reservation_id_reads_back() {
        let id = ReservationId { sale: "s-1".parse().unwrap(), round: Round(3), uuid: Uuid::from_u128(0x1f) };
        assert_eq!(id.to_string(), "s-1.3.0000000000000000000000000000001f");
        assert_eq!(id.to_string().parse(), Ok(id));
    }

    #[test]
    fn a_reservation_id_has_one_name() {
        let uuid = "0198f0b2a4c57d1e8f00aabbccddeeff";
        for bad in [
            "".to_owned(),
            uuid.to_owned(),
            format!("s.1.{}", uuid.to_uppercase()),
            "s.1.0198f0b2-a4c5-7d1e-8f00-aabbccddeeff".to_owned(),
            format!("s.01.{uuid}"),
            format!("s.1.{uuid}.x"),
            format!("S.1.{uuid}"),
        ] {
            assert_eq!(bad.parse::<ReservationId>(), Err(InvalidId::Reservation), "{bad:?}");
        }
    }

    #[test]
    fn ids_of_passes_are_ordered_by_time_and_depend_on_every_part() {
        let id = |sale: &str, round, user: &str, pass, at| {
            ReservationId::of_pass(sale.parse().unwrap(), Round(round), &user.parse().unwrap(), pass, EpochMs(at))
        };
        let first = id("s", 1, "u", "p", 1_795_510_800_000);
        assert_eq!(first, id("s", 1, "u", "p", 1_795_510_800_000));
        assert_eq!(first.uuid.get_version_num(), 7);
        assert_eq!(first.uuid.get_timestamp().map(|at| at.to_unix().0), Some(1_795_510_800));
        assert!(first.uuid < id("s", 1, "u", "p", 1_795_510_800_001).uuid);
        for other in [
            id("t", 1, "u", "p", 1_795_510_800_000),
            id("s", 2, "u", "p", 1_795_510_800_000),
            id("s", 1, "v", "p", 1_795_510_800_000),
            id("s", 1, "u", "q", 1_795_510_800_000),
        ] {
            assert_ne!(first.uuid, other.uuid);
        }
    }

    #[test]
    fn derived_ids_depend_on_every_part() {
        let id = |sale: &str, round, user: &str, key| {
            ReservationId::derived(sale.parse().unwrap(), Round(round), &user.parse().unwrap(), key)
        };
        let first = id("s", 1, "u", "k");
        assert_eq!(first, id("s", 1, "u", "k"));
        assert_eq!(first.uuid.get_version_num(), 8);
        for other in [
            id("t", 1, "u", "k"),
            id("s", 2, "u", "k"),
            id("s", 1, "v", "k"),
            id("s", 1, "u", "l"),
            id("s", 1, "uk", ""),
        ] {
            assert_ne!(first.uuid, other.uuid);
        }
    }
}
