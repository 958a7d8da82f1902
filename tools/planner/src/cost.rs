//! What a sale costs, line by line.

use serde::Serialize;

use crate::deployment::TRACED;
use crate::inputs::Assumptions;
use crate::prices::Region;
use crate::totals::{Totals, polls_each};

const MILLION: f64 = 1e6;

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
        line("X-Ray", sum(|part| part.invocations) * TRACED / MILLION, "xray_million"),
        line("CloudWatch, logs", sum(|part| part.logs_gb), "logs_gb"),
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
