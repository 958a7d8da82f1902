use std::collections::{HashMap, HashSet};
use std::path::PathBuf;

use anyhow::{Context, Result};
use command_line::of_these;
use hdrhistogram::Histogram;
use history::{Buyers, LedgerReading, Redis};
use load::Outcome;
use sale::audit::{Audit, LedgerView, LiveOrder, StockView, audit};
use serde_json::{Value, json};
use stock::{RoundView, Stock};

use crate::cloud::Cloud;
use crate::demo::crowd::Crowd;
use crate::demo::figures::Figures;
use crate::demo::kinds::{Found, SaleUpdates, Staged};
use crate::paths;
use crate::pool::PoolCounts;
use crate::recorded::{self, RoundFacts, every_order};
use crate::stages::Stage;

/// Why the numbers of answers, of reservations and of what the history judged differ.
const WHAT_COUNTS: [&str; 2] = [
    "latency counts the answers in the rush: a second click gets the same 202 again",
    "reserved counts each reservation once; it and history also cover what came before and after the rush",
];

/// Quantiles in milliseconds, for programs and for people.
fn latency(us: &Histogram<u64>) -> (Value, String) {
    let ms = |quantile| (us.value_at_quantile(quantile) as f64 / 10.0).round() / 100.0;
    let [p50, p90, p99, max] = [0.5, 0.9, 0.99, 1.0].map(ms);
    let text = format!("{p50:>9.1} {p90:>9.1} {p99:>9.1} {max:>9.1}");
    (json!({ "p50": p50, "p90": p90, "p99": p99, "max": max }), text)
}

/// The rush, as its buyers experienced it.
fn requests(figures: &mut Figures, rush: &Outcome) {
    let (sent, errors, peak) = (rush.sent, rush.errors, rush.peak_per_s());
    let (seconds, per_second) = ((rush.took.as_secs_f64() * 10.0).round() / 10.0, rush.per_s().round());
    figures.row("the rush", format!("{sent} requests in {seconds} s, {errors} errors"));
    figures.row("requests/s", format!("{per_second}, {peak} in the busiest second"));
    figures.gap();
    figures.row("latency, ms", format!("{:>7} {:>9} {:>9} {:>9} {:>9}", "count", "p50", "p90", "p99", "max"));
    let mut by_answer = Vec::new();
    for (answer, latency_us) in rush.by_answer() {
        let (count, (latency_ms, text)) = (latency_us.len(), latency(&latency_us));
        figures.row(&format!("  {answer}"), format!("{count:>7} {text}"));
        by_answer.push(json!({ "answer": answer.to_string(), "count": count, "latency_ms": latency_ms }));
    }
    // From when a person came to the answer.
    let (latency_ms, text) = latency(&rush.latency_us);
    figures.row("  all", format!("{sent:>7} {text}"));
    figures.facts(json!({ "requests": {
        "count": sent, "errors": errors, "seconds": seconds, "per_second": per_second, "peak_per_second": peak,
        "latency_ms": latency_ms, "by_answer": by_answer,
    } }));
}

