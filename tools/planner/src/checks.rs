//! Each limit that a sale can hit, and what would move it.

use serde::Serialize;

use crate::deployment::{PROD, ROUND_SHARDS, SECRETS_OF_A_PROCESS};
use crate::inputs::{Assumptions, Inputs, Setup};
use crate::load::{Load, at_the_gate, busy_at_once};
use crate::quotas as q;
use crate::totals::{SNAPSHOT_READS_PER_S, changed_round_reads_per_s, list_reads_per_s, writes_of_an_order};

/// Days to change one of our own settings, deploy it and rehearse. Warming a table counts as such a change.
pub const SETTING_LEAD_DAYS: u32 = 1;

/// Seconds after which a process reads a secret again (docs/gate.md, "What a process knows without asking").
const SECRET_LASTS_S: f64 = 60.0;

const SETTINGS: &str = "infra/cdk/settings/prod.ts";
const SCRIPTS: &str = "tools/planner/src/quotas.rs, SCRIPTS_PER_S_PER_SHARD: not measured on ElastiCache";

/// What can move a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Mover {
    /// AWS, on request.
    Quota,
    /// One of our settings.
    Setting,
    Nothing,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Check {
    pub name: &'static str,
    pub unit: &'static str,
    pub need: f64,
    pub have: f64,
    /// The most that could be had.
    pub most: f64,
    pub mover: Mover,
    /// What to do about it, or why nothing can be done.
    pub how: &'static str,
    pub source: &'static str,
}

/// A need, of a limit that nothing moves until a method says what does.
fn need(name: &'static str, need: f64, unit: &'static str) -> Check {
    Check { name, unit, need, have: 0.0, most: 0.0, mover: Mover::Nothing, how: "", source: "" }
}

impl Check {
    fn of(self, have: f64, source: &'static str) -> Self {
        Self { have, most: have, source, ..self }
    }

    fn fixed(self, how: &'static str) -> Self {
        Self { how, ..self }
    }

    fn setting(self, most: f64, how: &'static str) -> Self {
        Self { most, mover: Mover::Setting, how, ..self }
    }

