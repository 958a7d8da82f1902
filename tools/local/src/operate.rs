//! Operators' commands for the running cloud.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result, anyhow, ensure};
use command_line::of_these;
use sale::RoundId;
use serde_json::Value;
use tempfile::NamedTempFile;
use tokio::time::Instant;

use crate::client::Page;
use crate::running::api;

const SAY_EVERY: Duration = Duration::from_secs(2);

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

/// Writes the orders of a round to a file, page by page. The file appears, or is replaced, only when it is complete;
/// until then the rows are in a temporary file in the same folder, which is removed on failure. Only its owner can read
/// it, since it has user names.
pub async fn export(round: &RoundId, format: &str, out: Option<&Path>) -> Result<()> {
    let client = api()?.0.patient();
    client.ensure_round(round).await?;
    let RoundId { sale, number } = round;
    let file = out.map_or_else(|| PathBuf::from(format!("{sale}-{number}.{format}")), Path::to_owned);
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or_else(|| Path::new("."));
    let unwritable = || format!("cannot write {}", file.display());
    ensure!(!file.is_dir(), "{} is a folder", file.display());
    ensure!(folder.is_dir(), "{}: there is no folder {}", unwritable(), folder.display());
    // The error itself would name the temporary file.
    let mut partial = NamedTempFile::new_in(folder).map_err(|error| anyhow!("{}: {}", unwritable(), error.kind()))?;
    eprintln!("exporting round {number} of {sale}");

    let mut path = format!("/v1/admin/sales/{sale}/rounds/{number}/orders?format={format}");
    let (mut rows, mut of, mut said) = (0, None, None::<Instant>);
    loop {
        let page = client.page(&path).await;
        let page = page.with_context(|| format!("{} was not written", file.display()))?;
        let Page { rows: more, about, next, body } = page;
        partial.as_file_mut().write_all(&body).with_context(unwritable)?;
        rows += more;
        of = of.or(about);
        let Some(next) = next else { break };
        ensure!(next != path, "the API returned a link to the same page");
        path = next;
        if said.is_none_or(|said| said.elapsed() >= SAY_EVERY) {
            let of = of.map_or_else(String::new, |about| format!(" of about {about}"));
            eprintln!("{rows}{of} rows");
            said = Some(Instant::now());
        }
    }
    partial.as_file().sync_all().with_context(unwritable)?;
    partial.persist(&file).map_err(|failed| failed.error).with_context(unwritable)?;
    eprintln!("{} in {}", of_these(rows, "row"), file.display());
    Ok(())
}
