use std::collections::BTreeMap;

use fulfilment::UnitCounts;
use metrics::gauge;
use serde::Serialize;

#[derive(Debug, Default, PartialEq, Eq, Serialize)]
pub struct ReconciliationSummary {
    /// Overdue orders that this run expired, since their messages must be lost.
    pub overdue: usize,
    /// Rounds that Redis had lost and has again.
    pub rebuilt: usize,
    pub sent: usize,
    /// Orders that Redis had forgotten.
    pub adopted: usize,
    /// Reservations that were released because their order has ended.
    pub released: usize,
    /// Repairs that gave back units that were in no place.
    pub restored: usize,
    /// How long the oldest reservation has waited for its order, in seconds.
    pub outbox_age_s: u64,
    /// Sales that get far more requests than expected.
    pub busy: usize,
    /// Steps that failed; the log has the reasons, and the next run tries again.
    pub failed: usize,
    /// Oversold units in rounds some of whose lanes do not answer; there may be more.
    pub oversold_at_least: u32,
    /// Rounds that were not audited for lack of time. Later runs begin with others.
    pub left: usize,
    /// Where the units of each round are, before any repair. Only rounds whose lanes all answered.
    pub rounds: BTreeMap<String, UnitCounts>,
}

impl ReconciliationSummary {
    /// Sets the gauges of a run, for each round and as sums. Alarms use the sums, since an alarm names all of its labels.
    pub(crate) fn set_gauges(&self) {
        let mut all = UnitCounts::default();
        for (round, counts) in &self.rounds {
            let UnitCounts { free, held, ordered, oversold, lost, duplicated } = *counts;
            gauge!("UnitsFree", "Round" => round.clone()).set(free);
            gauge!("UnitsHeld", "Round" => round.clone()).set(held);
            gauge!("UnitsOrdered", "Round" => round.clone()).set(ordered);
            gauge!("UnitsAdrift", "Round" => round.clone()).set(oversold + lost + duplicated);
            all.oversold += oversold;
            all.lost += lost;
            all.duplicated += duplicated;
        }
        all.oversold += self.oversold_at_least;
        gauge!("OutboxAge").set(self.outbox_age_s as f64);
        gauge!("UnitsOversold").set(all.oversold);
        gauge!("UnitsAdrift").set(all.oversold + all.lost + all.duplicated);
        for (name, count) in [
            ("OrdersOverdue", self.overdue),
            ("RoundsRebuilt", self.rebuilt),
            ("MessagesSentAgain", self.sent),
            ("Repairs", self.adopted + self.released + self.restored),
            ("ReconciliationFailures", self.failed),
        ] {
            gauge!(name).set(count as f64);
        }
    }
}
