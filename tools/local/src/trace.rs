//! Traces one purchase through all functions, from their logs.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use anyhow::{Result, ensure};
use sale::ReservationId;
use serde::Serialize;
use serde_json::{Value, json};

use crate::control::Control;
use crate::deployment::Deployment;
use crate::running::running;

/// How many log groups are searched at most. The app has fewer functions.
const MAX_GROUPS: usize = 50;

#[derive(Serialize)]
struct Step {
    at_ms: i64,
    function: String,
    line: Value,
}

/// Prints the steps of a purchase. The first one has the correlation id that its buyer got.
pub async fn trace(reservation: &ReservationId, json: bool) -> Result<()> {
    let (deployment, _) = running()?;
    let Deployment { endpoint, home, .. } = deployment;
    let mut steps = in_the_emulator(&Control::new(&endpoint), reservation).await?;
    steps.extend(behind_the_gateway(&home, reservation)?);
    let some = !steps.is_empty();
    ensure!(some, "no function has logged anything about {reservation}; logs take a few seconds to appear");
    steps.sort_by_key(|step| step.at_ms);
    if json {
        println!("{}", serde_json::to_string_pretty(&steps)?);
    } else {
        print(&steps);
    }
    Ok(())
}

fn print(steps: &[Step]) {
    let began = steps.first().map_or(0, |step| step.at_ms);
    for step in steps {
        let field = |name: &str| Some(format!("{name} {}", step.line.get(name)?.to_string().trim_matches('"')));
        let fields: Vec<String> = ["state", "unit", "outcome", "trace"].into_iter().filter_map(field).collect();
        let said = step.line["message"].as_str().unwrap_or_default();
        println!("{:>8} ms  {:<13} {said:<16} {}", step.at_ms - began, step.function, fields.join(", "));
    }
    println!(
        "The challenge and the pass came first. Admission does not log them, since the reservation did not exist yet."
    );
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
        let name_of_log = path.file_name().and_then(|name| name.to_str()?.strip_suffix(".log"));
        let Some(log) = name_of_log else { continue };
        let lines = BufReader::new(File::open(&path)?).split(b'\n');
        steps.extend(lines.map_while(Result::ok).filter_map(|line| step(log, std::str::from_utf8(&line).ok()?, &name)));
    }
    Ok(steps)
}

async fn in_the_emulator(control: &Control, reservation: &ReservationId) -> Result<Vec<Step>> {
    let name = reservation.to_string();
    let found = control.ask_logs("DescribeLogGroups", &json!({ "limit": MAX_GROUPS })).await?;
    let groups = found["logGroups"].as_array().into_iter().flatten();
    let mut steps = Vec::new();
    for group in groups.filter_map(|group| group["logGroupName"].as_str()) {
        let query = json!({ "logGroupName": group, "filterPattern": format!("\"{name}\"") });
        let found = control.ask_logs("FilterLogEvents", &query).await?;
        let lines = found["events"].as_array().into_iter().flatten().filter_map(|event| event["message"].as_str());
        steps.extend(lines.filter_map(|line| step(group, line, &name)));
    }
    Ok(steps)
}
