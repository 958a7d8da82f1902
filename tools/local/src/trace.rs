//! Traces one purchase through all functions, from their logs.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use sale::ReservationId;
use serde_json::{Value, json};

use crate::deployment::Deployment;
use crate::emulator;
use crate::running::running;

/// Longest wait for one answer of the emulator.
const TIMEOUT: Duration = Duration::from_secs(10);
/// How many log groups are searched at most. The app has fewer functions.
const MAX_GROUPS: usize = 50;

struct Step {
    at_ms: i64,
    function: String,
    line: Value,
}

/// Prints the steps of the purchase of `reservation`, as JSON or for people. The first one has the correlation id that
/// its buyer got.
pub async fn trace(reservation: &ReservationId, json: bool) -> Result<()> {
    let (deployment, _) = running()?;
    let Deployment { endpoint, home, .. } = deployment;
    let logs = Logs { http: reqwest::Client::builder().timeout(TIMEOUT).build()?, endpoint };
    let mut steps = Vec::new();
    for group in logs.groups().await? {
        steps.extend(logs.about(reservation, &group).await?);
    }
    steps.extend(behind_the_gateway(&home, reservation)?);
    ensure!(
        !steps.is_empty(),
        "no function has logged anything about {reservation}; logs take a few seconds to appear"
    );
    steps.sort_by_key(|step| step.at_ms);
    if json {
        println!("{}", serde_json::to_string_pretty(&steps.iter().map(Step::document).collect::<Vec<_>>())?);
    } else {
        print(&steps);
    }
    Ok(())
}

fn print(steps: &[Step]) {
    let began = steps.first().map_or(0, |step| step.at_ms);
    for step in steps {
        let fields = ["state", "unit", "outcome", "trace"];
        let fields: Vec<String> = fields
            .iter()
            .filter_map(|name| {
                step.line.get(name).map(|value| format!("{name} {}", value.to_string().trim_matches('"')))
            })
            .collect();
        let said = step.line["message"].as_str().unwrap_or_default();
        println!("{:>8} ms  {:<13} {said:<16} {}", step.at_ms - began, step.function, fields.join(", "));
    }
    println!(
        "The challenge and the pass came first. Admission does not log them, since the reservation did not exist yet."
    );
}

impl Step {
    fn document(&self) -> Value {
        json!({ "at_ms": self.at_ms, "function": self.function, "line": self.line })
    }
}

/// The step in a log line, if it concerns the reservation.
fn step(log: &str, line: &str, reservation: &str) -> Option<Step> {
    let line: Value = serde_json::from_str(line.trim()).ok()?;
    let at_ms = line["timestamp"].as_str()?.parse::<jiff::Timestamp>().ok()?.as_millisecond();
    let function = log.rsplit('-').next().unwrap_or(log).to_owned();
    (line["reservation_id"] == reservation).then_some(Step { at_ms, function, line })
}

/// Functions behind the gateway log to files.
fn behind_the_gateway(home: &Path, reservation: &ReservationId) -> Result<Vec<Step>> {
    let name = reservation.to_string();
    let mut steps = Vec::new();
    for entry in std::fs::read_dir(home)?.flatten() {
        let path = entry.path();
        let (Some(log), Some("log")) =
            (path.file_stem().and_then(|stem| stem.to_str()), path.extension().and_then(|kind| kind.to_str()))
        else {
            continue;
        };
        let lines = BufReader::new(File::open(&path)?).split(b'\n');
        steps.extend(lines.map_while(Result::ok).filter_map(|line| step(log, std::str::from_utf8(&line).ok()?, &name)));
    }
    Ok(steps)
}

struct Logs {
    http: reqwest::Client,
    endpoint: String,
}

impl Logs {
    async fn groups(&self) -> Result<Vec<String>> {
        let found = self.ask("DescribeLogGroups", &json!({ "limit": MAX_GROUPS })).await?;
        let names = found["logGroups"].as_array().into_iter().flatten();
        Ok(names.filter_map(|group| group["logGroupName"].as_str()).map(str::to_owned).collect())
    }

    async fn about(&self, reservation: &ReservationId, group: &str) -> Result<Vec<Step>> {
        let name = reservation.to_string();
        let query = json!({ "logGroupName": group, "filterPattern": format!("\"{name}\"") });
        let found = self.ask("FilterLogEvents", &query).await?;
        let lines = found["events"].as_array().into_iter().flatten().filter_map(|event| event["message"].as_str());
        Ok(lines.filter_map(|line| step(group, line, &name)).collect())
    }

    async fn ask(&self, call: &str, query: &Value) -> Result<Value> {
        let asked = self
            .http
            .post(&self.endpoint)
            .header("content-type", "application/x-amz-json-1.1")
            .header("x-amz-target", format!("Logs_20140328.{call}"))
            .header("authorization", emulator::authorization("logs"))
            .body(query.to_string());
        let answer = asked.send().await?.error_for_status().with_context(|| format!("the emulator refuses {call}"))?;
        Ok(serde_json::from_str(&answer.text().await?)?)
    }
}
