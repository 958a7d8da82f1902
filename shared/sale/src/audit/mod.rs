//! The audit: finds where every unit of a round is, by comparing what Redis and the ledger say.

mod awarded;
mod found;
#[cfg(test)]
mod tests;
mod views;
mod wrong;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use found::{Found, merge_free, nowhere};

pub use awarded::{Awarded, Tally};
pub use views::{LedgerView, LiveOrder, StockView};
pub use wrong::{Repair, Wrong};

use crate::{EpochMs, Unit};

/// A unit that is not in exactly one place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Discrepancy {
    pub unit: Unit,
    pub wrong: Wrong,
    /// All places where it was found, in words.
    pub found: Vec<String>,
    /// When the oldest reservation involved was made, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since_ms: Option<EpochMs>,
    /// How reconciliation repairs it. Empty if a message under way resolves it.
    pub repairs: Vec<Repair>,
}

/// The audit's result. `free + held + ordered + lost = total`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Audit {
    pub total: u32,
    /// Units that can be handed out.
    pub free: u32,
    /// Units of reservations without an order.
    pub held: u32,
    /// Units of live orders.
    pub ordered: u32,
    /// Units sold twice, or sold without existing.
    pub oversold: u32,
    /// Units in no place.
    pub lost: u32,
    /// Units in two places.
    pub duplicated: u32,
    /// Units that are not in exactly one place, at most [`MAX_DISCREPANCIES`].
    pub discrepancies: Vec<Discrepancy>,
    /// What reconciliation has to do, including for units in one place whose order Redis does not know. Bounded in the
    /// same way, except for units in no place, which are given back together.
    #[serde(skip)]
    pub repairs: Vec<Repair>,
}

/// How many discrepancies are listed at once: more than a person reads, and what one run repairs.
pub const MAX_DISCREPANCIES: usize = 1000;

impl Audit {
    /// Whether every unit is in exactly one place.
    pub fn is_clean(&self) -> bool {
        self.discrepancies.is_empty() && self.free + self.held + self.ordered == self.total
    }
}

/// Finds the place of each unit of a round of `total` units.
///
/// A unit whose order is written but not yet confirmed in Redis counts as ordered: that is a step under way, not a
/// discrepancy. An order without a reservation in Redis is also in its place, as long as Redis gives the unit to nobody
/// else. Time and memory grow with the number of taken units, not with the stock.
pub fn audit(total: u32, stock: &StockView, ledger: &LedgerView) -> Audit {
    audit_listing(MAX_DISCREPANCIES, total, stock, ledger)
}

/// The same with at most this many discrepancies.
pub fn audit_listing(most: usize, total: u32, stock: &StockView, ledger: &LedgerView) -> Audit {
    let mut units: BTreeMap<u32, Found<'_>> = BTreeMap::new();
    for stored in stock.reservations.iter().filter(|stored| stored.state.is_live()) {
        units.entry(stored.reservation.unit.0).or_default().reservations.push(stored);
    }
    for guard in &ledger.guards {
        units.entry(guard.unit.0).or_default().guard = Some(guard);
    }
    for order in &ledger.live_orders {
        units.entry(order.unit.0).or_default().orders.push(order);
    }
    let free = merge_free(total, &stock.free, &mut units);

    let free_units = free.iter().map(|range| range.end() - range.start() + 1).sum();
    let mut audit = Audit { total, free: free_units, ..Audit::default() };
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
        if let Some(wrong) = wrong.filter(|_| audit.discrepancies.len() < most) {
            let (unit, since_ms, repairs) = (Unit(*unit), found.since_ms(), repairs.clone());
            audit.discrepancies.push(Discrepancy { unit, wrong, found: found.describe(), since_ms, repairs });
        }
        if audit.repairs.len() < MAX_DISCREPANCIES {
            audit.repairs.extend(repairs);
        }
        // If it is also free, it was counted there already.
        let was_free = u32::from(exists && found.free > 0);
        if found.owner().is_some() && exists && wrong != Some(Wrong::Lost) {
            audit.ordered += 1;
            audit.free -= was_free;
        } else if !found.reservations.is_empty() && exists && wrong != Some(Wrong::Lost) {
            audit.held += 1;
            audit.free -= was_free;
        }
    }
    let nowhere = nowhere(total, &free, &units);
    audit.lost += nowhere.len() as u32;
    for unit in nowhere.iter().take(most.saturating_sub(audit.discrepancies.len())) {
        let repairs = vec![Repair::Restore { units: vec![*unit] }];
        let (unit, wrong, found) = (*unit, Wrong::Lost, Vec::new());
        audit.discrepancies.push(Discrepancy { unit, wrong, found, since_ms: None, repairs });
    }
    if !nowhere.is_empty() {
        // Must come first: every other repair moves units, after which it is unknown whether these are still in no
        // place. Not bounded: a lane that was loaded without its units may lack half of a round.
        audit.repairs.insert(0, Repair::Restore { units: nowhere });
    }
    audit
}
