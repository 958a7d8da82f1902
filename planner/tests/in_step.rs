//! What the planner takes for granted about other files of this project is what they say.

use std::ffi::OsString;
use std::fs;
use std::path::Path;

use planner::cli::run;
use planner::deployment as d;
use planner::load::{LOOK_EARLY_S, LOOK_S, LOOK_SOON_S, SOON_S};
use serde_json::Value;

fn file(path: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(path);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn says(path: &str, what: &str) {
    assert!(file(path).contains(what), "{path} no longer says `{what}`: planner/src has to follow");
}

/// 12000 as TypeScript and JavaScript write it here: 12_000.
fn grouped(number: f64) -> String {
    planner::report::count(number).replace(',', "_")
}

/// The sum of what the settings reserve for functions.
fn reserved(settings: &str) -> u32 {
    let Some((_, after)) = settings.split_once("reservedConcurrency: {") else { return 0 };
    let functions = after.split_once("functions: {").unwrap().1.split_once('}').unwrap().0;
    functions.split(',').filter_map(|each| each.split_once(':')?.1.trim().parse::<u32>().ok()).sum()
}

#[test]
fn deployments_are_the_settings() {
    for on in [d::DEV, d::PROD] {
        let path = format!("infra/cdk/settings/{}.ts", on.name);
        says(&path, &format!("nodeType: '{}'", on.node_type));
        says(&path, &format!("shards: {},\n    replicas: {},", on.shards, on.replicas));
        says(&path, &format!("durability: '{}'", if on.sync { "sync" } else { "disabled" }));
        if on.table_warm_writes == planner::quotas::TABLE_WARM_WRITES.value {
            says(&path, "table: {},");
        } else {
            says(&path, &format!("writeUnitsPerSecond: {} ", grouped(on.table_warm_writes)));
        }
        says(&path, &format!("orderConcurrency: {}", on.order_concurrency));
        assert_eq!(reserved(&file(&path)), on.reserved_concurrency, "{path}: planner/src has to follow");
        says(
            &path,
            &format!("requestsPerSecond: {},\n    burst: {}", grouped(on.throttle_per_s), grouped(on.throttle_burst)),
        );
        for door in ["challenges", "tokens"] {
            let (per_s, burst) = (grouped(on.door_throttle_per_s), grouped(on.door_throttle_burst));
            says(&path, &format!("{door}: {{ requestsPerSecond: {per_s}, burst: {burst} }}"));
        }
        says(&path, &format!("functionMemoryMb: {}", (d::FUNCTION_GB * 1024.0) as u32));
        assert_eq!(file(&path).contains("edge: {"), on.edge);
    }
}

#[test]
fn what_stands_idle_is_what_is_deployed() {
    let alarms = file("infra/cdk/lib/alarms.ts");
    let table = alarms.split("export const ALARMS = {").nth(1).unwrap().split("} as const").next().unwrap();
    let alarms = table.lines().filter(|line| line.trim_start().starts_with('\'')).count();
    assert_eq!(u32::try_from(alarms).unwrap(), d::ALARMS);
    says("infra/cdk/lib/network.ts", &format!("const ZONES = {};", d::ZONES));
    says("infra/cdk/lib/network.ts", "Object.entries({ Sqs: SQS, SecretsManager: SECRETS_MANAGER })");
    let stack = file("infra/cdk/lib/flash-sale-stack.ts");
    assert_eq!(u32::try_from(stack.matches("new EveryMinute(").count()).unwrap(), d::SCHEDULES);
    assert_eq!(u32::try_from(stack.matches(".consumeWith(").count()).unwrap(), d::POLLED_QUEUES);
    let rules = file("infra/cdk/lib/edge-stack.ts").matches("priority: ").count();
    assert_eq!(u32::try_from(rules).unwrap(), d::FIREWALL_RULES);
    says("infra/cdk/lib/functions.ts", "IN_FRONT = ['reservation', 'admission']");
    says("infra/cdk/lib/message-queue.ts", &format!("const BATCH_SIZE = {};", d::BATCH));
    says("shared/ledger/src/keys.rs", &format!("ROUND_SHARDS: u32 = {};", d::ROUND_SHARDS));
    says("shared/sale/src/sale.rs", "MAX_TOTAL: u32 = 10_000_000;");
}

#[test]
fn the_edge_keeps_a_card_for_its_second() {
    says("functions/catalog/src/caching.rs", "s-maxage=1");
    says("infra/cdk/lib/edge.ts", "cachePolicy: new cloudfront.CachePolicy(this, 'Shared'");
}

#[test]
fn the_page_looks_as_often_as_the_model_says() {
    let spread = |ms: f64| ms / 1_000.0 * 1.125;
    for (name, ms, modelled) in [
        ("REFRESH_SOON_MS", 1_500.0, LOOK_SOON_S),
        ("REFRESH_MS", 4_000.0, LOOK_S),
        ("REFRESH_EARLY_MS", 15_000.0, LOOK_EARLY_S),
    ] {
        says("web/js/views/sale.js", &format!("const {name} = {};", grouped(ms)));
        assert!((spread(ms) - modelled).abs() < 1e-9, "{name}");
    }
    says("web/js/views/sale.js", &format!("const EARLY_MS = {};", grouped(SOON_S * 1_000.0)));
    says("web/js/timing.js", "return ms * (1 + Math.random() / 4);");
    // Its modules, two of the words among them, and the page itself, its style, icon and settings.
    let modules = file("web/index.html").matches("rel=\"modulepreload\"").count();
    assert_eq!(modules as f64 + 4.0, d::PAGE_FILES);
}

fn json(args: &str) -> Value {
    let args = std::iter::once("planner").chain(args.split(' ')).chain(["--json"]);
    serde_json::from_str(&run(args.map(OsString::from)).unwrap().text).unwrap()
}

/// README.md has these lines as they are here.
#[test]
fn the_readme_has_the_planners_figures() {
    let bill = |bills: &Value, at: usize| {
        let lines = bills[at]["lines"].as_array().unwrap();
        planner::report::usd(lines.iter().map(|line| line["usd"].as_f64().unwrap()).sum())
    };
    let (idle, million) = (json("idle"), json("million"));
    let mut rows = vec![
        format!("| `dev`, a month in which nobody comes | {} |", bill(&idle, 0)),
        format!("| `prod`, likewise | {} |", bill(&idle, 1)),
        format!("| a million attempts (challenge, answer, reservation) | {} |", bill(&million, 0)),
        format!("| a million visits of the page, its looks at the sale included | {} |", bill(&million, 1)),
        format!("| a thousand orders | {} |", bill(&million, 2)),
    ];
    for (units, audience) in [(100, 10_000), (10_000, 1_000_000), (1_000_000, 100_000_000)] {
        let plan = json(&format!(
            "plan --units {units} --audience {audience} --now 2026-11-21T12:00:00Z --opens-at 2026-12-24T17:00:00Z"
        ));
        let count = |number| planner::report::count(f64::from(number));
        let refused = if plan["verdict"] == "refused" { " (refused)" } else { "" };
        let usd = planner::report::usd(plan["cost_usd"].as_f64().unwrap());
        rows.push(format!("| a sale of {} units to {} people{refused} | {usd} |", count(units), count(audience)));
    }
    let readme = file("README.md");
    let missing: Vec<_> = rows.iter().filter(|row| !readme.contains(row.as_str())).collect();
    assert!(missing.is_empty(), "README.md, \"What it costs\", lacks\n{}", rows.join("\n"));
}
