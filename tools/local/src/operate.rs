//! Operators' commands for the running cloud.

use std::process::ExitCode;

use anyhow::{Context, Result};
use command_line::of_these;
use sale::RoundId;
use serde_json::Value;

use crate::running::api;

/// Prints where every unit of a round is. Fails unless each is in exactly one place.
pub async fn audit(round: &RoundId, json: bool) -> Result<ExitCode> {
    let (client, ..) = api()?;
    client.ensure_round(round).await?;
    let RoundId { sale, number } = round;
    let audit = client.operate("GET", &format!("/v1/admin/sales/{sale}/rounds/{number}/audit")).await?;
    if json {
        println!("{}", serde_json::to_string_pretty(&audit)?);
    } else {
        print(&audit);
    }
    let clean = audit["clean"].as_bool().context("the API gave no audit")?;
    Ok(if clean { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn print(audit: &Value) {
    if audit["in_redis"] == false {
        println!("Redis does not have this round: it is not loaded yet, is over, or was lost.");
        println!("These figures are from the orders alone:");
    }
    for name in ["total", "free", "held", "ordered", "oversold", "lost", "duplicated"] {
        println!("  {name:<12} {}", audit[name]);
    }
    for each in audit["discrepancies"].as_array().into_iter().flatten() {
        let since = each["since_ms"].as_i64().map_or_else(String::new, |ms| format!(", since {}", sale::EpochMs(ms)));
        println!("  unit {}: {}{since}", each["unit"], each["wrong"].as_str().unwrap_or_default());
        for place in each["found"].as_array().into_iter().flatten() {
            println!("    {}", place.as_str().unwrap_or_default());
        }
        match each["repairs"].as_array() {
            Some(repairs) if !repairs.is_empty() => println!("    reconciliation repairs it: {}", each["repairs"]),
            _ => println!("    a message in flight will resolve it"),
        }
    }
}

pub async fn redrive(queue: &str) -> Result<()> {
    let answer = api()?.0.operate("POST", &format!("/v1/admin/redrive/{queue}")).await?;
    println!("moved {}", of_these(answer["moved"].as_u64().unwrap_or_default(), "message"));
    Ok(())
}
