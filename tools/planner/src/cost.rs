//! What a sale and an idle month cost, line by line.

use serde::Serialize;

use crate::deployment as d;
use crate::inputs::Assumptions;
use crate::prices::Region;
use crate::quotas::OTHER_S;
use crate::totals::{Totals, polls_each};

const MILLION: f64 = 1e6;
/// Hours in a month, according to AWS's calculator.
const HOURS: f64 = 730.0;
const MINUTES: f64 = HOURS * 60.0;
/// Long polls that Lambda keeps open on a queue, and the seconds of each.
const POLLERS: f64 = 5.0;
const POLL_S: f64 = 20.0;

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Line {
    pub what: &'static str,
    pub quantity: f64,
    /// The price's name in `tools/planner/prices`.
    pub price: &'static str,
    pub usd_each: f64,
    pub usd: f64,
}

impl Line {
    /// A line with `quantity` at the price with this name.
    pub fn new(prices: &Region, what: &'static str, quantity: f64, price: &'static str) -> Self {
        let usd_each = prices.usd(price);
        Self { what, quantity, price, usd_each, usd: quantity * usd_each }
    }
}

pub fn sum(lines: &[Line]) -> f64 {
    lines.iter().map(|line| line.usd).sum()
}

/// The cost of these quantities together, beyond what the deployment costs anyway.
pub fn lines(parts: &[Totals], prices: &Region) -> Vec<Line> {
    let sum = |of: fn(&Totals) -> f64| parts.iter().map(of).sum::<f64>();
    let line = |what, quantity, price| Line::new(prices, what, quantity, price);
    let all = vec![
        line("CloudFront, requests", sum(|part| part.edge_requests) / 10_000.0, "cloudfront_10k"),
        line("CloudFront, data", sum(|part| part.edge_gb), "cloudfront_gb"),
        line("CloudFront, function", sum(|part| part.gateway_requests) / MILLION, "cloudfront_function_million"),
        line("WAF, requests", sum(|part| part.edge_requests) / MILLION, "waf_million"),
        line("API Gateway, HTTP", sum(|part| part.gateway_requests) / MILLION, "http_api_million"),
        line("API Gateway, WebSocket messages", sum(|part| part.push_messages) / MILLION, "websocket_million"),
        line("API Gateway, WebSocket minutes", sum(|part| part.push_minutes) / MILLION, "websocket_minutes_million"),
        line("Lambda, requests", sum(|part| part.invocations) / MILLION, "lambda_million"),
        line("Lambda, time", sum(|part| part.gb_s), "lambda_gb_s"),
        line("EventBridge", sum(|part| part.bus_events) / MILLION, "events_million"),
        line("SQS", sum(|part| part.queue_requests) / MILLION, "sqs_million"),
        line("DynamoDB, writes", sum(|part| part.writes) / MILLION, "dynamodb_write_million"),
        line("DynamoDB, reads", sum(|part| part.reads) / MILLION, "dynamodb_read_million"),
        line("X-Ray", sum(|part| part.invocations) * d::TRACED / MILLION, "xray_million"),
        line("CloudWatch, logs", sum(|part| part.logs_gb), "logs_gb"),
    ];
    all.into_iter().filter(|line| line.quantity > 0.0).collect()
}

/// What a deployment costs in an idle month.
pub fn idle(on: &d::Deployment, prices: &Region) -> Vec<Line> {
    let (_, node) = on.node();
    let nodes = f64::from(on.nodes());
    let synced = if on.sync { nodes } else { 0.0 };
    let runs = on.schedules * MINUTES;
    let polls = on.polled_queues * POLLERS * HOURS * 3600.0 / POLL_S;
    let metrics = if on.metrics { f64::from(d::METRICS) } else { 0.0 };
    let line = |what, quantity: f64, price| Line::new(prices, what, quantity, price);
    let all = vec![
        line("ElastiCache nodes", nodes * HOURS, node),
        line("ElastiCache durability", synced * HOURS, "cache_r7g_large_sync_hour"),
        line("interface endpoints", on.endpoints * HOURS, "endpoint_zone_hour"),
        line("secrets", on.secrets, "secret_month"),
        line("alarms", on.alarm_metrics + on.alarm_metrics_of_a_node * nodes, "alarm_metric_month"),
        line("metrics", metrics, "metric_month"),
        line("dashboard", on.dashboards, "dashboard_month"),
        line("schedules", runs / 1e6, "scheduler_million"),
        line("scheduled runs", runs / 1e6, "lambda_million"),
        line("scheduled runs, time", MINUTES * OTHER_S * on.schedules_mb / 1024.0, "lambda_gb_s"),
        line("scheduled runs, logs", runs * d::LOG_BYTES / 1e9, "logs_gb"),
        // Each run reads the sales that are not over.
        line("scheduled runs, reads", runs * 2.0 / 1e6, "dynamodb_read_million"),
        line("scheduled runs, secrets", on.schedules_secrets * MINUTES / 10_000.0, "secret_reads_10k"),
        line("scheduled runs, traces", if on.traced { runs / 1e6 } else { 0.0 }, "xray_million"),
        line("polls of empty queues", polls / 1e6, "sqs_million"),
        line("WAF", on.firewalls, "waf_acl_month"),
        line("WAF rules", on.firewall_rules, "waf_rule_month"),
    ];
    all.into_iter().filter(|line| line.quantity > 0.0).collect()
}

/// A part of what a crowd does, with its bill.
#[derive(Debug, Clone, Serialize)]
pub struct Part {
    pub what: &'static str,
    pub lines: Vec<Line>,
}

/// A million attempts that win nothing, a million page visits, a thousand orders.
pub fn million(assumed: &Assumptions, prices: &Region) -> [Part; 3] {
    let part = |what, totals: Totals| Part { what, lines: lines(&[totals], prices) };
    let orders = 1e3;
    let paid = orders * (1.0 - assumed.unpaid_share);
    [
        part("a million attempts: challenge, answer and reservation", Totals::of_attempts(MILLION, assumed)),
        part(
            "a million page visits: the files, and polls of the sale",
            Totals::of_page(MILLION, MILLION * polls_each(assumed), assumed),
        ),
        part("a thousand orders", Totals::of_orders(orders, paid, assumed)),
    ]
}
