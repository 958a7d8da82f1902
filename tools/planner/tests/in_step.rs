//! The planner's assumptions about other parts of this project are still true.

use std::ffi::OsString;
use std::fs;
use std::path::Path;

use planner::cli::run;
use planner::deployment as d;
use planner::load::{POLL_EARLY_S, POLL_S, POLL_SOON_S, SOON_S};
use serde::Deserialize;
use serde_json::Value;

/// `deployed.json`: `infra/cdk/test/planner.test.ts` holds it to the templates.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Deployed {
    dev: Stack,
    prod: Stack,
    parked: Stack,
    batch: f64,
    function_mb: f64,
    provisioned_functions: f64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Stack {
    node_type: String,
    shards: u32,
    replicas: u32,
    sync: bool,
    /// None unless the settings ask for more.
    table_warm_writes: Option<f64>,
    order_concurrency: u32,
    reserved_concurrency: u32,
    throttle: Throttle,
    in_front_throttle: Throttle,
    ticket_throttle: Throttle,
    edge: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Throttle {
    per_s: f64,
    burst: f64,
}

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

/// The deployment that the templates describe. The node's memory is a figure of AWS's, so it comes from `planned`.
fn deployment(planned: d::Deployment, stack: Stack) -> d::Deployment {
    d::Deployment {
        name: planned.name,
        node_type: if stack.node_type == planned.node_type { planned.node_type } else { "another" },
        node_memory_gib: planned.node_memory_gib,
        shards: stack.shards,
        replicas: stack.replicas,
        sync: stack.sync,
        table_warm_writes: stack.table_warm_writes.unwrap_or(planner::quotas::TABLE_WARM_WRITES.value),
        order_concurrency: stack.order_concurrency,
        reserved_concurrency: stack.reserved_concurrency,
        throttle_per_s: stack.throttle.per_s,
        throttle_burst: stack.throttle.burst,
        gate_throttle_per_s: stack.in_front_throttle.per_s,
        gate_throttle_burst: stack.in_front_throttle.burst,
        ticket_throttle_per_s: stack.ticket_throttle.per_s,
        ticket_throttle_burst: stack.ticket_throttle.burst,
        edge: stack.edge,
    }
}

#[test]
fn the_deployment_is_what_is_deployed() {
    let deployed: Deployed = serde_json::from_str(include_str!("deployed.json")).unwrap();
    for (planned, stack) in [(d::DEV, deployed.dev), (d::PROD, deployed.prod), (d::PARKED, deployed.parked)] {
        assert_eq!(planned, deployment(planned, stack));
    }
    assert_eq!(
        [d::BATCH, d::FUNCTION_GB * 1024.0, d::PROVISIONED_FUNCTIONS],
        [deployed.batch, deployed.function_mb, deployed.provisioned_functions]
    );
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

/// The default assumptions.
#[derive(clap::Parser)]
struct Only {
    #[command(flatten)]
    assumed: planner::inputs::Assumptions,
}

/// The function tells pages how often to poll a line's document.
#[test]
fn the_line_is_polled_as_often_as_the_model_says() {
    let tracked = include_str!("../../../functions/waiting_room/src/tracked.rs");
    let constant = |name: &str| -> f64 {
        let said = tracked.split(&format!("const {name}: u64 = ")).nth(1).and_then(|rest| rest.split(';').next());
        said.unwrap_or_else(|| panic!("no {name}")).replace('_', "").parse().unwrap()
    };
    let Only { assumed } = <Only as clap::Parser>::parse_from(["planner"]);
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
    planner::idle::lines(on, table.of("us-east-1").unwrap()).unwrap().iter().map(|line| line.usd).sum()
}

#[test]
fn profiles_cost_no_more_than_they_are_to() {
    for (on, most) in [(d::DEV, 12.5), (d::PARKED, 70.0)] {
        let usd = idle_usd(&on);
        assert!(usd > 0.0 && usd <= most, "{}: {usd:.2}", on.name);
    }
}

/// docs/deployment.md quotes these rows word for word.
#[test]
fn the_page_on_deployment_has_what_profiles_cost() {
    let page = page("docs/deployment.md");
    for on in [d::DEV, d::PROD, d::LANES, d::PARKED] {
        let resources = planner::profiles::of(on.name).unwrap().resources;
        let row = format!("| `{}` | {resources} | {} |", on.name, planner::figures::usd(idle_usd(&on)));
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
