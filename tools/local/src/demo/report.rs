use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt;
use std::path::PathBuf;

use anyhow::{Context, Result};
use command_line::of_these;
use hdrhistogram::Histogram;
use history::{Buyers, LedgerReading, Redis};
use ledger::Ledger;
use load::Outcome;
use sale::Order;
use sale::audit::{Audit, LedgerView, LiveOrder, StockView, audit};
use serde::Serialize;
use stock::{RoundView, Stock};

use crate::cloud::Cloud;
use crate::demo::crowd::Crowd;
use crate::demo::kinds::{Found, SaleUpdates, Staged};
use crate::demo::plan::{Kind, Plan};
use crate::demo::text::row;
use crate::paths;
use crate::pool::PoolCounts;
use crate::recorded::{self, RoundFacts, every_order};
use crate::stages::Stage;

/// Why the numbers of answers, of reservations and of what the history judged differ.
const WHAT_COUNTS: [&str; 2] = [
    "latency counts the answers in the rush: a second click gets the same 202 again",
    "reserved counts each reservation once; it and history also cover what came before and after the rush",
];

/// The result of the sale. Everything after `requests`, except for `resale`, comes from the ledger and Redis.
#[derive(Debug, Serialize)]
pub(super) struct Report<K> {
    kind: Kind,
    units: u32,
    buyers: u32,
    requests: Requests,
    /// From a unit's reservation to its order, by the clocks of Redis and of the function.
    order_after_ms: Latency,
    functions: BTreeMap<String, PoolCounts>,
    /// Reservations that were answered with 202.
    reserved: usize,
    /// The part that only this kind has.
    #[serde(flatten)]
    own: K,
    audit: Audit,
    oversold: usize,
    lost: usize,
    duplicated: usize,
    history: Told,
}

/// The history of requests and answers, as judged by the crate `history`.
#[derive(Debug, Serialize)]
struct Told {
    operations: usize,
    /// Answers that no correct system can have given, and operations that were not checked.
    violations: Vec<String>,
    /// The first line, followed by the violations.
    #[serde(skip)]
    text: String,
    /// The file with it, if it does not pass.
    file: Option<PathBuf>,
}

/// The rush, as its buyers experienced it.
#[derive(Debug, Serialize)]
struct Requests {
    count: u64,
    errors: u64,
    seconds: f64,
    per_second: f64,
    peak_per_second: u64,
    /// From when a person came to the answer.
    latency_ms: Latency,
    by_answer: Vec<ByAnswer>,
}

#[derive(Debug, Serialize)]
struct ByAnswer {
    answer: String,
    count: u64,
    latency_ms: Latency,
}

#[derive(Debug, Serialize)]
struct Latency {
    p50: f64,
    p90: f64,
    p99: f64,
    max: f64,
}

impl Latency {
    /// From a histogram of microseconds.
    fn of(us: &Histogram<u64>) -> Self {
        let ms = |quantile| (us.value_at_quantile(quantile) as f64 / 10.0).round() / 100.0;
        Self { p50: ms(0.5), p90: ms(0.9), p99: ms(0.99), max: ms(1.0) }
    }
}

impl fmt::Display for Latency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { p50, p90, p99, max } = self;
        write!(f, "{p50:>9.1} {p90:>9.1} {p99:>9.1} {max:>9.1}")
    }
}

impl Requests {
    fn of(outcome: &Outcome) -> Self {
        let by_answer = outcome.by_answer().into_iter().map(|(answer, latency_us)| ByAnswer {
            answer: answer.to_string(),
            count: latency_us.len(),
            latency_ms: Latency::of(&latency_us),
        });
        Self {
            count: outcome.sent,
            errors: outcome.errors,
            seconds: (outcome.took.as_secs_f64() * 10.0).round() / 10.0,
            per_second: outcome.per_s().round(),
            peak_per_second: outcome.peak_per_s(),
            latency_ms: Latency::of(&outcome.latency_us),
            by_answer: by_answer.collect(),
        }
    }
}

