//! The report as text.

use std::fmt::Write as _;

use planner::figures::{count, time};

use crate::opening::Run;
use crate::scenario::Scenario;

pub fn report(scenario: &Scenario, runs: &[Run]) -> String {
    let mut out = String::new();
    let Scenario { units, people, lanes, admits_per_s, opens_early_s, .. } = *scenario;
    let (units, people, per_s) = (count(units.into()), count(people.into()), count(admits_per_s.into()));
    let early = time(opens_early_s.into());
    let lanes = if lanes == 1 { "1 lane".into() } else { format!("{lanes} lanes") };
    let _ =
        writeln!(out, "{units} units, {people} people, {lanes}; a line from {early} before, {per_s} people a second");
    let _ = writeln!(out, "{} runs\n", runs.len());
    let _ = writeln!(out, "{:<44}{:>12}{:>12}{:>12}", "", "median", "least", "most");
    let mut line = |what: &str, of: &dyn Fn(&Run) -> Option<f64>| {
        let mut all: Vec<f64> = runs.iter().filter_map(of).collect();
        all.sort_by(f64::total_cmp);
        let [median, least, most] =
            figures([all.get(all.len() / 2), all.first(), all.last()].map(|value| value.copied()));
        let _ = writeln!(out, "{what:<44}{median:>12}{least:>12}{most:>12}");
    };
    line("seconds until it is sold out", &|run| run.sold_out_s);
    line("seconds until all who waited know", &|run| run.told_s);
    line("seconds until everything is paid for", &|run| run.all_paid_s);
    line("units paid for", &|run| Some(run.paid.into()));
    line("units that came back unpaid", &|run| Some(run.came_back.into()));
    line("people whose turn came", &|run| Some(run.admitted.into()));
    line("of them, came and got nothing", &|run| Some(run.came_for_nothing.into()));
    line("people in line, at most", &|run| Some(run.waiting_peak.into()));
    line("edge, requests in the fullest second", &|run| Some(run.edge_peak));
    line("gateway, requests in the fullest second", &|run| Some(run.gateway_peak));
    line("gateway, the same in the minute before", &|run| Some(run.tickets_peak));
    line("requests that heard 429 or 503", &|run| Some(run.refused));
    line("Redis, calls in the fullest second", &|run| Some(run.redis_peak));
    line("Redis, longest queue of a shard", &|run| Some(run.redis_queue_peak));
    line("units that changed lanes", &|run| Some(run.moved.into()));
    line("requests per person who never got to front", &|run| Some(run.requests_never_at_front.into()));
    line("arrival and place, Spearman's ρ × 1,000", &|run| Some(run.fairness.correlation * 1_000.0));
    line("the same, in standard deviations", &|run| Some(run.fairness.correlation_sigmas));
    line("tenths by arrival, largest deviation, in σ", &|run| Some(run.fairness.decile_sigmas));
    line("latecomers passed over", &|run| Some(run.fairness.passed_over.into()));
    line("oversold, over the limit, told wrongly", &|run| {
        let oversold = run.most_taken.saturating_sub(scenario.units);
        Some((oversold + run.over_limit + run.told_wrongly).into())
    });
    let mut tenths = |what: &str, of: &dyn Fn(&Run) -> [f64; 10]| {
        let mean = |decile: usize| runs.iter().map(|run| of(run)[decile]).sum::<f64>() / runs.len().max(1) as f64;
        let all: Vec<String> = (0..10).map(|decile| format!("{:.2}", mean(decile) * 100.0)).collect();
        let _ = writeln!(out, "{what}\n  {}", all.join("  "));
    };
    tenths("\nturns of each tenth by arrival, per cent, mean of all runs", &|run| run.fairness.admitted_by_decile);
    tenths("winners in each tenth by arrival, per cent of all", &|run| run.fairness.winners_by_decile);
    out
}

/// The figures of a line, all with the same number of decimals: two if one of them is a fraction and all are small.
fn figures(values: [Option<f64>; 3]) -> [String; 3] {
    let known = || values.iter().flatten();
    let with_decimals = known().any(|value| value.fract() != 0.0) && known().all(|value| value.abs() < 100.0);
    values.map(|value| match value {
        None => "–".into(),
        Some(value) if with_decimals => format!("{value:.2}"),
        Some(value) if value.round() < 0.0 => format!("-{}", count(-value.round())),
        Some(value) => count(value.round().abs()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_figures_of_a_line_have_as_many_decimals_as_each_other() {
        assert_eq!(figures([Some(22.1), Some(21.0), Some(23.0)]), ["22.10", "21.00", "23.00"]);
        assert_eq!(figures([Some(99.5), Some(98.25), Some(101.0)]), ["100", "98", "101"]);
        assert_eq!(figures([Some(-0.5), Some(-2.0), Some(1.25)]), ["-0.50", "-2.00", "1.25"]);
        assert_eq!(figures([Some(-3.0), Some(-1_200.0), Some(0.0)]), ["-3", "-1,200", "0"]);
        assert_eq!(figures([None, None, None]), ["–", "–", "–"]);
    }
}