    fn quota(self, most: f64, how: &'static str) -> Self {
        Self { most, mover: Mover::Quota, how, ..self }
    }

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

/// Every limit of a sale on the production settings.
pub fn checks(inputs: &Inputs, assumed: &Assumptions, setup: &Setup) -> Vec<Check> {
    let load = &Load::new(inputs, assumed, setup.line.as_ref());
    let mut all = gate(assumed, load);
    all.extend(behind(inputs, assumed, load, setup));
    all
}

/// Limits up to the functions at the gate.
fn gate(assumed: &Assumptions, load: &Load) -> Vec<Check> {
    let on = &*PROD;
    let raised = |quota: q::Quota| quota.value * q::RAISED_AT_MOST;
    // What the bucket adds to the rate, spread over the time that it has to last.
    let bucket = |burst: f64| burst / load.fullest_s;
    let functions = at_the_gate(load);
    // The catalog's and the line's environments are already there at the opening, since people use them earlier.
    let cold = functions.iter().filter(|function| !["catalog", "line"].contains(&function.function));
    let scaling = cold.map(|function| function.environments).fold(0.0, f64::max);
    let gate_per_s = load.challenges_per_s.max(load.answers_per_s);
    let beside_tickets = load.challenges_per_s + load.answers_per_s;
    let executions_most = q::LAMBDA_CONCURRENCY_MOST.value.max(assumed.lambda_quota);
    let reserved = f64::from(on.order_concurrency.max(on.reserved_concurrency));
    let raised_gateway = raised(q::GATEWAY_REQUESTS).max(assumed.gateway_quota);
    vec![
        need("edge_requests", load.edge_per_s, "requests/s")
            .of(q::EDGE_REQUESTS.value, q::EDGE_REQUESTS.page)
            .quota(raised(q::EDGE_REQUESTS), "ask AWS for more requests per second for the distribution"),
        need("gateway_mean", load.gateway_mean_per_s, "requests/s")
            .of(assumed.gateway_quota + bucket(q::GATEWAY_BURST.value), q::GATEWAY_REQUESTS.page)
            .quota(raised_gateway, "ask AWS for a higher account-level throttle"),
        need("gateway_peak", load.gateway_per_s, "requests/s")
            .of(assumed.gateway_quota + q::GATEWAY_BURST.value, q::GATEWAY_REQUESTS.page)
            .quota(raised_gateway + q::GATEWAY_BURST.value, "ask AWS for a higher account-level throttle"),
        need("throttle", load.gateway_mean_per_s, "requests/s")
            .of(on.throttle_per_s + bucket(on.throttle_burst), SETTINGS)
            .setting(raised_gateway, "raise `throttle.requestsPerSecond` in settings/prod.ts to the account's limit"),
        need("gate_throttle_mean", gate_per_s / load.peak_factor, "requests/s")
            .of(on.gate_throttle_per_s + on.gate_throttle_burst / load.rush_s, SETTINGS)
            .setting(raised_gateway, "raise `throttle.challenges` and `throttle.tokens` in settings/prod.ts"),
        need("gate_throttle_peak", gate_per_s, "requests/s")
            .of(on.gate_throttle_per_s + on.gate_throttle_burst, SETTINGS)
            .setting(raised_gateway, "raise `throttle.challenges` and `throttle.tokens` in settings/prod.ts"),
        need("ticket_throttle", load.tickets_per_s.max(load.late_tickets_per_s), "requests/s")
            .of(on.ticket_throttle_per_s + on.ticket_throttle_burst, SETTINGS)
            // The routes with throttles of their own share the gateway's total.
            .setting(
                (assumed.gateway_quota.max(on.throttle_per_s) - beside_tickets).max(0.0),
                "raise `throttle.tickets` in settings/prod.ts and lower `throttle.challenges` and `throttle.tokens`: \
                 the three have to stay below the total",
            ),
        need("lambda_concurrency", busy_at_once(load) + reserved, "environments")
            .of(assumed.lambda_quota, q::LAMBDA_CONCURRENCY.page)
            .quota(executions_most, "ask AWS for more concurrent executions"),
        need("lambda_scaling", scaling, "environments in 10 s")
            .of(q::LAMBDA_SCALING_PER_10_S.value, q::LAMBDA_SCALING_PER_10_S.page)
            .setting(
                executions_most,
                "provision that many for the opening: add `provisioned: [{ from, to, count }]` to \
                 infra/cdk/deployments/NAME.ts and deploy",
            ),
    ]
}

/// Limits behind the functions.
fn behind(inputs: &Inputs, assumed: &Assumptions, load: &Load, setup: &Setup) -> Vec<Check> {
    let on = &*PROD;
    let units = f64::from(inputs.units);
    let orders_per_s = units / assumed.payment_window_s;
    let consumers = (orders_per_s * q::ORDER_BATCH_S / on.batch).ceil();
    let gib = q::REDIS_BYTES_EACH * (inputs.audience as f64 + units) / f64::from(1 << 30);
    let starting = load.processes.min(q::LAMBDA_SCALING_PER_10_S.value) / 10.0;
    let started = starting + load.processes / SECRET_LASTS_S;
    let tickets = if setup.line.is_some() { load.scripts_of_line_shard(setup.lanes) } else { 0.0 };
    vec![
        need("redis_scripts", load.scripts_on(setup.lanes), "scripts/s")
            .of(load.room_for_scripts(setup.lanes, on.shards), SCRIPTS)
            .setting(
                load.room_for_scripts(setup.lanes, setup.lanes),
                "give each lane its own shard (`shards` in infra/cdk/deployments/NAME.ts); a sale has at most 16 lanes",
            ),
        need("redis_tickets", tickets, "scripts/s")
            .of(q::SCRIPTS_PER_S_PER_SHARD, SCRIPTS)
            .fixed("one shard keeps all tickets, however many lanes there are"),
        need("redis_connections", load.processes + f64::from(on.order_concurrency), "connections")
            .of(q::REDIS_CONNECTIONS.value, q::REDIS_CONNECTIONS.page)
            .fixed("each environment keeps one connection to each primary"),
        need("redis_memory", gib, "GiB")
            .of(on.node().0 * q::REDIS_USABLE, "ElastiCache: supported node types")
            // cache.r7g.16xlarge
            .setting(419.09 * q::REDIS_USABLE, "choose a larger `nodeType` in settings/prod.ts"),
        need("order_consumers", consumers, "batches at once")
            .of(f64::from(on.order_concurrency), q::QUEUE_CONSUMERS_MOST.page)
            .setting(q::QUEUE_CONSUMERS_MOST.value, "raise `orderConcurrency` in settings/prod.ts"),
        need("table_writes", orders_per_s * writes_of_an_order(assumed), "write units/s")
            .of(assumed.table_warm_writes, q::TABLE_WARM_WRITES.page)
            .setting(
                q::TABLE_WRITES_MOST.value.max(assumed.table_warm_writes),
                "warm the table and its indexes (`aws dynamodb update-table --warm-throughput`) a day ahead",
            ),
        need("index_writes", orders_per_s, "write units/s")
            .of(ROUND_SHARDS * q::PARTITION_WRITES.value, q::PARTITION_WRITES.page)
            .fixed("the index spreads a round's guards over sixteen partitions"),
        need("queue_in_flight", consumers.max(f64::from(on.order_concurrency)) * on.batch, "messages")
            .of(q::QUEUE_IN_FLIGHT.value, q::QUEUE_IN_FLIGHT.page)
            .fixed("a standard queue allows no more messages in flight"),
        need("snapshot_reads", load.processes * SNAPSHOT_READS_PER_S, "read units/s")
            .of(q::PARTITION_READS.value, q::PARTITION_READS.page)
            .fixed(
                "each process reads two items every two seconds: the kill switches, and the last changes of sales; \
                 the system cannot keep several copies of them yet",
            ),
        need("list_reads", list_reads_per_s(load.processes, starting, assumed.published_sales), "read units/s")
            .of(q::PARTITION_READS.value, q::PARTITION_READS.page)
            .fixed("each process lists the published sales when it starts; publish fewer at the same time"),
        need("changed_round_reads", changed_round_reads_per_s(load.processes, assumed.round_kb), "read units/s")
            .of(q::PARTITION_READS.value, q::PARTITION_READS.page)
            .fixed(
                "each process reads the sale again within two seconds after it was changed; use shorter texts, or \
                 leave it alone during the rush",
            ),
        need("secret_reads", started * SECRETS_OF_A_PROCESS, "secrets/s")
            .of(q::SECRET_READS.value, q::SECRET_READS.page)
            .fixed("each process reads its secrets when it starts and then every minute"),
        need("audited_orders", units, "orders per round")
            .of(q::AUDITED_ORDERS, "docs/reasons.md, \"Deliberately absent\"")
            .fixed("one reconciliation run reads every reservation of a round; split the units over several sales"),
    ]
}
