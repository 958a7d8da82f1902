//! What a sale costs, line by line.

use serde::Serialize;

use crate::deployment::TRACED;
use crate::prices::Region;
use crate::totals::Totals;

const MILLION: f64 = 1e6;

/// One line of a bill.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Line {
    /// What it is for.
    pub what: &'static str,
    /// How many units of the price.
    pub quantity: f64,
    /// The price's name in `tools/planner/prices`.
    pub price: &'static str,
    /// The price of one unit.
    pub usd_each: f64,
    /// The amount.
    pub usd: f64,
}

impl Line {
    /// A line with `quantity` at the price with this name.
    pub fn new(prices: &Region, what: &'static str, quantity: f64, price: &'static str) -> Self {
        let usd_each = prices.usd(price);
        Self { what, quantity, price, usd_each, usd: quantity * usd_each }
    }
}

/// The sum of lines.
pub fn sum(lines: &[Line]) -> f64 {
    lines.iter().map(|line| line.usd).sum()
}

/// The cost of these quantities, beyond what the deployment costs anyway.
pub fn lines(totals: &Totals, prices: &Region) -> Vec<Line> {
    let line = |what, quantity, price| Line::new(prices, what, quantity, price);
    let all = vec![
        line("CloudFront, requests", totals.edge_requests / 10_000.0, "cloudfront_10k"),
        line("CloudFront, data", totals.edge_gb, "cloudfront_gb"),
        line("CloudFront, function", totals.gateway_requests / MILLION, "cloudfront_function_million"),
        line("WAF, requests", totals.edge_requests / MILLION, "waf_million"),
        line("API Gateway, HTTP", totals.gateway_requests / MILLION, "http_api_million"),
        line("API Gateway, WebSocket messages", totals.push_messages / MILLION, "websocket_million"),
        line("API Gateway, WebSocket minutes", totals.push_minutes / MILLION, "websocket_minutes_million"),
        line("Lambda, requests", totals.invocations / MILLION, "lambda_million"),
        line("Lambda, time", totals.gb_s, "lambda_gb_s"),
        line("EventBridge", totals.bus_events / MILLION, "events_million"),
        line("SQS", totals.queue_requests / MILLION, "sqs_million"),
        line("DynamoDB, writes", totals.writes / MILLION, "dynamodb_write_million"),
        line("DynamoDB, reads", totals.reads / MILLION, "dynamodb_read_million"),
        line("X-Ray", totals.invocations * TRACED / MILLION, "xray_million"),
        line("CloudWatch, logs", totals.logs_gb, "logs_gb"),
    ];
    all.into_iter().filter(|line| line.quantity > 0.0).collect()
}
