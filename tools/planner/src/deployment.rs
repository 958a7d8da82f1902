//! The deployments of `infra/cdk`. Tests compare these with its templates.

use serde::Serialize;

/// A deployment according to its settings.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Deployment {
    /// The name of the settings.
    pub name: &'static str,
    /// ElastiCache's node type.
    pub node_type: &'static str,
    /// Memory of such a node in GiB (ElastiCache, "Supported node types").
    pub node_memory_gib: f64,
    /// Shards of the cluster.
    pub shards: u32,
    /// Replicas of each.
    pub replicas: u32,
    /// Whether Redis logs a write in several zones before it answers.
    pub sync: bool,
    /// Write units a second that the table handles from the start.
    pub table_warm_writes: f64,
    /// Concurrent order consumers.
    pub order_concurrency: u32,
    /// Concurrent executions that the crowd cannot use, including those of order consumers.
    pub reserved_concurrency: u32,
    /// Requests a second that the gateway lets through.
    pub throttle_per_s: f64,
    /// The burst beyond that.
    pub throttle_burst: f64,
    /// The rate for challenges, and for tokens.
    pub gate_throttle_per_s: f64,
    /// The burst for challenges, and for tokens.
    pub gate_throttle_burst: f64,
    /// The rate for tickets.
    pub ticket_throttle_per_s: f64,
    /// The burst for tickets.
    pub ticket_throttle_burst: f64,
    /// Whether it has CloudFront and the page.
    pub edge: bool,
}

impl Deployment {
    /// Nodes of all shards.
    pub const fn nodes(&self) -> u32 {
        self.shards * (1 + self.replicas)
    }
}

/// `infra/cdk/settings/dev.ts`
pub const DEV: Deployment = Deployment {
    name: "dev",
    node_type: "cache.t4g.micro",
    node_memory_gib: 0.5,
    shards: 1,
    replicas: 0,
    sync: false,
    table_warm_writes: 4_000.0,
    order_concurrency: 10,
    reserved_concurrency: 0,
    throttle_per_s: 500.0,
    throttle_burst: 1_000.0,
    gate_throttle_per_s: 200.0,
    gate_throttle_burst: 400.0,
    ticket_throttle_per_s: 50.0,
    ticket_throttle_burst: 100.0,
    edge: true,
};

/// `infra/cdk/settings/prod.ts`
pub const PROD: Deployment = Deployment {
    name: "prod",
    node_type: "cache.r7g.large",
    node_memory_gib: 13.07,
    shards: 1,
    replicas: 1,
    sync: true,
    table_warm_writes: 10_000.0,
    order_concurrency: 50,
    reserved_concurrency: 167,
    throttle_per_s: 10_000.0,
    throttle_burst: 5_000.0,
    gate_throttle_per_s: 4_000.0,
    gate_throttle_burst: 2_000.0,
    ticket_throttle_per_s: 1_000.0,
    ticket_throttle_burst: 500.0,
    edge: true,
};

/// `infra/cdk/settings/parked.ts`: `prod` between sales.
pub const PARKED: Deployment = Deployment {
    name: "parked",
    node_type: DEV.node_type,
    node_memory_gib: DEV.node_memory_gib,
    replicas: 0,
    sync: false,
    ..PROD
};

/// `prod` with four shards, for a sale with lanes, with its own domain name: `edge` of `infra/cdk/bin/examples.ts`.
pub const LANES: Deployment = Deployment { name: "lanes", shards: 4, ..PROD };

/// Memory of a function in GB.
pub const FUNCTION_GB: f64 = 0.25;
/// Messages in a batch.
pub const BATCH: f64 = 10.0;
/// Our own metrics while idle: reconciliation's, those of draws, and cold starts.
pub const METRICS: u32 = 11;
/// The fraction of requests that is traced (AWS Lambda, "Visualize Lambda function invocations using AWS X-Ray").
pub const TRACED: f64 = 0.05;
/// Functions that can have provisioned processes for an opening (`IN_FRONT` in `infra/cdk/lib/functions.ts`).
pub const PROVISIONED_FUNCTIONS: f64 = 2.0;
/// How long these are provisioned, in seconds, from before the opening until after the crowd, as assumed for their
/// cost.
pub const PROVISIONED_S: f64 = 1_800.0;
/// Secrets that a process at the gate reads when it starts and then each minute: the pass keys, the stock's user, the
/// edge's key.
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
