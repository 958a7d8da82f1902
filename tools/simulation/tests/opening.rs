//! A small opening: 20,000 people at 200 units, over four lanes.

use std::process::Command;

use jiff::{SignedDuration, Timestamp};
use pass::line::Place;
use planner::inputs::{Assumptions, Inputs, LineAsked};
use simulation::cli::all;
use simulation::fairness::spearman;
use simulation::lanes::Lanes;
use simulation::opening::Run;
use simulation::scenario::{Places, Scenario};

const UNITS: u32 = 200;
const PEOPLE: u32 = 20_000;

fn scenario() -> Scenario {
    let assumed: Assumptions = clap::Parser::parse_from(["simulate"]);
    let now: Timestamp = "2026-11-21T12:00:00Z".parse().unwrap();
    let inputs = Inputs::new(UNITS, PEOPLE.into(), now + SignedDuration::from_hours(1_000), now, "us-east-1").unwrap();
    let inputs = Inputs { lanes: Some(4), line: LineAsked::PerS(100), ..inputs };
    Scenario::planned(&inputs, &assumed).unwrap()
}

fn runs(scenario: &Scenario) -> Vec<Run> {
    all(scenario, 2)
}

#[test]
fn a_small_opening_sells_everything_to_people_in_the_order_of_the_line() {
    let scenario = scenario();
    let runs = runs(&scenario);
    assert_eq!(runs.iter().map(|run| run.seed).collect::<Vec<_>>(), [1, 2]);
    for run in &runs {
        assert_eq!((run.paid, run.most_taken), (UNITS, UNITS), "seed {}", run.seed);
        assert_eq!((run.over_limit, run.told_wrongly, run.left_waiting), (0, 0, 0), "seed {}", run.seed);
        assert!(run.winners > UNITS / 2 && run.winners < UNITS, "some have two: {}", run.winners);
        // 200 units at 100 people a second, 7 of 10 of whom come, after a poll, a challenge and its answer.
        let sold_out_s = run.sold_out_s.unwrap();
        assert!((3.0..30.0).contains(&sold_out_s), "{sold_out_s}");
        // Waiting people poll the document every 5 to 6.25 seconds, and it is at most a second old.
        assert!(run.told_s.unwrap() - sold_out_s < 8.0, "{:?} {sold_out_s}", run.told_s);
        // Returned units were sold again, window after window.
        assert!(run.came_back > 0 && run.all_paid_s.unwrap() > scenario.payment_window_s);
        assert_eq!(run.requests_never_at_front, 1, "one for the ticket, while polls go to the CDN");
        assert!(run.edge_peak > 5.0 * run.gateway_peak, "{} {}", run.edge_peak, run.gateway_peak);
        assert_eq!((run.refused, run.redis_queue_peak < 1_000.0), (0.0, true));
        assert!(run.transfers > 0 && run.moved >= run.transfers, "the last units must change lanes");
        let fairness = &run.fairness;
        assert!(fairness.correlation_sigmas.abs() < 4.0 && fairness.decile_sigmas < 4.0, "{fairness:?}");
        assert_eq!(fairness.passed_over, 0);
        // Some of 12,000 early people were admitted, but most were not.
        let share = fairness.admitted_by_decile.iter().sum::<f64>() / 10.0;
        assert!((0.01..0.2).contains(&share), "{share}");
    }
    let first = &runs[0].seconds;
    assert!(first.iter().all(|second| second.edge >= second.refused && second.free <= UNITS));
    assert!(first.iter().zip(&first[1..]).all(|(before, after)| before.admitted <= after.admitted));
    assert!(first.iter().filter(|second| second.at_s < 0).all(|second| second.admitted == 0 && second.free == UNITS));
    assert!(runs[1].seconds.is_empty());
}

/// The same seed gives the same opening.
#[test]
fn a_run_can_be_repeated() {
    let once = || serde_json::to_string(&runs(&scenario())).unwrap();
    assert_eq!(once(), once());
}

#[test]
fn first_come_first_served_is_seen_in_every_figure() {
    for run in runs(&Scenario { places: Places::FirstCome, ..scenario() }) {
        let fairness = &run.fairness;
        assert!(fairness.correlation > 0.999 && fairness.correlation_sigmas > 50.0, "{fairness:?}");
        assert!(fairness.decile_sigmas > 10.0 && fairness.winners_by_decile[0] > 0.9, "{fairness:?}");
    }
}

/// Beyond the functions' capacity requests are refused and retried: it takes longer, and nothing is lost.
#[test]
fn what_is_refused_comes_again() {
    let tight = Scenario { functions_per_s: 60.0, ..scenario() };
    for run in runs(&tight) {
        assert!(run.refused > 100.0, "{}", run.refused);
        assert_eq!((run.paid, run.told_wrongly), (UNITS, 0));
    }
}

/// Without early people the line moves by the second of arrival.
#[test]
fn latecomers_are_served_in_the_order_of_their_seconds() {
    let late = Scenario { early_share: 0.0, admits_per_s: 20, units: 2_000, ..scenario() };
    for run in runs(&late) {
        assert!(run.admitted > 2_000, "{}", run.admitted);
        assert_eq!((run.fairness.passed_over, run.fairness.correlation), (0, 0.0));
    }
}

#[test]
fn lanes_hand_out_every_unit_wherever_people_are_at_home() {
    let mut lanes = Lanes::deal(10_001, 8);
    let mut calls = 0;
    for _ in 0..10_001 {
        assert!(lanes.reserve(3, |_| calls += 1), "refused while a unit is free");
    }
    assert!(!lanes.reserve(3, |_| {}));
    assert_eq!(lanes.free(), 0);
    assert!((7..200).contains(&lanes.transfers), "{}", lanes.transfers);
    assert_eq!(calls, 10_001 + 4 * lanes.transfers);
}

#[test]
fn correlations_are_those_of_the_textbook() {
    let places = |all: &[u64]| all.iter().map(|place| Place(*place)).collect::<Vec<_>>();
    assert!((spearman(&places(&[1, 2, 3, 4])) - 1.0).abs() < 1e-12);
    assert!((spearman(&places(&[4, 3, 2, 1])) + 1.0).abs() < 1e-12);
    // d² = 0, 1, 1, 0: 1 − 6·2/(4·15).
    assert!((spearman(&places(&[1, 3, 2, 4])) - 0.8).abs() < 1e-12);
}

#[test]
fn a_wrong_question_is_answered_in_one_line() {
    for (arguments, line) in [
        (&["--seeds", "0"][..], "--seeds: a whole number from 1 to 10,000; got \"0\""),
        (
            &["--units", "10", "--audience", "10"],
            "this sale needs no line; LINE=100 has one that admits 100 people a second",
        ),
    ] {
        let output = Command::new(env!("CARGO_BIN_EXE_simulate")).args(arguments).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stderr), format!("error: {line}\n"));
        assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0));
    }
}