/// What became of the sale. Everything after the rush, except for `resale`, is from the ledger and Redis.
pub(super) async fn report<K: Staged>(
    crowd: &Crowd,
    rush: &Outcome,
    updates: &SaleUpdates,
    cloud: &Cloud,
) -> Result<Figures> {
    let (plan, deployment) = (&crowd.plan, &cloud.deployment);
    let stage = Stage::spinner("The audit");
    let read_at = crowd.recorder.now_ns();
    let dynamodb = aws_sdk_dynamodb::Client::new(&deployment.patient_aws_config());
    let orders = every_order(&dynamodb, &deployment.table).await?;
    let stock = Stock::new(&deployment.redis_url)?;
    let view = stock.round_in(&crowd.round, plan.lanes).view().await?.context("Redis has lost the round")?;
    let RoundView { free, reservations, .. } = view;
    let found = Found { crowd, orders: &orders, updates };
    let live_orders = found.live().map(|order| LiveOrder::from(&order.reservation)).collect();
    let ledger_view = LedgerView { guards: crowd.ledger.guards(&crowd.round).await?, live_orders };
    let audit = audit(plan.units, &StockView { free, reservations }, &ledger_view);

    // What the crate `history` says of the answers. A unit that is still held may become an order.
    let read = if audit.held == 0 { LedgerReading::AtRest(read_at) } else { LedgerReading::NotRead };
    let buyers = if plan.hold { Buyers::AndOthers } else { Buyers::Recorded };
    let (clocks, mut history) = (crowd.recorder.clocks(), crowd.recorder.take());
    let facts = RoundFacts { redis: Redis::Keeps, buyers, clocks, ledger: read };
    recorded::add_round(&mut history, &crowd.ledgers_round().await?, &orders, facts);
    let (judged, history_file) = recorded::judge(&history, "demo")?;
    let violations = judged.objections();

    let own = K::count(&found).await?;
    let promised = crowd.promised.lock();
    let ids: HashSet<String> = orders.iter().map(|order| order.reservation.id.to_string()).collect();
    // Everybody with a 202 must have an order, in whatever state.
    let unanswered = promised.accepted.keys().filter(|id| !ids.contains(*id)).count();
    let mut orders_of: HashMap<&str, usize> = HashMap::new();
    for order in found.live() {
        *orders_of.entry(order.reservation.user.as_str()).or_default() += 1;
    }
    let over_the_limit = orders_of.values().filter(|count| **count > 1).count();
    // By the clocks of Redis and of the function.
    let mut order_after_us = Histogram::<u64>::new(3)?;
    for order in orders.iter().filter(|order| order.price.is_some()) {
        let after_ms = u64::try_from(order.created_at_ms.0 - order.reservation.reserved_at_ms.0).unwrap_or_default();
        order_after_us.record(after_ms * 1000)?;
    }
    let (order_after_ms, order_after) = latency(&order_after_us);
    let functions = cloud.gateway.counts();

    let mut figures = Figures::new(audit.is_clean() && violations.is_empty());
    figures.gap();
    requests(&mut figures, rush);
    figures.row("  from 202 to the order", format!("{:>7} {order_after}", ""));
    figures.gap();
    for (name, counts) in functions.iter().filter(|(_, counts)| counts.cold_starts > 0) {
        let PoolCounts { cold_starts, deaths, resident_kb, .. } = counts;
        let starts = of_these(*cold_starts, "cold start");
        figures.row(name, format!("{starts}, {deaths} died, {} MB", resident_kb / 1024));
    }
    figures.gap();
    figures.both("reserved", "reserved (202)", promised.accepted.len());
    drop(promised);
    figures.add(own);
    figures.gap();
    let Audit { total, free, held, ordered, .. } = audit;
    let sum = format!("{free} + {held} + {ordered} = {}, of {total}", free + held + ordered);
    figures.row("free + held + ordered", sum);
    for (name, count) in [
        ("oversold", audit.oversold as usize + over_the_limit),
        ("lost", audit.lost as usize + unanswered),
        ("duplicated", audit.duplicated as usize),
    ] {
        figures.both(name, name, count);
        figures.is_right &= count == 0;
    }
    for discrepancy in &audit.discrepancies {
        figures.row(&format!("  unit {}", discrepancy.unit), discrepancy.found.join(", "));
    }
    // The first line, followed by the violations.
    figures.row("history", &judged);
    if let Some(file) = &history_file {
        figures.row("", file.display());
    }
    figures.gap();
    WHAT_COUNTS.iter().for_each(|told| figures.row("", told));
    figures.gap();
    figures.row("report", file().display());
    let operations = judged.judged.operations;
    figures.facts(json!({
        "kind": plan.kind, "units": plan.units, "buyers": plan.buyers, "order_after_ms": order_after_ms,
        "functions": functions, "audit": audit,
        "history": { "operations": operations, "violations": violations, "file": history_file },
    }));
    stage.done(if figures.is_right { "every unit is in exactly one place" } else { "NOT CLEAN" });
    Ok(figures)
}

pub(super) fn write(report: &str) -> Result<()> {
    let file = file();
    std::fs::create_dir_all(file.parent().unwrap_or(&file))?;
    std::fs::write(&file, report).with_context(|| format!("cannot write {}", file.display()))
}

fn file() -> PathBuf {
    paths::target().join("demo/report.json")
}
