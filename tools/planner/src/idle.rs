//! What a deployment costs in an idle month.

use crate::cost::Line;
use crate::deployment as d;
use crate::prices::Region;
use crate::quotas::OTHER_S;

/// Hours in a month, according to AWS's calculator.
const HOURS: f64 = 730.0;
const MINUTES: f64 = HOURS * 60.0;
/// Long polls that Lambda keeps open on a queue, and the seconds of each.
const POLLERS: f64 = 5.0;
const POLL_S: f64 = 20.0;

pub fn lines(on: &d::Deployment, prices: &Region) -> Vec<Line> {
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
