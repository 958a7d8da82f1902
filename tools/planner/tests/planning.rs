//! Which plans hold, which are refused, and what is offered instead.

use jiff::{Timestamp, ToSpan};
use planner::checks::Check;
use planner::inputs::{Assumptions, Inputs, LineAsked};
use planner::plan::{Plan, Verdict, holds, plan};
use planner::prices::Prices;
use proptest::prelude::*;

fn assumed() -> Assumptions {
    clap::Parser::parse_from(["planner"])
}

fn now() -> Timestamp {
    "2026-11-21T12:00:00Z".parse().unwrap()
}

fn inputs(units: u32, audience: u64, days: i64) -> Inputs {
    let opens_at = now() + (days * 24).hours();
    Inputs::new(units, audience, opens_at, now(), "us-east-1").unwrap()
}

/// The same without a line.
fn rush(units: u32, audience: u64, days: i64) -> Inputs {
    Inputs { line: LineAsked::No, ..inputs(units, audience, days) }
}

fn planned(units: u32, audience: u64, days: i64) -> Plan {
    plan(inputs(units, audience, days), assumed()).unwrap()
}

fn check<'a>(plan: &'a Plan, name: &str) -> &'a Check {
    plan.checks.iter().find(|check| check.name == name).unwrap()
}

#[test]
fn a_quota_takes_its_time() {
    let planned = |units, audience, days| plan(rush(units, audience, days), assumed()).unwrap();
    let in_time = planned(100, 60_000, 30);
    assert_eq!(in_time.verdict, Verdict::Holds);
    let task = in_time.to_do.iter().find(|task| task.check == "lambda_concurrency").unwrap();
    assert_eq!(task.begin_by, in_time.inputs.opens_at - (14 * 24).hours());

    let too_soon = planned(100, 60_000, 13);
    assert_eq!(too_soon.verdict, Verdict::Refused);
    assert_eq!(too_soon.reasons[0].check, "opens_at");
    let later = &too_soon.alternatives[0];
    assert_eq!(later.kind, "later_opening");
    assert!(later.what.contains("2026-12-05T12:00:00Z"), "{}", later.what);
    assert!(holds(&rush(100, 60_000, 14), &assumed()));
}

