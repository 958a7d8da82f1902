//! The resources of each profile that cost money while idle.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use serde::Deserialize;

/// Counted in the templates and written by `infra/cdk/test/planner.test.ts`.
const COUNTED: &str = include_str!("../profiles.json");

/// The resources of a profile.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    /// Resources of its stacks, which cost nothing by themselves.
    pub resources: u32,
    /// Interface endpoints, each counted in every zone.
    pub endpoints: f64,
    /// Secrets.
    pub secrets: f64,
    /// Metrics that alarms use, without those of Redis.
    pub alarm_metrics: f64,
    /// The same for each node of Redis.
    pub alarm_metrics_of_a_node: f64,
    /// Whether functions publish their own metrics.
    pub metrics: bool,
    /// Dashboards.
    pub dashboards: f64,
    /// Functions that run every minute.
    pub schedules: f64,
    /// Memory of them all in MB.
    pub schedules_mb: f64,
    /// Secrets that they read in every run, since a cached value would be a minute old.
    pub schedules_secrets: f64,
    /// Whether runs are traced. X-Ray traces the first request of every second, so it traces every run.
    pub traced: bool,
    /// Queues that Lambda polls.
    pub polled_queues: f64,
    /// Firewalls.
    pub firewalls: f64,
    /// Their rules.
    pub firewall_rules: f64,
}

/// The profile of the deployment with this name. Fails if the file does not have it.
pub fn of(name: &str) -> Result<Profile> {
    let mut all: BTreeMap<String, Profile> =
        serde_json::from_str(COUNTED).context("tools/planner/profiles.json cannot be read")?;
    all.remove(name).with_context(|| format!("tools/planner/profiles.json has no {name}"))
}
