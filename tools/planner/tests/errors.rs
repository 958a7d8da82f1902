//! A mistake is answered with one line that says what is wrong and what would be right.

use std::process::{Command, Output, Stdio};

use planner::cli::run;

/// Arguments, environment, and the error line.
type Case = (&'static [&'static str], &'static [(&'static str, &'static str)], String);

const VARIABLES: [&str; 8] = ["UNITS", "AUDIENCE", "OPENS_AT", "REGION", "JSON", "LANES", "LINE", "LINE_EARLY_S"];

fn planner(arguments: &[&str], environment: &[(&str, &str)]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_planner"));
    for name in VARIABLES {
        command.env_remove(name);
    }
    command.args(arguments).env("RUST_BACKTRACE", "full").envs(environment.iter().copied()).output().unwrap()
}

#[test]
fn a_wrong_question_is_answered_in_one_line() {
    let units = "a whole number from 1 to 10,000,000; got";
    let people = "AUDIENCE: a whole number from 1 to 1,000,000,000; got";
    let zone = "OPENS_AT: a moment with its zone, such as 2026-12-24T18:00:00+01:00; got";
    let regions = "one of ap-northeast-1, ap-southeast-1, eu-central-1, us-east-1; got \"mars-1\"";
    const NOW: &[&str] = &["plan", "--now", "2026-11-21T12:00:00Z"];
    let line = "LINE: auto, no, or a whole number of people a second from 1 to 1,000,000; got";
    let cases: [Case; 18] = [
        (&["plan"], &[("UNITS", "-1")], format!("UNITS: {units} \"-1\"")),
        (&["plan", "--units", "10000001"], &[("UNITS", "1")], format!("--units: {units} \"10000001\"")),
        (&["plan"], &[("AUDIENCE", "0")], format!("{people} \"0\"")),
        (&["plan"], &[("AUDIENCE", "1000000001")], format!("{people} \"1000000001\"")),
        (&["plan"], &[("OPENS_AT", "tomorrow")], format!("{zone} \"tomorrow\"")),
        (&["plan"], &[("OPENS_AT", "2026-12-01T00:00:00")], format!("{zone} \"2026-12-01T00:00:00\"")),
        (
            NOW,
            &[("OPENS_AT", "2026-11-21T12:00:00Z")],
            "the opening is in the past: 2026-11-21T12:00:00Z; it is now 2026-11-21T12:00:00Z".into(),
        ),
        (
            NOW,
            &[("OPENS_AT", "2029-12-01T00:00:00Z")],
            "the opening is more than two years ahead: 2029-12-01T00:00:00Z; today's prices and quotas say nothing \
             about that time"
                .into(),
        ),
        (&["plan"], &[("REGION", "mars-1")], format!("REGION: {regions}")),
        (&["idle"], &[("REGION", "mars-1")], format!("REGION: {regions}")),
        (&["idle", "--region", "mars-1"], &[], format!("--region: {regions}")),
        (&["plan", "--rush-share", "1.1"], &[], "--rush-share: 0 to 1; got \"1.1\"".into()),
        (&["plan", "--rush-s", "NaN"], &[], "--rush-s: 1 to 86400; got \"NaN\"".into()),
        (&["plan"], &[("LANES", "0")], "LANES: a whole number from 1 to 16; got \"0\"".into()),
        (&["plan"], &[("LINE", "0")], format!("{line} \"0\"")),
        (&["plan"], &[("LINE", "yes")], format!("{line} \"yes\"")),
        (&["plan"], &[("LINE_EARLY_S", "5")], "LINE_EARLY_S: a whole number from 60 to 86,400; got \"5\"".into()),
        (&["plan", "--comes-share", "0"], &[], "--comes-share: 0.01 to 1; got \"0\"".into()),
    ];
    for (arguments, environment, line) in cases {
        let Output { status, stdout, stderr } = planner(arguments, environment);
        assert_eq!(String::from_utf8_lossy(&stderr), format!("error: {line}\n"), "{arguments:?} {environment:?}");
        assert_eq!((status.code(), stdout.len()), (Some(1), 0), "{arguments:?} {environment:?}");
    }
}

#[test]
fn a_plan_without_an_opening_is_for_a_full_hour_in_a_week() {
    for (now, opens_at) in [
        ("2026-11-21T12:00:00Z", "2026-11-28T12:00:00Z"),
        ("2026-11-21T12:00:01Z", "2026-11-28T13:00:00Z"),
        ("2026-12-31T23:59:59.999+01:00", "2027-01-07T23:00:00Z"),
    ] {
        let Output { status, stdout, stderr } =
            planner(&["plan", "--now", now], &[("OPENS_AT", ""), ("UNITS", ""), ("JSON", "1")]);
        let note = format!("--opens-at is not given: planning for a week from now, {opens_at}\n");
        assert_eq!(String::from_utf8_lossy(&stderr), note);
        let plan: serde_json::Value = serde_json::from_slice(&stdout).unwrap();
        assert_eq!((&plan["inputs"]["opens_at"], &plan["inputs"]["units"]), (&opens_at.into(), &100.into()));
        assert_eq!(status.code(), Some(0), "a small sale holds in a week");
    }
}

#[test]
fn help_is_an_answer() {
    let answer = run(["planner", "plan", "--help"].map(Into::into)).unwrap();
    assert!(answer.status == 0 && answer.text.contains("--rush-share"), "{}", answer.text);
}

#[test]
fn a_reader_that_goes_away_is_no_panic() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_planner"));
    command.args(["plan"]).env("RUST_BACKTRACE", "full").stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    drop(child.stdout.take());
    let said = child.wait_with_output().unwrap().stderr;
    assert!(!String::from_utf8_lossy(&said).contains("panicked"), "{}", String::from_utf8_lossy(&said));
}
