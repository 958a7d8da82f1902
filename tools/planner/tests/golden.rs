//! Two plans as they are printed, one without its cost, and how two refusals begin. `GOLDEN=write cargo test -p planner`
//! rewrites the files.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::path::Path;

use planner::cli::run;
use serde_json::Value;

const NOW: &str = "2026-11-21T12:00:00Z";
const OPENS_AT: &str = "2026-12-24T18:00:00+01:00";

fn planned(units: u32, audience: u64, more: &[&str]) -> (String, u8) {
    let numbers = [units.to_string(), audience.to_string()];
    let fixed = ["planner", "plan", "--units", &numbers[0], "--audience", &numbers[1], "--now", NOW];
    let args = fixed.into_iter().chain(["--opens-at", OPENS_AT]).chain(more.iter().copied());
    let answer = run(args.map(OsString::from)).unwrap();
    (answer.text, answer.status)
}

fn same_as(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    if std::env::var_os("GOLDEN").is_some_and(|value| value == "write") {
        fs::write(&path, text).unwrap();
    }
    assert_eq!(text, fs::read_to_string(&path).unwrap(), "{name}");
}

#[test]
fn a_small_sale_holds_as_things_are() {
    let (text, status) = planned(100, 10_000, &[]);
    // Its cost has the same lines as that of the sale with a line, and docs/planning.md has the sum.
    let (plan, _) = text.split_once("\ncost of the sale, USD\n").unwrap();
    same_as("100-units-10000-people.txt", plan);
    assert_eq!(status, 0);
}

/// Their figures are made as those of the plans that hold.
#[test]
fn a_refusal_begins_with_reasons_and_what_would_hold() {
    for (name, units, audience, more) in [
        ("10000-units-1000000-people-no-line.txt", 10_000, 1_000_000, &["--line", "no"][..]),
        ("1000000-units-100000000-people.txt", 1_000_000, 100_000_000, &[]),
    ] {
        let (text, status) = planned(units, audience, more);
        let (refusal, figures) = text.split_once("\nthe busiest second\n").unwrap();
        same_as(name, refusal);
        assert!(status == 2 && figures.contains("  <\n"), "{text}");
    }
}

#[test]
fn a_million_people_hold_with_a_line_on_default_quotas() {
    let (text, status) = planned(10_000, 1_000_000, &[]);
    same_as("10000-units-1000000-people.txt", &text);
    assert_eq!(status, 0);
}

#[test]
fn json_has_its_fields() {
    let (text, status) = planned(10_000, 1_000_000, &["--json"]);
    let plan: Value = serde_json::from_str(&text).unwrap();
    assert_eq!((status, plan["schema"].as_u64(), plan["verdict"].as_str()), (0, Some(2), Some("holds")));
    let fields: BTreeSet<&str> = plan.as_object().unwrap().keys().map(String::as_str).collect();
    let expected = "schema verdict inputs assumptions setup line load functions drain_s checks to_do reasons \
                    alternatives notes cost cost_usd idle_month_usd prices_taken prices_unseen";
    assert_eq!(fields, expected.split_whitespace().collect());
    assert_eq!(plan["inputs"]["opens_at"], "2026-12-24T17:00:00Z");
    let check = &plan["checks"][0];
    for field in ["name", "unit", "need", "have", "most", "mover", "how", "source"] {
        assert!(!check[field].is_null(), "{field}");
    }
}
