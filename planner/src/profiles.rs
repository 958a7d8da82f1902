//! What the templates of each profile have that costs money while nobody comes.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use serde::Deserialize;

/// `infra/cdk/test/planner.test.ts` counts it in the templates and writes it.
const COUNTED: &str = include_str!("../profiles.json");

/// What a profile has.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    /// Resources of its stacks, which costs nothing by itself.
    pub resources: u32,
    /// Interface endpoints, each counted in every zone.
    pub endpoints: f64,
    /// Secrets.
    pub secrets: f64,
    /// Metrics that alarms watch, without those of Redis.
    pub alarm_metrics: f64,
    /// The same of each node of Redis.
    pub alarm_metrics_of_a_node: f64,
    /// Whether functions publish metrics of their own.
    pub metrics: bool,
    /// Dashboards.
    pub dashboards: f64,
    /// Functions that run every minute.
    pub schedules: f64,
    /// Memory of them all in MB.
    pub schedules_mb: f64,
    /// Secrets that they read, each of them anew in each run: by then what it knows is a minute old.
    pub schedules_secrets: f64,
    /// Whether runs are traced: of a function that runs once a minute each is, as the first of its second.
    pub traced: bool,
    /// Queues that Lambda polls.
    pub polled_queues: f64,
    /// Firewalls.
    pub firewalls: f64,
    /// Their rules.
    pub firewall_rules: f64,
}

/// The profile of a deployment of this name.
///
/// # Errors
/// If the file does not have it.
pub fn of(name: &str) -> Result<Profile> {
    let mut all: BTreeMap<String, Profile> =
        serde_json::from_str(COUNTED).context("planner/profiles.json cannot be read")?;
    all.remove(name).with_context(|| format!("planner/profiles.json has no {name}"))
}
