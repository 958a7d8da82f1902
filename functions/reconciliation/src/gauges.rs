use fulfilment::UnitCounts;
use metrics::gauge;

use crate::summary::ReconciliationSummary;

/// Sets the gauges of a run, for each round and as sums. Alarms use the sums, since an alarm names all of its labels.
pub(crate) fn set(summary: &ReconciliationSummary) {
    let mut all = UnitCounts::default();
    for (round, counts) in &summary.rounds {
        let UnitCounts { free, held, ordered, oversold, lost, duplicated } = *counts;
        gauge!("UnitsFree", "Round" => round.clone()).set(free);
        gauge!("UnitsHeld", "Round" => round.clone()).set(held);
        gauge!("UnitsOrdered", "Round" => round.clone()).set(ordered);
        gauge!("UnitsAdrift", "Round" => round.clone()).set(oversold + lost + duplicated);
        all.oversold += oversold;
        all.lost += lost;
        all.duplicated += duplicated;
    }
    all.oversold += summary.oversold_at_least;
    gauge!("OutboxAge").set(summary.outbox_age_s as f64);
    gauge!("UnitsOversold").set(all.oversold);
    gauge!("UnitsAdrift").set(all.oversold + all.lost + all.duplicated);
    let ReconciliationSummary { overdue, rebuilt, sent, adopted, released, restored, failed, .. } = summary;
    let all_rounds = [
        ("OrdersOverdue", overdue),
        ("RoundsRebuilt", rebuilt),
        ("MessagesSentAgain", sent),
        ("Repairs", &(adopted + released + restored)),
        ("ReconciliationFailures", failed),
    ];
    for (name, count) in all_rounds {
        gauge!(name).set(*count as f64);
    }
}
