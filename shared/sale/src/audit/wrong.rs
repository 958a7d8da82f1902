use serde::{Deserialize, Serialize};

use crate::{ReservationId, Unit};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Wrong {
    /// Two live orders have it, or a live order has a unit that never existed.
    Oversold,
    /// It is in no place: nobody has it and nobody can get it.
    Lost,
    /// It is in two places: free and taken, free twice, or taken twice.
    Duplicated,
}

/// What reconciliation does about a unit. It checks the ledger again before each repair.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Repair {
    /// Tell Redis about the order that has the unit.
    Adopt {
        id: ReservationId,
    },
    Release {
        id: ReservationId,
        unit: Unit,
    },
    Restore {
        units: Vec<Unit>,
    },
    /// Take units that two lanes have out of both, so they can be given back.
    Exclude {
        units: Vec<Unit>,
    },
    Rebuild {},
}
