use runtime::breaker::Corrupt;
use sale::{Claim, ClaimState, Entry, EpochMs, ReservationId, Slot, Unit, UserId};
use uuid::Uuid;

use crate::lane_keys::LaneKeys;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("an entry must have the form SLOT STATE ID UNIT RESERVED_AT_MS, not {0:?}")]
pub struct InvalidRecord(String, #[source] Corrupt);

/// Parses `SLOT STATE ID UNIT RESERVED_AT_MS`. The rest of the claim follows from the entry's lane and record.
pub(crate) fn read_entry(keys: LaneKeys<'_>, user: &UserId, text: &str) -> Result<Entry, InvalidRecord> {
    let read = || {
        let mut fields = text.split(' ');
        let slot = Slot(fields.next()?.parse().ok()?);
        let state = match fields.next()? {
            "h" => ClaimState::Held,
            "o" => ClaimState::Ordered,
            "r" => ClaimState::Released,
            _ => return None,
        };
        let uuid = Uuid::try_parse(fields.next()?).ok()?;
        let unit = Unit(fields.next()?.parse().ok()?);
        let reserved_at_ms = EpochMs(fields.next()?.parse().ok()?);
        if fields.next().is_some() {
            return None;
        }
        let id = ReservationId { round: keys.round.clone(), uuid };
        let claim = Claim { id, user: user.clone(), lane: keys.lane, unit, slot, reserved_at_ms };
        Some(Entry { claim, state })
    };
    read().ok_or_else(|| InvalidRecord(text.chars().take(100).collect(), Corrupt))
}

/// Parses the entries of a user's record, separated by `;`, and skips its notes.
pub(crate) fn read_record(keys: LaneKeys<'_>, user: &UserId, record: &str) -> Result<Vec<Entry>, InvalidRecord> {
    record.split(';').filter(|part| !is_note(part)).map(|part| read_entry(keys, user, part)).collect()
}

pub(crate) fn write_entry(claim: &Claim, state: ClaimState) -> String {
    let state = match state {
        ClaimState::Held => 'h',
        ClaimState::Ordered => 'o',
        ClaimState::Released => 'r',
    };
    let Claim { id, unit, slot, reserved_at_ms, .. } = claim;
    format!("{slot} {state} {} {unit} {}", id.uuid.as_simple(), reserved_at_ms.0)
}

/// Whether a part of a record is a note: notes begin with a letter, entries with their slot.
fn is_note(part: &str) -> bool {
    part.starts_with(|first: char| first.is_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use sale::{Lane, RoundId};

    use super::*;

    fn entry(state: ClaimState) -> (RoundId, Entry) {
        let round: RoundId = "lamp.1".parse().unwrap();
        let id = ReservationId { round: round.clone(), uuid: Uuid::from_u128(9) };
        let (user, lane) = ("alice".parse().unwrap(), Lane(2));
        let claim = Claim { id, user, lane, unit: Unit(17), slot: Slot(3), reserved_at_ms: EpochMs(5) };
        (round, Entry { claim, state })
    }

    #[test]
    fn notes_are_passed_over() {
        let (round, entry) = entry(ClaimState::Held);
        let read = |record: &str| read_record(LaneKeys { round: &round, lane: Lane(2) }, &entry.claim.user, record);
        let text = write_entry(&entry.claim, entry.state);
        assert_eq!(read(&format!("b 77;{text};s 2")), Ok(vec![entry.clone()]));
        assert_eq!(read("b 77"), Ok(vec![]));
        assert!(read("").is_err());
    }

    #[test]
    fn entries_read_back() {
        for state in [ClaimState::Held, ClaimState::Ordered, ClaimState::Released] {
            let (round, entry) = entry(state);
            let text = write_entry(&entry.claim, state);
            assert_eq!(read_entry(LaneKeys { round: &round, lane: Lane(2) }, &entry.claim.user, &text), Ok(entry));
        }
        let (_, Entry { claim, state }) = entry(ClaimState::Held);
        assert_eq!(write_entry(&claim, state), "3 h 00000000000000000000000000000009 17 5");
    }

    #[test]
    fn anything_else_is_refused() {
        let (round, Entry { claim, .. }) = entry(ClaimState::Held);
        let id = "0198f0b2a4c57d1e8f00aabbccddeeff";
        for bad in
            ["", "0 h", &format!("0 x {id} 1 1"), &format!("0 h {id} 1"), &format!("0 h {id} 1 1 1"), "0 h id 1 1"]
        {
            assert!(read_entry(LaneKeys { round: &round, lane: claim.lane }, &claim.user, bad).is_err(), "{bad:?}");
        }
    }
}
