//! Each limit that a sale can hit, and what would move it.

use serde::Serialize;

use crate::deployment::{BATCH, Deployment, ROUND_SHARDS, SECRETS_OF_A_PROCESS};
use crate::inputs::{Assumptions, Inputs};
use crate::load::{Load, at_the_gate, busy_at_once};
use crate::quotas as q;
use crate::setup::Setup;
use crate::totals::{SNAPSHOT_READS_PER_S, changed_round_reads_per_s, list_reads_per_s, writes_of_an_order};

/// Days to change one of our own settings, deploy it and rehearse. Warming a table counts as such a change.
pub const SETTING_LEAD_DAYS: u32 = 1;

/// Seconds after which a process reads a secret again (docs/gate.md, "What a process knows without asking").
const SECRET_LASTS_S: f64 = 60.0;

/// What can move a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Mover {
    /// AWS, on request.
    Quota,
    /// One of our settings.
    Setting,
    /// Nothing.
    Nothing,
}

/// One limit.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Check {
    /// A stable name.
    pub name: &'static str,
    /// What is counted.
    pub unit: &'static str,
    /// How much the sale needs.
    pub need: f64,
    /// How much there is.
    pub have: f64,
    /// The most that could be had.
    pub most: f64,
    /// What would move it.
    pub mover: Mover,
    /// What to do about it, or why nothing can be done.
    pub how: &'static str,
    /// The source of the limit.
    pub source: &'static str,
}

impl Check {
    /// Whether the sale fits now.
    pub fn holds(&self) -> bool {
        self.need <= self.have
    }

    /// Whether it could fit.
    pub fn can_hold(&self) -> bool {
        self.holds() || (self.mover != Mover::Nothing && self.need <= self.most)
    }

    /// Days until it fits; 0 if it fits now.
    pub fn lead_days(&self, assumed: &Assumptions) -> u32 {
        match self.mover {
            _ if self.holds() => 0,
            Mover::Quota => assumed.quota_lead_days,
            Mover::Setting | Mover::Nothing => SETTING_LEAD_DAYS,
        }
    }
}

/// Every limit of a sale on this deployment.
pub fn checks(inputs: &Inputs, assumed: &Assumptions, on: &Deployment, setup: &Setup) -> Vec<Check> {
    let load = &Load::new(inputs, assumed, setup.line.as_ref());
    let mut all = gate(assumed, on, load);
    all.extend(behind(inputs, assumed, on, load, setup));
    all
}

