use std::collections::HashSet;
use std::time::Duration;

use ::sale::{Allocation, EpochMs, OrderState, Rain, RainPlan, Steady};
use anyhow::{Context, Result};
use load::Curve;
use serde_json::json;
use tokio::time::Instant;

use super::{Found, SaleUpdates, Staged};
use crate::client::NewSale;
use crate::demo::crowd::Crowd;
use crate::demo::draw::{bar, by_arrival, mean, tenths};
use crate::demo::figures::Figures;
use crate::demo::plan::Plan;

/// One in this many units is available at the opening.
const AT_ONCE_ONE_OF: u32 = 10;
/// The rate in each third of the time, as a multiple of the first.
const RATES: [f64; 3] = [1.0, 2.0, 0.5];
/// The shortest time in which buyers come: long enough for some drops at each rate.
const AT_LEAST: Duration = Duration::from_secs(30);
/// Steps of the plot over the time in which buyers come.
const STEPS: u64 = 15;
/// How many seconds Redis may still follow the old plan; the operator's function updates it at once.
const HEARS_WITHIN_S: u32 = 5;

/// Free units that become available over time, at a rate that changes while people come. A grab is final.
pub(in crate::demo) struct Downpour;

#[derive(Debug, Clone, Copy)]
struct Grab {
    unit: u32,
    at: EpochMs,
}

impl Staged for Downpour {
    fn offer(plan: &Plan) -> NewSale {
        let [first, ..] = rates(plan);
        NewSale { rain: Some(first), ..plan.sale("rain").titled("Lantern rain").free(Allocation::Units) }
    }

    /// Evenly, over enough time for the rate to change.
    fn rush(plan: &Plan) -> Result<load::Plan> {
        load::Plan::new(plan.buyers as usize, over(plan), Curve::Even)
    }

    /// Raises the rate after a third of the time, and lowers it after the second.
    async fn update(crowd: &Crowd) -> Result<SaleUpdates> {
        let [_, raised, lowered] = rates(&crowd.plan);
        let mut plans = vec![rain_plan(crowd).await?];
        crowd.begins.notified().await;
        let began = Instant::now();
        let began_ms = runtime::Clock::system().now();
        for (third, rain) in [(1, raised), (2, lowered)] {
            tokio::time::sleep_until(began + over(&crowd.plan) / 3 * third).await;
            crowd.operator.update(&crowd.round, "rain", json!({ "rain": rain })).await?;
            plans.push(rain_plan(crowd).await?);
        }
        Ok(SaleUpdates { began_ms, plans })
    }

    async fn count(found: &Found<'_>) -> Result<Figures> {
        let live =
            found.live().map(|order| Grab { unit: order.reservation.unit.0, at: order.reservation.reserved_at_ms });
        let grabs: Vec<Grab> = live.collect();
        let promised = found.crowd.promised.lock();
        let winners: HashSet<usize> = promised.accepted.values().map(|(number, _)| *number).collect();
        let won: Vec<bool> = found.crowd.buyers.iter().map(|buyer| winners.contains(&buyer.number)).collect();
        let (plan, failed) = (&found.crowd.plan, found.count(OrderState::Failed));
        Ok(counted(&rates(plan)[0], failed, found.updates, over(plan), &grabs, &won))
    }
}

async fn rain_plan(crowd: &Crowd) -> Result<RainPlan> {
    let round = crowd.ledgers_round().await?;
    round.terms.rain_plan().with_context(|| format!("round {} has no plan of drops", round.id))
}

fn over(plan: &Plan) -> Duration {
    Duration::from_secs_f64(f64::from(plan.buyers) / f64::from(plan.rate)).max(AT_LEAST)
}

/// The offered plan and its changes. Rounded down, so that there are units until the end.
fn rates(plan: &Plan) -> [Rain; 3] {
    let at_once = plan.units / AT_ONCE_ONE_OF;
    let third_s = over(plan).as_secs_f64() / 3.0;
    let first_per_s = f64::from(plan.units - at_once) / (RATES.iter().sum::<f64>() * third_s);
    let rain = |at_once, rate: f64| Rain { at_once, steady: Some(steady(first_per_s * rate)), ..Rain::default() };
    [rain(at_once, RATES[0]), rain(0, RATES[1]), rain(0, RATES[2])]
}

/// At most this many units a second.
fn steady(per_s: f64) -> Steady {
    if per_s >= 1.0 {
        Steady { units: per_s as u32, every_s: 1 }
    } else {
        Steady { units: 1, every_s: (1.0 / per_s).ceil() as u32 }
    }
}

