use std::fmt;
use std::str::FromStr;

use serde_with::{DeserializeFromStr, SerializeDisplay};
use sha2::{Digest, Sha256};
use uuid::Uuid;

use super::{InvalidId, RoundId, UserId};
use crate::EpochMs;

/// The id of a reservation and of the order that it becomes, the same in the API, Redis, the queue and DynamoDB.
///
/// Its text is `SALE.ROUND.UUID`, so the id alone says where to look for the reservation. Redis stores only the UUID,
/// under keys that name the sale and the round.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, SerializeDisplay, DeserializeFromStr)]
pub struct ReservationId {
    pub round: RoundId,
    /// A UUIDv7 derived from a pass and ordered by its time, or a UUIDv8 derived from an idempotency key.
    pub uuid: Uuid,
}

impl ReservationId {
    /// The id for a request with an idempotency key. The same user, sale, round and key give the same id.
    ///
    /// The UUID is version 8 (RFC 9562, section 5.8): the first 16 bytes of a SHA-256 of the four, each preceded by its
    /// length so that different inputs cannot collide.
    pub fn derived(round: RoundId, user: &UserId, idempotency_key: &str) -> Self {
        let uuid = Uuid::new_v8(digest(&round, user, idempotency_key));
        Self { round, uuid }
    }

    /// The id for a request without an idempotency key: its pass is the key. The same user, sale, round and pass give
    /// the same id, so a second click is a repeated request.
    ///
    /// The UUID is version 7 (RFC 9562, section 5.7) with the time at which the pass was issued; the bits that are
    /// usually random are a SHA-256 of the four. A pass issued before 1970 counts as issued in 1970.
    pub fn of_pass(round: RoundId, user: &UserId, pass: &str, issued_at_ms: EpochMs) -> Self {
        let digest: [u8; 10] = digest(&round, user, pass);
        let millis = u64::try_from(issued_at_ms.0).unwrap_or(0);
        Self { round, uuid: uuid::Builder::from_unix_timestamp_millis(millis, &digest).into_uuid() }
    }
}

/// The first bytes of a SHA-256 of the four, each preceded by its length so that different inputs cannot collide.
fn digest<const N: usize>(round: &RoundId, user: &UserId, key: &str) -> [u8; N] {
    let mut hash = Sha256::new();
    let RoundId { sale, number } = round;
    for part in [sale.as_str().as_bytes(), &number.0.to_be_bytes(), user.as_str().as_bytes(), key.as_bytes()] {
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
        let (round, uuid) = text.rsplit_once('.').ok_or(InvalidId::Reservation)?;
        // Upper case and hyphens would give the same id several forms.
        let plain = uuid.len() == 32 && uuid.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b));
        if !plain {
            return Err(InvalidId::Reservation);
        }
        Ok(Self {
            round: round.parse().map_err(|_| InvalidId::Reservation)?,
            uuid: Uuid::try_parse(uuid).map_err(|_| InvalidId::Reservation)?,
        })
    }
}

impl fmt::Display for ReservationId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.round, self.uuid.as_simple())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reservation_id_reads_back() {
        let id = ReservationId { round: "s-1.3".parse().unwrap(), uuid: Uuid::from_u128(0x1f) };
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
            "s.1.".to_owned(),
            format!("s.-1.{uuid}"),
            format!("s.4294967296.{uuid}"),
            format!("s.1.{uuid}0"),
            format!("s.1.{uuid}\r\n"),
            format!("s.1.{uuid}.x"),
            format!("S.1.{uuid}"),
        ] {
            assert_eq!(bad.parse::<ReservationId>(), Err(InvalidId::Reservation), "{bad:?}");
        }
    }

    fn depends_on_every_part(id: impl Fn(&str, &str, &str) -> ReservationId) {
        let first = id("s.1", "u", "k");
        assert_eq!(first, id("s.1", "u", "k"));
        for (round, user, key) in
            [("t.1", "u", "k"), ("s.2", "u", "k"), ("s.1", "v", "k"), ("s.1", "u", "l"), ("s.1", "uk", "")]
        {
            assert_ne!(first.uuid, id(round, user, key).uuid, "{round} {user} {key}");
        }
    }

    #[test]
    fn ids_of_passes_are_ordered_by_time_and_depend_on_every_part() {
        let at = |round: &str, user: &str, pass: &str, at| {
            ReservationId::of_pass(round.parse().unwrap(), &user.parse().unwrap(), pass, EpochMs(at))
        };
        depends_on_every_part(|round, user, pass| at(round, user, pass, 1_795_510_800_000));
        let first = at("s.1", "u", "p", 1_795_510_800_000);
        assert_eq!(first.uuid.get_version_num(), 7);
        assert_eq!(first.uuid.get_timestamp().map(|at| at.to_unix().0), Some(1_795_510_800));
        assert!(first.uuid < at("s.1", "u", "p", 1_795_510_800_001).uuid);
    }

    #[test]
    fn derived_ids_depend_on_every_part() {
        let id = |round: &str, user: &str, key: &str| {
            ReservationId::derived(round.parse().unwrap(), &user.parse().unwrap(), key)
        };
        depends_on_every_part(id);
        let first = id("s.1", "u", "k");
        assert_eq!(first.uuid.get_version_num(), 8);
        // Versions that run at the same time must answer a repeated request alike.
        assert_eq!(first.to_string(), "s.1.fe8b9a26038c8a30ba4bce66725e00b0");
    }
}
