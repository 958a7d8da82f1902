//! Operators' commands for the running cloud.

use std::process::ExitCode;

use anyhow::{Context, Result};
use command_line::of_these;
use sale::RoundId;
use serde_json::Value;

use crate::client::Client;
use crate::running::running;

/// Prints where every unit of a round is. Fails unless each is in exactly one place.
pub async fn audit(round: &RoundId, json: bool) -> Result<ExitCode> {
    let (deployment, issuer) = running()?;
    let client = Client::new(&deployment.api_url)?;
    let operator = issuer.operator_token("operator")?;
    client.ensure_round(&operator, round).await?;
    let RoundId { sale, number } = round;
    let path = format!("/v1/admin/sales/{sale}/rounds/{number}/audit");
    let audit = client.operate("GET", &operator, &path).await?;
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
        println!(
            "Redis does not have this round: it is not loaded yet, is over, or was lost. These figures are from the orders alone:"
        );
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
        let repairs = each["repairs"].as_array().map_or(0, Vec::len);
        if repairs == 0 {
            println!("    a message in flight will resolve it");
        } else {
            println!("    reconciliation repairs it: {}", each["repairs"]);
        }
    }
}

pub async fn redrive(queue: &str) -> Result<()> {
    let (deployment, issuer) = running()?;
    let client = Client::new(&deployment.api_url)?;
    let path = format!("/v1/admin/redrive/{queue}");
    let answer = client.operate("POST", &issuer.operator_token("operator")?, &path).await?;
    println!("moved {}", of_these(answer["moved"].as_u64().unwrap_or_default(), "message"));
    Ok(())
}