#[test]
fn nothing_opens_before_it_is_loaded() {
    let opens_at = |seconds| {
        let opens_at = now() + jiff::Span::new().seconds(seconds);
        holds(&Inputs::new(1, 1, opens_at, now(), "us-east-1").unwrap(), &assumed())
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
    let rush = |audience| rush(10_000, audience, 60);
    let plan = self::plan(rush(1_000_000), assumed()).unwrap();
    let offered = |kind: &str| {
        let other = plan.alternatives.iter().find(|other| other.kind == kind).unwrap();
        other.what.split(' ').find_map(|word| word.replace(',', "").parse::<u64>().ok()).unwrap()
    };
    let people = offered("smaller_audience");
    assert!(holds(&rush(people), &assumed()));
    assert!(!holds(&rush(people + 1), &assumed()));

    let per_s = offered("line") as u32;
    let at = |per_s| Inputs { line: LineAsked::PerS(per_s), ..inputs(10_000, 1_000_000, 60) };
    let line = self::plan(at(per_s), assumed()).unwrap();
    assert_eq!((line.verdict, line.to_do.len()), (Verdict::Holds, 1), "on the default quotas");
    let throttled = line.checks.iter().filter(|check| !check.holds()).map(|check| check.name);
    assert_eq!(throttled.collect::<Vec<_>>(), ["ticket_throttle"], "a setting");
    let faster = self::plan(at(2 * per_s), assumed()).unwrap();
    assert!(faster.checks.iter().any(|check| !check.holds()));
}

#[test]
fn lanes_are_as_few_as_the_load_needs() {
    let raised = Assumptions { lambda_quota: 30_000.0, gateway_quota: 1e6, ..assumed() };
    let chosen = |audience| plan(rush(100_000, audience, 60), raised.clone()).unwrap();
    let lanes = [20_000, 100_000, 200_000].map(|audience| chosen(audience).setup.lanes);
    assert_eq!(lanes[0], 1);
    assert!(lanes[0] < lanes[1] && lanes[1] < lanes[2], "{lanes:?}");

    let needs_shards = chosen(200_000);
    assert_eq!(needs_shards.verdict, Verdict::Holds, "{:?}", needs_shards.reasons);
    assert!(needs_shards.to_do.iter().any(|task| task.check == "redis_scripts"), "{:?}", needs_shards.to_do);
    let one = Inputs { lanes: Some(1), ..rush(100_000, 200_000, 60) };
    assert!(!holds(&one, &raised));

    let load = needs_shards.load;
    let room = |lanes, shards| load.room_for_scripts(lanes, shards) / load.room_for_scripts(1, 1);
    assert_eq!((room(4, 2), room(4, 3), room(2, 4)), (2.0, 2.0, 2.0), "a shard with two lanes does half for each");
}

/// People who come after the last unit is gone learn so at the challenge: twice the people do not give twice the answers.
#[test]
fn people_who_come_too_late_do_not_go_on() {
    let load = |audience| plan(rush(100, audience, 60), assumed()).unwrap().load;
    let (few, many) = (load(10_000), load(20_000));
    assert!((many.challenges_per_s / few.challenges_per_s - 2.0).abs() < 1e-9);
    assert!(many.answers_per_s < 1.6 * few.answers_per_s, "{} {}", many.answers_per_s, few.answers_per_s);
    assert!(many.all_the_way < 2_000.0, "{}", many.all_the_way);
    assert!(few.gateway_per_s < few.challenges_per_s + few.answers_per_s + few.reservations_per_s + 100.0);
}

#[test]
fn a_limit_of_a_campaign_is_a_write_more() {
    let with =
        |campaign_limits| plan(inputs(300_000, 1_000, 60), Assumptions { campaign_limits, ..assumed() }).unwrap();
    let (none, two) = (with(0), with(2));
    let need = |plan: &Plan| check(plan, "table_writes").need;
    assert!((need(&two) / need(&none) - 10.0 / 6.0).abs() < 1e-9);
    assert!(two.cost_usd > none.cost_usd);
}

#[test]
fn every_region_has_every_price() {
    let table = Prices::load().unwrap();
    assert!(table.taken.parse::<jiff::civil::Date>().is_ok());
    for region in table.regions() {
        assert!(table.of(region).unwrap().usd.values().all(|usd| *usd > 0.0), "{region}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn more_of_anything_never_costs_less_and_never_holds_better(
        units in 1_u32..2_000_000, more_units in 0_u32..2_000_000,
        audience in 1_u64..50_000_000, more in 0_u64..50_000_000,
        days in 1_i64..40, past_the_edge: bool, per_s in proptest::option::of(1_u32..20_000), lanes in 1_u32..=16,
    ) {
        let assumed = Assumptions { past_the_edge, ..assumed() };
        let line = per_s.map_or(LineAsked::No, LineAsked::PerS);
        let of = |units, audience| Inputs { line, lanes: Some(lanes), ..inputs(units, audience, days) };
        let small = plan(of(units, audience), assumed.clone()).unwrap();
        let large = plan(of(units + more_units, audience + more), assumed).unwrap();
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

/// At a thousand processes and a thousand sales no partition is read at more than a tenth of its limit. Larger sales cost
/// more when they are changed, and more of them when processes start.
#[test]
fn what_processes_read_of_the_table_depends_on_what_is_published() {
    let with = |published_sales, round_kb| {
        let plan = plan(rush(10_000, 1_000_000, 60), Assumptions { published_sales, round_kb, ..assumed() }).unwrap();
        ["snapshot_reads", "list_reads", "changed_round_reads"].map(|name| check(&plan, name).need)
    };
    let [snapshots, list, changed] = with(20.0, 4.0);
    let [more_snapshots, more_list, more_changed] = with(1_000.0, 20.0);
    assert_eq!(snapshots, more_snapshots, "however many sales there are");
    assert_eq!(changed, snapshots, "half a unit each within two seconds");
    assert_eq!((more_list / list, more_changed / changed), (5.0, 5.0));
    let tenth = planner::quotas::PARTITION_READS.value / 10.0;
    let processes = 1_000.0;
    assert!(planner::totals::SNAPSHOT_READS_PER_S * processes <= tenth);
    assert!(planner::totals::changed_round_reads_per_s(processes, 4.0) <= tenth);
    assert!(planner::totals::list_reads_per_s(processes, processes / 10.0, 1_000.0) <= tenth);
}

/// With large sales the same crowd exceeds a partition.
#[test]
fn a_sale_that_is_too_large_to_be_changed_in_the_rush_is_refused() {
    let refuses = |round_kb| {
        let plan = plan(rush(10_000, 300_000, 60), Assumptions { round_kb, ..assumed() }).unwrap();
        plan.reasons.iter().any(|reason| reason.check == "changed_round_reads")
    };
    assert_eq!((refuses(4.0), refuses(20.0)), (false, true));
}
