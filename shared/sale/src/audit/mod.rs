//! Where is every unit? Compares what Redis and the ledger say of a round, unit by unit.

mod awarded;
mod found;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};

use found::{Found, merge_free, nowhere};

pub use awarded::{Awarded, Tally};

use crate::{Claim, Entry, EpochMs, ReservationId, Unit};

/// What Redis says of a round.
#[derive(Debug, Clone, Default)]
pub struct StockView {
    /// Units that can be handed out: not handed out yet, or returned. Ranges may touch but not overlap.
    pub free: Vec<RangeInclusive<u32>>,
    /// Claims that have their unit, and those that gave it back.
    pub entries: Vec<Entry>,
}

/// What the ledger says of a round.
#[derive(Debug, Clone, Default)]
pub struct LedgerView {
    /// Claims whose unit is guarded for their order.
    pub guards: Vec<Claim>,
    /// Orders that have their unit.
    pub live_orders: Vec<LiveOrder>,
}

/// An order that has its unit: as much of it as the ledger's index of them has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LiveOrder {
    /// The order.
    pub id: ReservationId,
    /// Its unit.
    pub unit: Unit,
    /// When it was reserved.
    pub reserved_at_ms: EpochMs,
}

impl From<&Claim> for LiveOrder {
    /// The order of a claim.
    fn from(Claim { id, unit, reserved_at_ms, .. }: &Claim) -> Self {
        Self { id: id.clone(), unit: *unit, reserved_at_ms: *reserved_at_ms }
    }
}

/// What is wrong with a unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Wrong {
    /// Two live orders have it, or a live order has a unit that the round never had.
    Oversold,
    /// It is in no place: nobody has it and nobody can get it.
    Lost,
    /// It is in two found: free and taken, free twice, or taken by two.
    Duplicated,
}

/// What reconciliation does about a unit. Each one is looked at again in the ledger before it is done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Repair {
    /// Make Redis know the order that has the unit.
    Adopt {
        /// The order.
        id: ReservationId,
    },
    /// Release a reservation whose order has ended.
    Release {
        /// The reservation.
        id: ReservationId,
        /// The unit that it has in Redis.
        unit: Unit,
    },
    /// Give back units that are in no place.
    Restore {
        /// The units.
        units: Vec<Unit>,
    },
    /// Take units that two lanes have out of both, so that they can be given back.
    Exclude {
        /// The units.
        units: Vec<Unit>,
    },
    /// Load the round again, which Redis has lost.
    Rebuild {},
}

/// A unit that is not in exactly one place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Discrepancy {
    /// The unit.
    pub unit: Unit,
    /// What is wrong.
    pub wrong: Wrong,
    /// Everywhere that it was found, in words.
    pub found: Vec<String>,
    /// When the oldest reservation that is involved was made, if one is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since_ms: Option<EpochMs>,
    /// What reconciliation does about it. Nothing where a message is under way that settles it.
    pub repairs: Vec<Repair>,
}

/// The audit's result. `free + held + ordered + lost = total`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Audit {
    /// Units in the round.
    pub total: u32,
    /// Units that can be handed out.
    pub free: u32,
    /// Units of reservations without an order.
    pub held: u32,
    /// Units of live orders.
    pub ordered: u32,
    /// Units sold to two, or sold without existing.
    pub oversold: u32,
    /// Units in no place.
    pub lost: u32,
    /// Units in two found.
    pub duplicated: u32,
    /// Units that are not in exactly one place, no more than [`MAX_DISCREPANCIES`].
    pub discrepancies: Vec<Discrepancy>,
    /// What reconciliation has to do, also where a unit is in one place but Redis does not know its order. Bounded
    /// likewise, except for the units that are in no place: these are given back together.
    #[serde(skip)]
    pub repairs: Vec<Repair>,
}

/// Discrepancies told at once: more than a person reads, and what one run of reconciliation repairs.
pub const MAX_DISCREPANCIES: usize = 1000;

impl Audit {
    /// Whether every unit is in exactly one place.
    pub fn is_clean(&self) -> bool {
        self.discrepancies.is_empty() && self.free + self.held + self.ordered == self.total
    }
}

/// Puts each unit of a round of `total` units into its place.
///
/// A unit whose order is written but not confirmed in Redis yet counts as ordered: that is a step under way and not a
/// discrepancy. An order without a hold in Redis is in its place too, as long as Redis gives the unit to nobody else.
/// Time and memory grow with what is taken and not with the stock.
pub fn audit(total: u32, stock: &StockView, ledger: &LedgerView) -> Audit {
    let mut units: BTreeMap<u32, Found<'_>> = BTreeMap::new();
    for entry in stock.entries.iter().filter(|entry| entry.state.is_live()) {
        units.entry(entry.claim.unit.0).or_default().entries.push(entry);
    }
    for guard in &ledger.guards {
        units.entry(guard.unit.0).or_default().guard = Some(guard);
    }
    for order in &ledger.live_orders {
        units.entry(order.unit.0).or_default().orders.push(order);
    }
    let free = merge_free(total, &stock.free, &mut units);

    let mut audit = Audit {
        total,
        free: free.iter().map(|range| range.end() - range.start() + 1).sum(),
        held: 0,
        ordered: 0,
        oversold: 0,
        lost: 0,
        duplicated: 0,
        discrepancies: Vec::new(),
        repairs: Vec::new(),
    };
    for (unit, found) in &units {
        let exists = (1..=total).contains(unit);
        let wrong = found.wrong(exists);
        let repairs = found.repairs(*unit);
        match wrong {
            Some(Wrong::Oversold) => audit.oversold += 1,
            Some(Wrong::Lost) => audit.lost += 1,
            Some(Wrong::Duplicated) => audit.duplicated += 1,
            None => {}
        }
        if let Some(wrong) = wrong.filter(|_| audit.discrepancies.len() < MAX_DISCREPANCIES) {
            let (found, since_ms) = (found.describe(), found.since_ms());
            audit.discrepancies.push(Discrepancy {
                unit: Unit(*unit),
                wrong,
                found,
                since_ms,
                repairs: repairs.clone(),
            });
        }
        if audit.repairs.len() < MAX_DISCREPANCIES {
            audit.repairs.extend(repairs);
        }
        // The unit was counted as free already if it is.
        let was_free = u32::from(exists && found.free > 0);
        if found.owner().is_some() && exists && wrong != Some(Wrong::Lost) {
            audit.ordered += 1;
            audit.free -= was_free;
        } else if !found.entries.is_empty() && exists && wrong != Some(Wrong::Lost) {
            audit.held += 1;
            audit.free -= was_free;
        }
    }
    let nowhere = nowhere(total, &free, &units);
    audit.lost += nowhere.len() as u32;
    for unit in nowhere.iter().take(MAX_DISCREPANCIES.saturating_sub(audit.discrepancies.len())) {
        let repairs = vec![Repair::Restore { units: vec![*unit] }];
        let found = Vec::new();
        audit.discrepancies.push(Discrepancy { unit: *unit, wrong: Wrong::Lost, found, since_ms: None, repairs });
    }
    if !nowhere.is_empty() {
        // First of all: every other repair moves units, and then it is not known any more whether these are in no place. All of
        // them: a lane that was loaded without its units may lack half of a round.
        audit.repairs.insert(0, Repair::Restore { units: nowhere });
    }
    audit
}