/// Limits up to the functions at the gate.
fn gate(assumed: &Assumptions, on: &Deployment, load: &Load) -> Vec<Check> {
    let raised = |quota: q::Quota| quota.value * q::RAISED_AT_MOST;
    // What the bucket adds to the rate, spread over the time that it has to last.
    let bucket = |burst: f64| burst / load.fullest_s;
    let functions = at_the_gate(load);
    // The catalog's and the line's environments are already there at the opening, since people use them earlier.
    let cold = functions.iter().filter(|function| !["catalog", "line"].contains(&function.function));
    let scaling = cold.map(|function| function.environments).fold(0.0, f64::max);
    let gate_per_s = load.challenges_per_s.max(load.answers_per_s);
    let raised_gateway = raised(q::GATEWAY_REQUESTS).max(assumed.gateway_quota);
    vec![
        Check {
            name: "edge_requests",
            unit: "requests/s",
            need: load.edge_per_s,
            have: q::EDGE_REQUESTS.value,
            most: raised(q::EDGE_REQUESTS),
            mover: Mover::Quota,
            how: "ask AWS for more requests per second for the distribution",
            source: q::EDGE_REQUESTS.page,
        },
        Check {
            name: "gateway_mean",
            unit: "requests/s",
            need: load.gateway_mean_per_s,
            have: assumed.gateway_quota + bucket(q::GATEWAY_BURST.value),
            most: raised_gateway,
            mover: Mover::Quota,
            how: "ask AWS for a higher account-level throttle",
            source: q::GATEWAY_REQUESTS.page,
        },
        Check {
            name: "gateway_peak",
            unit: "requests/s",
            need: load.gateway_per_s,
            have: assumed.gateway_quota + q::GATEWAY_BURST.value,
            most: raised_gateway + q::GATEWAY_BURST.value,
            mover: Mover::Quota,
            how: "ask AWS for a higher account-level throttle",
            source: q::GATEWAY_REQUESTS.page,
        },
        Check {
            name: "throttle",
            unit: "requests/s",
            need: load.gateway_mean_per_s,
            have: on.throttle_per_s + bucket(on.throttle_burst),
            most: raised_gateway,
            mover: Mover::Setting,
            how: "raise `throttle.requestsPerSecond` in settings/prod.ts to the account's limit",
            source: "infra/cdk/settings/prod.ts",
        },
        Check {
            name: "gate_throttle_mean",
            unit: "requests/s",
            need: gate_per_s / load.peak_factor,
            have: on.gate_throttle_per_s + on.gate_throttle_burst / load.rush_s,
            most: raised_gateway,
            mover: Mover::Setting,
            how: "raise `throttle.challenges` and `throttle.tokens` in settings/prod.ts",
            source: "infra/cdk/settings/prod.ts",
        },
        Check {
            name: "gate_throttle_peak",
            unit: "requests/s",
            need: gate_per_s,
            have: on.gate_throttle_per_s + on.gate_throttle_burst,
            most: raised_gateway,
            mover: Mover::Setting,
            how: "raise `throttle.challenges` and `throttle.tokens` in settings/prod.ts",
            source: "infra/cdk/settings/prod.ts",
        },
        Check {
            name: "ticket_throttle",
            unit: "requests/s",
            need: load.tickets_per_s.max(load.late_tickets_per_s),
            have: on.ticket_throttle_per_s + on.ticket_throttle_burst,
            // The routes with throttles of their own share the gateway's total.
            most: (assumed.gateway_quota.max(on.throttle_per_s) - load.challenges_per_s - load.answers_per_s).max(0.0),
            mover: Mover::Setting,
            how: "raise `throttle.tickets` in settings/prod.ts and lower `throttle.challenges` and `throttle.tokens`: the three have to stay below the total",
            source: "infra/cdk/settings/prod.ts",
        },
        Check {
            name: "lambda_concurrency",
            unit: "environments",
            need: busy_at_once(load) + f64::from(on.order_concurrency.max(on.reserved_concurrency)),
            have: assumed.lambda_quota,
            most: q::LAMBDA_CONCURRENCY_MOST.value.max(assumed.lambda_quota),
            mover: Mover::Quota,
            how: "ask AWS for more concurrent executions",
            source: q::LAMBDA_CONCURRENCY.page,
        },
        Check {
            name: "lambda_scaling",
            unit: "environments in 10 s",
            need: scaling,
            have: q::LAMBDA_SCALING_PER_10_S.value,
            most: q::LAMBDA_CONCURRENCY_MOST.value.max(assumed.lambda_quota),
            mover: Mover::Setting,
            how: "provision that many for the opening: add `provisioned: [{ from, to, count }]` to infra/cdk/deployments/NAME.ts and deploy",
            source: q::LAMBDA_SCALING_PER_10_S.page,
        },
    ]
}

