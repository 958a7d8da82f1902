use runtime::breaker::Corrupt;
use sale::{EpochMs, Reservation, ReservationId, ReservationState, Slot, StoredReservation, Unit, UserId};
use uuid::Uuid;

use crate::lane_keys::LaneKeys;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a reservation must have the form SLOT STATE ID UNIT RESERVED_AT_MS, not {0:?}")]
pub struct InvalidRecord(String, #[source] Corrupt);

/// Parses `SLOT STATE ID UNIT RESERVED_AT_MS`. What the text lacks follows from its lane and its user.
pub(crate) fn read_reservation(
    keys: LaneKeys<'_>,
    user: &UserId,
    text: &str,
) -> Result<StoredReservation, InvalidRecord> {
    let read = || {
        let mut fields = text.split(' ');
        let slot = Slot(fields.next()?.parse().ok()?);
        let state = match fields.next()? {
            "h" => ReservationState::Held,
            "o" => ReservationState::Ordered,
            "r" => ReservationState::Released,
            _ => return None,
        };
        let uuid = Uuid::try_parse(fields.next()?).ok()?;
        let unit = Unit(fields.next()?.parse().ok()?);
        let reserved_at_ms = EpochMs(fields.next()?.parse().ok()?);
        if fields.next().is_some() {
            return None;
        }
        let id = ReservationId { round: keys.round.clone(), uuid };
        let reservation = Reservation { id, user: user.clone(), lane: keys.lane, unit, slot, reserved_at_ms };
        Some(StoredReservation { reservation, state })
    };
    read().ok_or_else(|| InvalidRecord(text.chars().take(100).collect(), Corrupt))
}

/// Parses the reservations of a user's record, separated by `;`, and skips its notes.
pub(crate) fn read_record(
    keys: LaneKeys<'_>,
    user: &UserId,
    record: &str,
) -> Result<Vec<StoredReservation>, InvalidRecord> {
    record.split(';').filter(|part| !is_note(part)).map(|part| read_reservation(keys, user, part)).collect()
}

pub(crate) fn write_reservation(reservation: &Reservation, state: ReservationState) -> String {
    let state = match state {
        ReservationState::Held => 'h',
        ReservationState::Ordered => 'o',
        ReservationState::Released => 'r',
    };
    let Reservation { id, unit, slot, reserved_at_ms, .. } = reservation;
    format!("{slot} {state} {} {unit} {}", id.uuid.as_simple(), reserved_at_ms.0)
}

/// Whether a part of a record is a note: notes begin with a letter, reservations with their slot.
fn is_note(part: &str) -> bool {
    part.starts_with(|first: char| first.is_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use sale::Lane;

    use super::*;

    fn stored(state: ReservationState) -> StoredReservation {
        let id = ReservationId { round: "lamp.1".parse().unwrap(), uuid: Uuid::from_u128(9) };
        let (user, lane) = ("alice".parse().unwrap(), Lane(2));
        let reservation = Reservation { id, user, lane, unit: Unit(17), slot: Slot(3), reserved_at_ms: EpochMs(5) };
        StoredReservation { reservation, state }
    }

    fn read(record: &str) -> Result<Vec<StoredReservation>, InvalidRecord> {
        let Reservation { id, user, lane, .. } = stored(ReservationState::Held).reservation;
        read_record(LaneKeys { round: &id.round, lane }, &user, record)
    }

    #[test]
    fn reservations_read_back_and_notes_are_passed_over() {
        for state in [ReservationState::Held, ReservationState::Ordered, ReservationState::Released] {
            let text = write_reservation(&stored(state).reservation, state);
            assert_eq!(read(&text), Ok(vec![stored(state)]));
            assert_eq!(read(&format!("b 77;{text};s 2")), Ok(vec![stored(state)]));
        }
        assert_eq!(read("b 77"), Ok(vec![]));
        let held = write_reservation(&stored(ReservationState::Held).reservation, ReservationState::Held);
        assert_eq!(held, "3 h 00000000000000000000000000000009 17 5");
    }

    #[test]
    fn anything_else_is_refused() {
        let id = "0198f0b2a4c57d1e8f00aabbccddeeff";
        for bad in
            ["", "0 h", &format!("0 x {id} 1 1"), &format!("0 h {id} 1"), &format!("0 h {id} 1 1 1"), "0 h id 1 1"]
        {
            assert!(read(bad).is_err(), "{bad:?}");
        }
    }
}
