//! What holds, what is refused, and what is offered instead.

use jiff::{Timestamp, ToSpan};
use planner::checks::Check;
use planner::inputs::{Assumptions, Inputs};
use planner::plan::{Plan, Verdict, holds, plan};
use planner::prices::Prices;
use proptest::prelude::*;

fn assumed() -> Assumptions {
    #[derive(clap::Parser)]
    struct Only {
        #[command(flatten)]
        assumptions: Assumptions,
    }
    <Only as clap::Parser>::parse_from(["planner"]).assumptions
}

fn now() -> Timestamp {
    "2026-11-21T12:00:00Z".parse().unwrap()
}

fn inputs(units: u32, audience: u64, days: i64) -> Inputs {
    let opens_at = now() + (days * 24).hours();
    Inputs::new(units, audience, opens_at, now(), "us-east-1").unwrap()
}

fn planned(units: u32, audience: u64, days: i64) -> Plan {
    plan(inputs(units, audience, days), assumed()).unwrap()
}

fn check<'a>(plan: &'a Plan, name: &str) -> &'a Check {
    plan.checks.iter().find(|check| check.name == name).unwrap()
}

#[test]
fn a_quota_takes_its_time() {
    let in_time = planned(100, 30_000, 30);
    assert_eq!(in_time.verdict, Verdict::Holds);
    let task = in_time.to_do.iter().find(|task| task.check == "lambda_concurrency").unwrap();
    assert_eq!(task.begin_by, in_time.inputs.opens_at - (14 * 24).hours());

    let too_soon = planned(100, 30_000, 13);
    assert_eq!(too_soon.verdict, Verdict::Refused);
    assert_eq!(too_soon.reasons[0].check, "opens_at");
    let later = &too_soon.alternatives[0];
    assert_eq!((later.kind, later.built), ("later_opening", true));
    assert!(later.what.contains("2026-12-05T12:00:00Z"), "{}", later.what);
    assert!(holds(&inputs(100, 30_000, 14), &assumed()).unwrap());
}

#[test]
fn nothing_opens_before_it_is_loaded() {
    let opens_at = |seconds| {
        let opens_at = now() + jiff::Span::new().seconds(seconds);
        holds(&Inputs::new(1, 1, opens_at, now(), "us-east-1").unwrap(), &assumed()).unwrap()
    };
    assert!(!opens_at(599));
    assert!(opens_at(600));
}

#[test]
fn more_orders_than_the_audit_reads_are_refused_whoever_comes() {
    let plan = planned(300_001, 1_000, 60);
    assert_eq!(plan.verdict, Verdict::Refused);
    assert_eq!(plan.reasons[0].check, "audited_orders");
    assert!(plan.alternatives.iter().any(|other| other.what.contains("300,000 units")));
    assert_eq!(planned(300_000, 1_000, 60).verdict, Verdict::Holds);
}

#[test]
fn the_queue_is_empty_before_the_payment_window_is_over() {
    let plan = planned(300_000, 10_000, 60);
    assert!(check(&plan, "table_writes").holds());
    let short = Assumptions { payment_window_s: 60.0, ..assumed() };
    let plan = self::plan(inputs(300_000, 10_000, 60), short).unwrap();
    let writes = check(&plan, "table_writes");
    assert_eq!((writes.need, writes.have, writes.holds()), (30_000.0, 10_000.0, false));
    assert!(plan.to_do.iter().any(|task| task.check == "table_writes"));
    assert!((plan.drain_s - 60.0).abs() < 1.0, "{}", plan.drain_s);
}

#[test]
fn what_is_offered_holds() {
    let plan = planned(10_000, 1_000_000, 60);
    let offered = |kind: &str| {
        let other = plan.alternatives.iter().find(|other| other.kind == kind).unwrap();
        let digits = other.what.split(' ').find_map(|word| word.replace(',', "").parse::<u64>().ok());
        (digits.unwrap(), other.built)
    };
    let (people, built) = offered("smaller_audience");
    assert!(built);
    assert!(holds(&inputs(10_000, people, 60), &assumed()).unwrap());
    assert!(!holds(&inputs(10_000, people + 1, 60), &assumed()).unwrap());

    let (per_s, built) = offered("waiting_room");
    assert!(!built);
    let room = |per_s: u64| Assumptions { waiting_room_per_s: Some(per_s as f64), ..assumed() };
    assert!(holds(&inputs(10_000, 1_000_000, 60), &room(per_s)).unwrap());
    assert!(!holds(&inputs(10_000, 1_000_000, 60), &room(per_s + 1)).unwrap());
}

#[test]
fn every_region_has_every_price_and_every_unseen_one_is_named() {
    let table = Prices::load().unwrap();
    assert_eq!(table.currency, "USD");
    assert!(table.taken.parse::<jiff::civil::Date>().is_ok());
    for region in table.regions() {
        let prices = table.of(region).unwrap();
        assert_eq!(prices.usd.keys().collect::<Vec<_>>(), table.units.keys().collect::<Vec<_>>(), "{region}");
        assert!(prices.usd.values().all(|usd| *usd > 0.0), "{region}");
        assert!(prices.unseen.iter().all(|name| prices.usd.contains_key(name)), "{region}");
    }
    for (name, priced) in &table.units {
        assert!(priced.page.starts_with("https://aws.amazon.com/") && !priced.per.is_empty(), "{name}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn more_of_anything_never_costs_less_and_never_holds_better(
        units in 1_u32..2_000_000, more_units in 0_u32..2_000_000,
        audience in 1_u64..50_000_000, more in 0_u64..50_000_000,
        days in 1_i64..40, past_the_edge: bool, room in proptest::option::of(1.0_f64..20_000.0),
    ) {
        let assumed = Assumptions { past_the_edge, waiting_room_per_s: room, ..assumed() };
        let small = plan(inputs(units, audience, days), assumed.clone()).unwrap();
        let large = plan(inputs(units + more_units, audience + more, days), assumed).unwrap();
        prop_assert!(small.cost_usd <= large.cost_usd);
        prop_assert!(small.verdict == Verdict::Holds || large.verdict == Verdict::Refused);
        for (small, large) in small.checks.iter().zip(&large.checks) {
            prop_assert!(!large.holds() || small.holds(), "{}", small.name);
        }
    }

    #[test]
    fn a_refusal_says_why_and_nothing_else_does(
        units in 1_u32..2_000_000, audience in 1_u64..50_000_000, days in 1_i64..40,
    ) {
        let plan = planned(units, audience, days);
        prop_assert_eq!(plan.verdict == Verdict::Refused, !plan.reasons.is_empty());
        prop_assert!(plan.cost_usd.is_finite() && plan.drain_s.is_finite());
        prop_assert!(plan.load.edge_per_s >= plan.load.gateway_per_s);
    }
}