/// How many units had become available by a time, according to the last plan that had begun.
fn available(plans: &[RainPlan], at: EpochMs) -> u32 {
    in_force(plans, at).map_or(0, |plan| plan.available(at))
}

fn in_force(plans: &[RainPlan], at: EpochMs) -> Option<&RainPlan> {
    plans.iter().rev().find(|plan| plan.from_ms <= at)
}

fn counted(
    offered: &Rain,
    failed: usize,
    updates: &SaleUpdates,
    over: Duration,
    grabs: &[Grab],
    won: &[bool],
) -> Figures {
    let SaleUpdates { began_ms: began, plans } = updates;
    let total = plans.first().map_or(0, |plan| plan.last);
    let after = |ms: u64| EpochMs(began.0.saturating_add_unsigned(ms));
    let over_ms = u64::try_from(over.as_millis()).unwrap_or(u64::MAX);
    let step_ms = over_ms.div_ceil(STEPS).div_ceil(1000).max(1) * 1000;
    // On a slow machine buyers get their units after everybody has come.
    let last_ms = grabs.iter().map(|grab| grab.at.since_ms(*began)).max().unwrap_or(0);
    let count = over_ms.max(last_ms + 1).div_ceil(step_ms);
    let mut by_step = vec![0_u32; usize::try_from(count).unwrap_or_default()];
    for grab in grabs {
        if let Some(step) = by_step.get_mut((grab.at.since_ms(*began) / step_ms) as usize) {
            *step += 1;
        }
    }
    let planned = |from: u64, to: u64| {
        let before = if from == 0 { 0 } else { available(plans, after(from)) };
        available(plans, after(to)).saturating_sub(before)
    };
    let is_early = |grab: &&Grab| {
        let before = EpochMs(grab.at.0 - i64::from(HEARS_WITHIN_S) * 1000);
        // A plan that has just ended may have made more available, which stays so.
        let had = in_force(plans, before).map_or(0, |plan| plan.available(grab.at));
        grab.unit > available(plans, grab.at).max(had)
    };
    let too_early = grabs.iter().filter(is_early).count();
    let dropped = available(plans, after(over_ms));
    let taken = u32::try_from(grabs.len()).unwrap_or(u32::MAX);

    let mut figures = Figures::new(too_early == 0);
    figures.both("granted", "granted", grabs.len());
    figures.both("failed", "failed", failed);
    figures.both("offered", "plan", offered.to_string());
    let mut rates = Vec::new();
    for RainPlan { from_ms, units, every_ms, .. } in plans.iter().skip(1) {
        let from_s = (from_ms.since_ms(*began) as f64 / 100.0).round() / 10.0;
        figures.row(&format!("  changed after {from_s:.1} s"), format!("{units} every {} s", every_ms / 1000));
        rates.push(json!({ "from_s": from_s, "units": units, "every_ms": every_ms }));
    }
    let verdict = if too_early == 0 { "" } else { "  WRONG" };
    figures.row("taken before their drop", format!("{too_early}{verdict}"));
    figures.both("not_taken", "available and not taken", dropped.saturating_sub(taken));
    figures.both("to_drop", "not dropped yet", total.saturating_sub(dropped));
    figures.gap();
    let step_s = step_ms / 1000;
    figures.row("a second", format!("{:>9} {:>9}   in steps of {step_s} s", "grabs", "planned"));
    let most = by_step.iter().copied().max().unwrap_or(0).max(1);
    let mut steps = Vec::new();
    for (at, grabs) in (0..).zip(by_step) {
        let planned = planned(at * step_ms, (at + 1) * step_ms);
        let [grabbed_per_s, planned_per_s] = [grabs, planned].map(|count| f64::from(count) / step_s as f64);
        let bar = bar(f64::from(grabs) / f64::from(most));
        let value = format!("{grabbed_per_s:>9.1} {planned_per_s:>9.1}   {bar}");
        figures.row(&format!("  {} s", at * step_s), value);
        steps.push(json!({ "grabs": grabs, "planned": planned }));
    }
    let chance: Vec<f64> = tenths(won).map(|group| mean(group.iter().map(|won| f64::from(*won)))).collect();
    figures.facts(json!({ "rates": rates, "too_early": too_early, "step_s": step_s, "steps": steps }));
    figures.facts(json!({ "chance_by_arrival": chance }));
    figures.gap();
    figures.row("chance by order of arrival", "");
    by_arrival(&mut figures, &chance);
    figures
}

