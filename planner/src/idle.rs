//! What a deployment costs in a month in which nobody comes.

use crate::cost::Line;
use crate::deployment as d;
use crate::prices::Region;
use crate::quotas::OTHER_S;

/// Hours of a month, as AWS's calculator has them.
const HOURS: f64 = 730.0;
const MINUTES: f64 = HOURS * 60.0;
/// Long polls that Lambda keeps open on a queue, and seconds of each.
const POLLERS: f64 = 5.0;
const POLL_S: f64 = 20.0;

/// The lines of this deployment.
pub fn lines(on: &d::Deployment, prices: &Region) -> Vec<Line> {
    let node = if on.node_type == "cache.r7g.large" { "cache_r7g_large_hour" } else { "cache_t4g_micro_hour" };
    let runs = f64::from(d::SCHEDULES) * MINUTES;
    let polls = f64::from(d::POLLED_QUEUES) * POLLERS * HOURS * 3600.0 / POLL_S;
    let line = |what, quantity: f64, price| Line::new(prices, what, quantity, price);
    let mut all = vec![
        line("ElastiCache nodes", f64::from(on.nodes()) * HOURS, node),
        line(
            "interface endpoints",
            f64::from(d::INTERFACE_ENDPOINTS) * f64::from(d::ZONES) * HOURS,
            "endpoint_zone_hour",
        ),
        line("secrets", f64::from(on.secrets), "secret_month"),
        line("alarms", f64::from(d::ALARM_METRICS + d::ALARM_METRICS_OF_A_NODE * on.nodes()), "alarm_metric_month"),
        line("metrics", f64::from(d::METRICS), "metric_month"),
        line("dashboard", 1.0, "dashboard_month"),
        line("schedules", runs / 1e6, "scheduler_million"),
        line("scheduled runs", runs / 1e6, "lambda_million"),
        line("scheduled runs, time", runs * OTHER_S * d::FUNCTION_GB, "lambda_gb_s"),
        line("scheduled runs, logs", runs * d::LOG_BYTES / 1e9, "logs_gb"),
        // Each run asks for the sales that are not over.
        line("scheduled runs, reads", runs * 2.0 / 1e6, "dynamodb_read_million"),
        line("polls of empty queues", polls / 1e6, "sqs_million"),
    ];
    if on.sync {
        all.insert(1, line("ElastiCache durability", f64::from(on.nodes()) * HOURS, "cache_r7g_large_sync_hour"));
    }
    if on.edge {
        all.push(line("WAF", 1.0, "waf_acl_month"));
        all.push(line("WAF rules", f64::from(d::FIREWALL_RULES), "waf_rule_month"));
    }
    all
}
