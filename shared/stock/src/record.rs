use sale::{EpochMs, HoldState, Lane, Reservation, ReservationId, Round, SaleId, Slot, Unit, UserId};
use uuid::Uuid;

/// An entry of a user's record: one reservation as Redis keeps it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hold {
    /// The UUID of the reservation's id.
    pub uuid: Uuid,
    /// Its slot.
    pub slot: Slot,
    /// How it stands.
    pub state: HoldState,
    /// Its unit.
    pub unit: Unit,
    /// When it was made, by Redis's clock.
    pub reserved_at_ms: EpochMs,
}

/// Not an entry.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not of the form SLOT STATE ID UNIT RESERVED_AT_MS: {0:?}")]
pub struct InvalidRecord(String);

impl Hold {
    /// The reservation that it is, of the user whose record it is in.
    pub fn into_reservation(self, sale: &SaleId, round: Round, lane: Lane, user: &UserId) -> Reservation {
        let Self { uuid, slot, unit, reserved_at_ms, .. } = self;
        let id = ReservationId { sale: sale.clone(), round, uuid };
        Reservation { id, user: user.clone(), lane, unit, slot, reserved_at_ms }
    }

    /// Reads `SLOT STATE ID UNIT RESERVED_AT_MS`.
    pub(crate) fn parse(entry: &str) -> Result<Self, InvalidRecord> {
        let parse = || {
            let mut fields = entry.split(' ');
            let hold = Self {
                slot: Slot(fields.next()?.parse().ok()?),
                state: match fields.next()? {
                    "h" => HoldState::Held,
                    "o" => HoldState::Ordered,
                    "r" => HoldState::Released,
                    _ => return None,
                },
                uuid: Uuid::try_parse(fields.next()?).ok()?,
                unit: Unit(fields.next()?.parse().ok()?),
                reserved_at_ms: EpochMs(fields.next()?.parse().ok()?),
            };
            fields.next().is_none().then_some(hold)
        };
        parse().ok_or_else(|| InvalidRecord(entry.chars().take(100).collect()))
    }

    /// Reads the entries of a record joined by `;`, and passes over the notes among them.
    pub(crate) fn parse_all(record: &str) -> Result<Vec<Self>, InvalidRecord> {
        record.split(';').filter(|part| !is_note(part)).map(Self::parse).collect()
    }

    /// Writes an entry as the scripts do.
    pub(crate) fn to_entry(&self) -> String {
        let state = match self.state {
            HoldState::Held => 'h',
            HoldState::Ordered => 'o',
            HoldState::Released => 'r',
        };
        format!("{} {state} {} {} {}", self.slot, self.uuid.as_simple(), self.unit, self.reserved_at_ms.0)
    }
}

/// Whether a part of a record is a note about its user: a note begins with a letter, an entry with its slot.
fn is_note(part: &str) -> bool {
    part.starts_with(|first: char| first.is_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_are_passed_over() {
        let hold = Hold {
            uuid: Uuid::from_u128(9),
            slot: Slot(0),
            state: HoldState::Held,
            unit: Unit(1),
            reserved_at_ms: EpochMs(5),
        };
        assert_eq!(Hold::parse_all(&format!("d 77;{};u 2", hold.to_entry())), Ok(vec![hold]));
        assert_eq!(Hold::parse_all("d 77"), Ok(vec![]));
        assert!(Hold::parse_all("").is_err());
    }

    #[test]
    fn entries_read_back() {
        for state in [HoldState::Held, HoldState::Ordered, HoldState::Released] {
            let hold =
                Hold { uuid: Uuid::from_u128(9), slot: Slot(3), state, unit: Unit(17), reserved_at_ms: EpochMs(5) };
            assert_eq!(Hold::parse(&hold.to_entry()), Ok(hold));
        }
    }

    #[test]
    fn anything_else_is_refused() {
        let id = "0198f0b2a4c57d1e8f00aabbccddeeff";
        for bad in
            ["", "0 h", &format!("0 x {id} 1 1"), &format!("0 h {id} 1"), &format!("0 h {id} 1 1 1"), "0 h id 1 1"]
        {
            assert!(Hold::parse(bad).is_err(), "{bad:?}");
        }
    }
}
