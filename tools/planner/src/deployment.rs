//! The deployments of `infra/cdk`, and what the model assumes about the system.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;
use serde_json::Value;

/// Counted in the templates and written by `infra/cdk/test/planner.test.ts`: of each field, its value in each deployment.
const COUNTED: &str = include_str!("../profiles.json");

/// A deployment, as its templates have it.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Deployment {
    /// ElastiCache's node type.
    pub node_type: String,
    pub shards: u32,
    /// Of each shard.
    pub replicas: u32,
    /// Whether Redis logs a write in several zones before it answers.
    pub sync: bool,
    /// Write units a second that the table handles from the start, if that was raised.
    pub table_warm_writes: Option<f64>,
    /// Concurrent order consumers.
    pub order_concurrency: u32,
    /// Concurrent executions that the crowd cannot use, including those of order consumers.
    pub reserved_concurrency: u32,
    /// Requests a second that the gateway lets through.
    pub throttle_per_s: f64,
    pub throttle_burst: f64,
    /// For challenges, and for tokens.
    pub gate_throttle_per_s: f64,
    pub gate_throttle_burst: f64,
    pub ticket_throttle_per_s: f64,
    pub ticket_throttle_burst: f64,
    /// Messages in a batch.
    pub batch: f64,
    pub function_mb: f64,
    /// Functions that can have provisioned processes for an opening.
    pub provisioned_functions: f64,
    /// Resources of its stacks, which cost nothing by themselves.
    pub resources: u32,
    /// Interface endpoints, each counted in every zone.
    pub endpoints: f64,
    pub secrets: f64,
    /// Metrics that alarms use, without those of Redis.
    pub alarm_metrics: f64,
    /// The same for each node of Redis.
    pub alarm_metrics_of_a_node: f64,
    /// Whether functions publish their own metrics.
    pub metrics: bool,
    pub dashboards: f64,
    /// Functions that run every minute.
    pub schedules: f64,
    /// Memory of them all.
    pub schedules_mb: f64,
    /// Secrets that they read in every run, since a cached value would be a minute old.
    pub schedules_secrets: f64,
    /// Whether runs are traced. X-Ray traces the first request of every second, so it traces every run.
    pub traced: bool,
    /// Queues that Lambda polls.
    pub polled_queues: f64,
    pub firewalls: f64,
    pub firewall_rules: f64,
}

impl Deployment {
    pub const fn nodes(&self) -> u32 {
        self.shards * (1 + self.replicas)
    }

    /// Memory of a node in GiB, and the price of an hour. Panics if `NODES` lacks the type.
    pub fn node(&self) -> (f64, &'static str) {
        let known = NODES.iter().find(|(node_type, ..)| *node_type == self.node_type);
        let (_, gib, price) = known.unwrap_or_else(|| panic!("NODES lacks {}", self.node_type));
        (*gib, price)
    }
}

/// Node types with their memory in GiB (ElastiCache, "Supported node types").
const NODES: [(&str, f64, &str); 2] =
    [("cache.t4g.micro", 0.5, "cache_t4g_micro_hour"), ("cache.r7g.large", 13.07, "cache_r7g_large_hour")];

/// `infra/cdk/settings/dev.ts`
pub static DEV: LazyLock<Deployment> = LazyLock::new(|| counted("dev"));
/// `infra/cdk/settings/prod.ts`
pub static PROD: LazyLock<Deployment> = LazyLock::new(|| counted("prod"));
/// `infra/cdk/settings/parked.ts`: `prod` between sales.
pub static PARKED: LazyLock<Deployment> = LazyLock::new(|| counted("parked"));
/// `prod` with four shards, for a sale with lanes, with its own domain name: `edge` of `infra/cdk/bin/examples.ts`.
pub static LANES: LazyLock<Deployment> = LazyLock::new(|| counted("lanes"));

/// Panics if the file, which is a part of this build, does not have the deployment.
fn counted(name: &str) -> Deployment {
    let fields: BTreeMap<String, BTreeMap<String, Value>> = serde_json::from_str(COUNTED).expect("profiles.json");
    let of_one = fields.into_iter().map(|(field, mut of)| (field, of.remove(name).unwrap_or_default()));
    serde_json::from_value(Value::Object(of_one.collect())).expect(name)
}

pub fn function_gb() -> f64 {
    PROD.function_mb / 1_024.0
}

/// Our own metrics while idle: reconciliation's, those of draws, and cold starts.
pub const METRICS: u32 = 11;
/// The fraction of requests that is traced (AWS Lambda, "Visualize Lambda function invocations using AWS X-Ray").
pub const TRACED: f64 = 0.05;
/// Seconds for which processes are provisioned, from before the opening until after the crowd. **Assumed.**
pub const PROVISIONED_S: f64 = 1_800.0;
/// Secrets that a process at the gate reads at its start and each minute: pass keys, the stock's user, the edge's key.
pub const SECRETS_OF_A_PROCESS: f64 = 3.0;
/// The size of the line's document in bytes.
pub const LINE_DOCUMENT_BYTES: f64 = 900.0;
/// Partitions of a round's index of guards (`ROUND_SHARDS` in `shared/ledger`).
pub const ROUND_SHARDS: f64 = 16.0;
/// How many seconds before the opening a round is loaded (docs/routes.md).
pub const LOADED_BEFORE_S: i64 = 600;

/// Write units of the transaction that places an order: order, unit guard, slot guard, twice each for the transaction.
pub const WRITES_OF_AN_ORDER: f64 = 6.0;
/// Additional write units for each campaign whose limit covers the order: one more item in the transaction that places
/// it, and in the one that expires it.
pub const WRITES_OF_A_CAMPAIGN_LIMIT: f64 = 2.0;
/// Write units of the indexes for an order: `orders_by_user`, `pending_by_pay_by`, `guards_by_round`,
/// `orders_by_round`, `orders_by_time`.
pub const INDEX_WRITES_OF_AN_ORDER: f64 = 5.0;
/// Write units of a payment: a transaction of the order and the payment, and changes of two indexes.
pub const WRITES_OF_A_PAYMENT: f64 = 6.0;
/// Write units of an expiry: a transaction of three, and four indexes.
pub const WRITES_OF_AN_EXPIRY: f64 = 10.0;

/// Files that a page initially loads: itself, its script, style, words and typeface, `config.json`, and a picture
/// (`tools/planner/tests/page.json`).
pub const PAGE_FILES: f64 = 7.0;
/// Bytes of these files.
pub const PAGE_BYTES: f64 = 50_000.0;
/// Bytes of an answer of the API with its headers.
pub const ANSWER_BYTES: f64 = 1_000.0;
/// Bytes of a challenge: a picture.
pub const CHALLENGE_BYTES: f64 = 6_000.0;
/// Bytes of log for a request: the gateway's line, and the function's own and Lambda's three.
pub const LOG_BYTES: f64 = 900.0;
