//! What `infra/cdk` deploys. Tests hold these to its templates.

use serde::Serialize;

/// A deployment, as its settings say.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Deployment {
    /// Which settings.
    pub name: &'static str,
    /// ElastiCache's node type.
    pub node_type: &'static str,
    /// Memory of such a node in GiB (ElastiCache, "Supported node types").
    pub node_memory_gib: f64,
    /// Shards of the cluster.
    pub shards: u32,
    /// Replicas of each.
    pub replicas: u32,
    /// A write is in the log of several zones before it is answered.
    pub sync: bool,
    /// Write units a second that the table takes at once.
    pub table_warm_writes: f64,
    /// Order consumers at once.
    pub order_concurrency: u32,
    /// Concurrent executions that the crowd cannot take, those of order consumers among them.
    pub reserved_concurrency: u32,
    /// Requests a second that the gateway lets in.
    pub throttle_per_s: f64,
    /// Beyond that, at once.
    pub throttle_burst: f64,
    /// The same of challenges, and of tokens.
    pub gate_throttle_per_s: f64,
    /// The same of challenges, and of tokens.
    pub gate_throttle_burst: f64,
    /// The same of tickets.
    pub ticket_throttle_per_s: f64,
    /// The same of tickets.
    pub ticket_throttle_burst: f64,
    /// CloudFront and the page.
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
    reserved_concurrency: 165,
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

/// `prod` with four shards, for a sale that uses lanes, behind a name of its own: `edge` of `infra/cdk/bin/examples.ts`.
pub const LANES: Deployment = Deployment { name: "lanes", shards: 4, ..PROD };

/// Memory of a function in GB.
pub const FUNCTION_GB: f64 = 0.25;
/// Messages of a batch.
pub const BATCH: f64 = 10.0;
/// Metrics of our own while nobody comes: reconciliation's, those of draws, and cold starts.
pub const METRICS: u32 = 11;
/// Part of the requests whose trace is recorded (AWS Lambda, "Visualize Lambda function invocations using AWS X-Ray").
pub const TRACED: f64 = 0.05;
/// Functions that can have processes waiting for an opening (`IN_FRONT` in `infra/cdk/lib/functions.ts`).
pub const PROVISIONED_FUNCTIONS: f64 = 2.0;
/// Seconds for which these wait, from before the opening until after the crowd: what is assumed for their cost.
pub const PROVISIONED_S: f64 = 1_800.0;
/// Secrets that a process in front reads when it starts and then each minute: the keys of passes, the stock's user, the edge's key.
pub const SECRETS_OF_A_PROCESS: f64 = 3.0;
/// Bytes of the line's document.
pub const LINE_DOCUMENT_BYTES: f64 = 900.0;
/// Partitions of a round's index of guards (`ROUND_SHARDS` in `shared/ledger`).
pub const ROUND_SHARDS: f64 = 16.0;
/// Seconds before the opening from which a round is loaded (README.md).
pub const LOADED_BEFORE_S: i64 = 600;

/// Write units of the transaction that places an order: order, unit guard, slot guard, twice each for the transaction.
pub const WRITES_OF_AN_ORDER: f64 = 6.0;
/// Write units more for each campaign whose limit the order counts in: one more item of the transaction, also when it ends unpaid.
pub const WRITES_OF_A_CAMPAIGN_LIMIT: f64 = 2.0;
/// Write units of the indexes for it: `orders_by_user`, `pending_by_pay_by`, `guards_by_round`, `orders_by_round`,
/// `orders_by_time`.
pub const INDEX_WRITES_OF_AN_ORDER: f64 = 5.0;
/// Write units of a payment: a transaction of the order and the payment, the order's place in one index and its leaving
/// another.
pub const WRITES_OF_A_PAYMENT: f64 = 6.0;
/// Write units of an expiry: a transaction of three, and four indexes.
pub const WRITES_OF_AN_EXPIRY: f64 = 10.0;

/// Files that a page loads at first: itself, its script, style, words and typeface, `config.json`, and a picture
/// (`planner/tests/page.json`).
pub const PAGE_FILES: f64 = 7.0;
/// Bytes of these files.
pub const PAGE_BYTES: f64 = 50_000.0;
/// Bytes of an answer of the API with its headers.
pub const ANSWER_BYTES: f64 = 1_000.0;
/// Bytes of a challenge: a picture.
pub const CHALLENGE_BYTES: f64 = 6_000.0;
/// Bytes of log for a request: the gateway's line, and the function's own and Lambda's three.
pub const LOG_BYTES: f64 = 900.0;