impl<K: Staged> Report<K> {
    pub(super) async fn make(
        plan: &Plan,
        crowd: &Crowd,
        rush: &Outcome,
        updates: &SaleUpdates,
        cloud: &Cloud,
    ) -> Result<Self> {
        let deployment = &cloud.deployment;
        let stage = Stage::spinner("The audit");
        let read_at = crowd.recorder.now_ns();
        let dynamodb = aws_sdk_dynamodb::Client::new(&deployment.patient_aws_config());
        let orders = every_order(&dynamodb, &deployment.table).await?;
        let ledger = deployment.ledger();
        let stock = Stock::new(&deployment.redis_url)?;
        let view = stock.round_in(&crowd.round, crowd.lanes).view().await?.context("Redis has lost the round")?;
        let RoundView { free, reservations, .. } = view;
        let found = Found { plan, crowd, ledger: &ledger, orders: &orders, updates };
        let live_orders = found.live().map(|order| LiveOrder::from(&order.reservation)).collect();
        let ledger_view = LedgerView { guards: ledger.guards(&crowd.round).await?, live_orders };
        let audit = audit(plan.units, &StockView { free, reservations }, &ledger_view);

        // A unit that is still held may become an order.
        let read = if audit.held == 0 { LedgerReading::AtRest(read_at) } else { LedgerReading::NotRead };
        let history = told(plan, crowd, &ledger, &orders, read).await?;

        let own = K::of(&found).await?;
        let promised = crowd.promised();
        let ids: HashSet<String> = orders.iter().map(|order| order.reservation.id.to_string()).collect();
        // Everybody with a 202 must have an order, in whatever state.
        let unanswered = promised.accepted.keys().filter(|id| !ids.contains(*id)).count();
        let mut orders_of: HashMap<&str, usize> = HashMap::new();
        for order in found.live() {
            *orders_of.entry(order.reservation.user.as_str()).or_default() += 1;
        }
        let over_the_limit = orders_of.values().filter(|count| **count > 1).count();
        let mut order_after_us = Histogram::<u64>::new(3)?;
        for order in orders.iter().filter(|order| order.price.is_some()) {
            let after_ms =
                u64::try_from(order.created_at_ms.0 - order.reservation.reserved_at_ms.0).unwrap_or_default();
            order_after_us.record(after_ms * 1000)?;
        }
        let report = Self {
            kind: plan.kind,
            units: plan.units,
            buyers: plan.buyers,
            requests: Requests::of(rush),
            order_after_ms: Latency::of(&order_after_us),
            functions: cloud.gateway.counts(),
            reserved: promised.accepted.len(),
            own,
            oversold: audit.oversold as usize + over_the_limit,
            lost: audit.lost as usize + unanswered,
            duplicated: audit.duplicated as usize,
            history,
            audit,
        };
        drop(promised);
        stage.done(if report.is_clean() { "every unit is in exactly one place" } else { "NOT CLEAN" });
        Ok(report)
    }

    /// Whether nothing was oversold, lost or duplicated, and the kind's own checks pass.
    pub(super) fn is_clean(&self) -> bool {
        let is_consistent = self.history.violations.is_empty();
        let all_there = self.oversold == 0 && self.lost == 0 && self.duplicated == 0;
        self.own.is_right() && self.audit.is_clean() && all_there && is_consistent
    }

    pub(super) fn to_json(&self) -> Result<String> {
        Ok(serde_json::to_string_pretty(self)?)
    }

    /// Writes `target/demo/report.json`.
    pub(super) fn write(&self) -> Result<()> {
        let file = file();
        std::fs::create_dir_all(file.parent().unwrap_or(&file))?;
        std::fs::write(&file, self.to_json()?).with_context(|| format!("cannot write {}", file.display()))
    }
}

fn file() -> PathBuf {
    paths::target().join("demo/report.json")
}

/// Judges the history together with the ledger.
async fn told(plan: &Plan, crowd: &Crowd, ledger: &Ledger, orders: &[Order], read: LedgerReading) -> Result<Told> {
    let round = ledger.round(&crowd.round).await?.context("the ledger has lost the round")?;
    let buyers = if plan.hold { Buyers::AndOthers } else { Buyers::Recorded };
    let clocks = crowd.recorder.clocks();
    let mut history = crowd.recorder.take();
    recorded::add_round(&mut history, &round, orders, RoundFacts { redis: Redis::Keeps, buyers, clocks, ledger: read });
    let (report, file) = recorded::judge(&history, "demo")?;
    let (operations, violations) = (report.judged.operations, report.objections());
    Ok(Told { operations, violations, text: report.to_string(), file })
}

impl<K: Staged> fmt::Display for Report<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { requests, audit, .. } = self;
        row!(f)?;
        row!(f, "the rush", "{} requests in {} s, {} errors", requests.count, requests.seconds, requests.errors)?;
        row!(f, "requests/s", "{}, {} in the busiest second", requests.per_second, requests.peak_per_second)?;
        row!(f)?;
        row!(f, "latency, ms", "{:>7} {:>9} {:>9} {:>9} {:>9}", "count", "p50", "p90", "p99", "max")?;
        for ByAnswer { answer, count, latency_ms } in &requests.by_answer {
            row!(f, format!("  {answer}"), "{count:>7} {latency_ms}")?;
        }
        row!(f, "  all", "{:>7} {}", requests.count, requests.latency_ms)?;
        row!(f, "  from 202 to the order", "{:>7} {}", "", self.order_after_ms)?;
        row!(f)?;
        for (name, counts) in self.functions.iter().filter(|(_, counts)| counts.cold_starts > 0) {
            let PoolCounts { cold_starts, deaths, resident_kb, .. } = counts;
            row!(f, name, "{}, {deaths} died, {} MB", of_these(*cold_starts, "cold start"), resident_kb / 1024)?;
        }
        row!(f)?;
        row!(f, "reserved (202)", self.reserved)?;
        write!(f, "{}", self.own)?;
        row!(f)?;
        let Audit { total, free, held, ordered, .. } = audit;
        row!(f, "free + held + ordered", "{free} + {held} + {ordered} = {}, of {total}", free + held + ordered)?;
        row!(f, "oversold", self.oversold)?;
        row!(f, "lost", self.lost)?;
        row!(f, "duplicated", self.duplicated)?;
        for discrepancy in &audit.discrepancies {
            row!(f, format!("  unit {}", discrepancy.unit), discrepancy.found.join(", "))?;
        }
        row!(f, "history", self.history.text)?;
        if let Some(file) = &self.history.file {
            row!(f, "", file.display())?;
        }
        row!(f)?;
        for told in WHAT_COUNTS {
            row!(f, "", told)?;
        }
        row!(f)?;
        row!(f, "report", file().display())
    }
}