#[cfg(test)]
mod tests {
    use super::*;

    const BEGAN: EpochMs = EpochMs(10_000);
    const OVER: Duration = Duration::from_secs(30);

    fn plan(from_s: i64, units: u32, at_once: u32) -> RainPlan {
        let from_ms = EpochMs(BEGAN.0 + from_s * 1000);
        RainPlan { last: 100, from_ms, units, every_ms: 1000, drops: vec![(from_ms, at_once)] }
    }

    /// Ten at once and one a second; two a second after ten seconds; none after twenty.
    fn updates() -> SaleUpdates {
        SaleUpdates { began_ms: BEGAN, plans: vec![plan(0, 1, 10), plan(10, 2, 20), plan(20, 0, 40)] }
    }

    fn downpour(grabs: &[(u32, i64)]) -> Figures {
        let grabs: Vec<Grab> =
            grabs.iter().map(|(unit, at_ms)| Grab { unit: *unit, at: EpochMs(BEGAN.0 + at_ms) }).collect();
        let won: Vec<bool> = (0..20).map(|number| number < grabs.len()).collect();
        counted(&Rain::default(), 0, &updates(), OVER, &grabs, &won)
    }

    #[test]
    fn what_is_grabbed_stands_beside_what_was_planned() {
        let facts = downpour(&[(1, 0), (2, 1), (11, 1_000), (12, 2_500), (40, 29_999)]).facts;
        let counts = ["too_early", "not_taken", "to_drop", "step_s"].map(|key| facts[key].as_u64().unwrap());
        assert_eq!(counts, [0, 35, 60, 2]);
        let step = |step: &serde_json::Value| ["grabs", "planned"].map(|key| step[key].as_u64().unwrap());
        let steps: Vec<[u64; 2]> = facts["steps"].as_array().unwrap().iter().map(step).collect();
        assert_eq!([steps[0], steps[1], steps[5], steps[10], steps[14]], [[3, 12], [1, 2], [0, 4], [0, 0], [1, 0]]);
        assert_eq!((steps.len(), steps.iter().map(|step| step[1]).sum::<u64>()), (15, 40), "every drop is in one step");
        assert_eq!(facts["chance_by_arrival"].as_array().unwrap()[..4], [1.0, 1.0, 0.5, 0.0]);
    }

    #[test]
    fn a_unit_before_its_drop_is_wrong() {
        for (unit, at_ms, too_early) in [
            (10, 0, 0),
            (11, 999, 1),
            (11, 1_000, 0),
            (22, 11_000, 0),
            (23, 11_999, 1),
            // Redis may not have heard of the change, and it has.
            (42, 21_000, 0),
            (42, 26_000, 1),
        ] {
            let Figures { facts, text, is_right } = downpour(&[(unit, at_ms)]);
            assert_eq!(facts["too_early"], too_early, "unit {unit} after {at_ms} ms");
            assert_eq!((is_right, text.contains("WRONG")), (too_early == 0, too_early > 0));
        }
    }

    #[test]
    fn who_is_late_on_a_slow_machine_is_counted() {
        let facts = downpour(&[(1, 45_000)]).facts;
        let steps = facts["steps"].as_array().unwrap();
        assert_eq!((steps.len(), &steps[22]["grabs"]), (23, &json!(1)));
    }

    #[test]
    fn the_rate_is_raised_and_then_lowered() {
        // Six of sixty at once, and the others in thirty seconds at 1.5, 3 and 0.8 a second.
        let [first, raised, lowered] = rates(&crate::demo::kinds::tests::plan(60, 300));
        assert_eq!([first.at_once, raised.at_once, lowered.at_once], [6, 0, 0]);
        let every = |units, every_s| Some(Steady { units, every_s });
        assert_eq!([first.steady, raised.steady, lowered.steady], [every(1, 1), every(3, 1), every(1, 2)]);
    }

    #[test]
    fn rates_leave_units_to_the_end() {
        for per_s in [0.01, 0.3, 0.99, 1.0, 1.54, 23.4] {
            let Steady { units, every_s } = steady(per_s);
            assert!(units > 0 && f64::from(units) / f64::from(every_s) <= per_s, "{per_s}");
            assert_ne!(steady(per_s), steady(per_s * 2.0), "{per_s}: each change changes something");
        }
    }
}
