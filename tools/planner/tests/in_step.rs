//! The planner's assumptions about other parts of this project are still true.

use std::ffi::OsString;
use std::fs;
use std::path::Path;

use planner::cli::run;
use planner::deployment as d;
use planner::inputs::Assumptions;
use planner::load::{POLL_EARLY_S, POLL_S, POLL_SOON_S, SOON_S};
use serde::Deserialize;
use serde_json::Value;

/// `page.json`: `web/test/statics.test.js` holds it to the page.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Page {
    refresh_ms: f64,
    refresh_early_ms: f64,
    refresh_soon_ms: f64,
    early_ms: f64,
    /// How many times as long as these it waits, on average.
    spread: f64,
    files: f64,
    bytes: f64,
}

#[test]
fn the_page_polls_as_often_as_the_model_says() {
    let page: Page = serde_json::from_str(include_str!("page.json")).unwrap();
    for (ms, modelled) in
        [(page.refresh_soon_ms, POLL_SOON_S), (page.refresh_ms, POLL_S), (page.refresh_early_ms, POLL_EARLY_S)]
    {
        assert!((ms / 1_000.0 * page.spread - modelled).abs() < 1e-9, "{ms}");
    }
    assert_eq!(page.early_ms, SOON_S * 1_000.0);
    assert_eq!([page.files, page.bytes], [d::PAGE_FILES, d::PAGE_BYTES]);
}

/// The function tells pages how often to poll a line's document.
#[test]
fn the_line_is_polled_as_often_as_the_model_says() {
    let tracked = include_str!("../../../functions/waiting_room/src/tracked.rs");
    let constant = |name: &str| -> f64 {
        let said = tracked.split(&format!("const {name}: u64 = ")).nth(1).and_then(|rest| rest.split(';').next());
        said.unwrap_or_else(|| panic!("no {name}")).replace('_', "").parse().unwrap()
    };
    let assumed: Assumptions = clap::Parser::parse_from(["planner"]);
    assert_eq!(constant("POLL_MOVING_MS") / 1_000.0, assumed.line_poll_s);
    let most = planner::quotas::EDGE_REQUESTS.value * planner::quotas::LINE_POLLS_OF_EDGE;
    assert_eq!(constant("MOST_POLLS_PER_S"), most);
}

fn json(args: &str) -> Value {
    let args = std::iter::once("planner").chain(args.split(' ')).chain(["--json"]);
    serde_json::from_str(&run(args.map(OsString::from)).unwrap().text).unwrap()
}

fn page(path: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)).unwrap()
}

/// What an idle month costs.
fn idle_usd(on: &d::Deployment) -> f64 {
    let table = planner::prices::Prices::load().unwrap();
    planner::cost::idle(on, table.of("us-east-1").unwrap()).iter().map(|line| line.usd).sum()
}

#[test]
fn profiles_cost_no_more_than_they_are_to() {
    for (name, on, most) in [("dev", &d::DEV, 12.5), ("parked", &d::PARKED, 70.0)] {
        let usd = idle_usd(on);
        assert!(usd > 0.0 && usd <= most, "{name}: {usd:.2}");
    }
}

/// docs/deployment.md quotes these rows word for word.
#[test]
fn the_page_on_deployment_has_what_profiles_cost() {
    let page = page("docs/deployment.md");
    for (name, on) in [("dev", &d::DEV), ("prod", &d::PROD), ("lanes", &d::LANES), ("parked", &d::PARKED)] {
        let row = format!("| `{name}` | {} | {} |", on.resources, planner::figures::usd(idle_usd(on)));
        assert!(page.contains(&row), "docs/deployment.md lacks {row}");
    }
}

/// docs/planning.md quotes these rows word for word.
#[test]
fn the_page_on_planning_has_what_sales_cost() {
    let bill = |bills: &Value, at: usize| {
        let lines = bills[at]["lines"].as_array().unwrap();
        planner::figures::usd(lines.iter().map(|line| line["usd"].as_f64().unwrap()).sum())
    };
    let (idle, million) = (json("idle"), json("million"));
    let mut rows = vec![
        format!("| `dev`, a month in which nobody comes | {} |", bill(&idle, 0)),
        format!("| `prod`, likewise | {} |", bill(&idle, 1)),
        format!("| `prod` while it is parked, likewise | {} |", bill(&idle, 2)),
        format!("| a million attempts (challenge, answer, reservation) | {} |", bill(&million, 0)),
        format!("| a million visits of the page, its polls of the sale included | {} |", bill(&million, 1)),
        format!("| a thousand orders | {} |", bill(&million, 2)),
    ];
    for (units, audience) in [(100, 10_000), (10_000, 1_000_000), (1_000_000, 100_000_000)] {
        let plan = json(&format!(
            "plan --units {units} --audience {audience} --now 2026-11-21T12:00:00Z --opens-at 2026-12-24T17:00:00Z"
        ));
        let count = |number| planner::figures::count(f64::from(number));
        let how = match (&plan["verdict"], &plan["setup"]["line"]) {
            (Value::String(verdict), _) if verdict == "refused" => " (refused)",
            (_, Value::Null) => "",
            _ => " (with a line)",
        };
        let usd = planner::figures::usd(plan["cost_usd"].as_f64().unwrap());
        rows.push(format!("| a sale of {} units to {} people{how} | {usd} |", count(units), count(audience)));
    }
    let page = page("docs/planning.md");
    let missing: Vec<_> = rows.iter().filter(|row| !page.contains(row.as_str())).collect();
    assert!(missing.is_empty(), "docs/planning.md, \"What it costs\", lacks\n{}", rows.join("\n"));
}