/// Limits behind the functions.
fn behind(inputs: &Inputs, assumed: &Assumptions, on: &Deployment, load: &Load, setup: &Setup) -> Vec<Check> {
    let units = f64::from(inputs.units);
    let orders_per_s = units / assumed.payment_window_s;
    let consumers = (orders_per_s * q::ORDER_BATCH_S / BATCH).ceil();
    let gib = q::REDIS_BYTES_EACH * (inputs.audience as f64 + units) / f64::from(1 << 30);
    let starting = load.processes.min(q::LAMBDA_SCALING_PER_10_S.value) / 10.0;
    let started = starting + load.processes / SECRET_LASTS_S;
    vec![
        Check {
            name: "redis_scripts",
            unit: "scripts/s",
            need: load.scripts_on(setup.lanes),
            have: load.room_for_scripts(setup.lanes, on.shards),
            most: load.room_for_scripts(setup.lanes, setup.lanes),
            mover: Mover::Setting,
            how: "give each lane its own shard (`shards` in infra/cdk/deployments/NAME.ts); a sale has at most 16 lanes",
            source: "tools/planner/src/quotas.rs, SCRIPTS_PER_S_PER_SHARD: not measured on ElastiCache",
        },
        Check {
            name: "redis_tickets",
            unit: "scripts/s",
            need: if setup.line.is_some() { load.scripts_of_line_shard(setup.lanes) } else { 0.0 },
            have: q::SCRIPTS_PER_S_PER_SHARD,
            most: q::SCRIPTS_PER_S_PER_SHARD,
            mover: Mover::Nothing,
            how: "one shard keeps all tickets, however many lanes there are",
            source: "tools/planner/src/quotas.rs, SCRIPTS_PER_S_PER_SHARD: not measured on ElastiCache",
        },
        Check {
            name: "redis_connections",
            unit: "connections",
            need: load.processes + f64::from(on.order_concurrency),
            have: q::REDIS_CONNECTIONS.value,
            most: q::REDIS_CONNECTIONS.value,
            mover: Mover::Nothing,
            how: "each environment keeps one connection to each primary",
            source: q::REDIS_CONNECTIONS.page,
        },
        Check {
            name: "redis_memory",
            unit: "GiB",
            need: gib,
            have: on.node_memory_gib * q::REDIS_USABLE,
            // cache.r7g.16xlarge
            most: 419.09 * q::REDIS_USABLE,
            mover: Mover::Setting,
            how: "choose a larger `nodeType` in settings/prod.ts",
            source: "ElastiCache: supported node types",
        },
        Check {
            name: "order_consumers",
            unit: "batches at once",
            need: consumers,
            have: f64::from(on.order_concurrency),
            most: q::QUEUE_CONSUMERS_MOST.value,
            mover: Mover::Setting,
            how: "raise `orderConcurrency` in settings/prod.ts",
            source: q::QUEUE_CONSUMERS_MOST.page,
        },
        Check {
            name: "table_writes",
            unit: "write units/s",
            need: orders_per_s * writes_of_an_order(assumed),
            have: assumed.table_warm_writes,
            most: q::TABLE_WRITES_MOST.value.max(assumed.table_warm_writes),
            mover: Mover::Setting,
            how: "warm the table and its indexes (`aws dynamodb update-table --warm-throughput`) a day ahead",
            source: q::TABLE_WARM_WRITES.page,
        },
        Check {
            name: "index_writes",
            unit: "write units/s",
            need: orders_per_s,
            have: ROUND_SHARDS * q::PARTITION_WRITES.value,
            most: ROUND_SHARDS * q::PARTITION_WRITES.value,
            mover: Mover::Nothing,
            how: "the index spreads a round's guards over sixteen partitions",
            source: q::PARTITION_WRITES.page,
        },
        Check {
            name: "queue_in_flight",
            unit: "messages",
            need: consumers.max(f64::from(on.order_concurrency)) * BATCH,
            have: q::QUEUE_IN_FLIGHT.value,
            most: q::QUEUE_IN_FLIGHT.value,
            mover: Mover::Nothing,
            how: "a standard queue allows no more messages in flight",
            source: q::QUEUE_IN_FLIGHT.page,
        },
        Check {
            name: "snapshot_reads",
            unit: "read units/s",
            need: load.processes * SNAPSHOT_READS_PER_S,
            have: q::PARTITION_READS.value,
            most: q::PARTITION_READS.value,
            mover: Mover::Nothing,
            how: "each process reads two items every two seconds: the kill switches, and the last changes of sales; the system cannot keep several copies of them yet",
            source: q::PARTITION_READS.page,
        },
        Check {
            name: "list_reads",
            unit: "read units/s",
            need: list_reads_per_s(load.processes, starting, assumed.published_sales),
            have: q::PARTITION_READS.value,
            most: q::PARTITION_READS.value,
            mover: Mover::Nothing,
            how: "each process lists the published sales when it starts; publish fewer at the same time",
            source: q::PARTITION_READS.page,
        },
        Check {
            name: "changed_round_reads",
            unit: "read units/s",
            need: changed_round_reads_per_s(load.processes, assumed.round_kb),
            have: q::PARTITION_READS.value,
            most: q::PARTITION_READS.value,
            mover: Mover::Nothing,
            how: "each process reads the sale again within two seconds after it was changed; use shorter texts, or leave it alone during the rush",
            source: q::PARTITION_READS.page,
        },
        Check {
            name: "secret_reads",
            unit: "secrets/s",
            need: started * SECRETS_OF_A_PROCESS,
            have: q::SECRET_READS.value,
            most: q::SECRET_READS.value,
            mover: Mover::Nothing,
            how: "each process reads its secrets when it starts and then every minute",
            source: q::SECRET_READS.page,
        },
        Check {
            name: "audited_orders",
            unit: "orders per round",
            need: units,
            have: q::AUDITED_ORDERS,
            most: q::AUDITED_ORDERS,
            mover: Mover::Nothing,
            how: "one reconciliation run reads every reservation of a round; split the units over several sales",
            source: "docs/reasons.md, \"Deliberately absent\"",
        },
    ]
}
