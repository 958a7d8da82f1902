//! How fast each function starts, from spawn to its first poll for an event, and how large it is. Before it polls, a
//! function connects to Redis and reads its secrets and the published sales, so these answer here, and at once.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use flate2::Compression;
use flate2::read::DeflateEncoder;
use local::build::FUNCTIONS;
use local::function::{SMALLEST_MEMORY_MB, surroundings};
use local::stages::Stage;
use tokio::io::AsyncReadExt;
use tokio::net::TcpListener;
use tokio::process::Command;
use tokio::time::timeout;

use super::effort::Effort;
use super::figure::{Line, Unit, median};
use super::measured::{Report, Started};
use super::shop::Shop;

const START_TIMEOUT: Duration = Duration::from_secs(60);
/// Most bytes read of a request.
const MAX_REQUEST: usize = 4096;

const ZIPPED_MB: f64 = 5.0;

pub(crate) async fn measure(effort: &Effort, report: &mut Report) -> Result<()> {
    let shop = Shop::open(effort.binaries).await?;
    let stage = Stage::steps("Starts", FUNCTIONS.len());
    // The tests' build of all functions is one program, which takes seconds to compress.
    let mut zipped = BTreeMap::new();
    for function in FUNCTIONS {
        let path = shop.binaries.path(function);
        // The first start reads the file from disk.
        start(function, &path, &shop).await?;
        let (mut ms, mut peaks_mb) = (Vec::new(), Vec::new());
        for _ in 0..effort.rounds {
            let (started_ms, peak_mb) = start(function, &path, &shop).await?;
            ms.push(started_ms);
            peaks_mb.push(peak_mb);
        }
        let zipped_mb = match zipped.get(&path) {
            Some(known) => *known,
            None => tokio::task::block_in_place(|| zipped_mb(&path))?,
        };
        zipped.insert(path, zipped_mb);
        report.starts.push(Started { function, start_ms: median(&ms), peak_mb: median(&peaks_mb), zipped_mb });
        stage.step();
    }
    let slowest = report.starts.iter().max_by(|a, b| a.start_ms.total_cmp(&b.start_ms)).context("functions")?;
    stage.done(format!("the slowest is {}", slowest.function));
    let largest = report.starts.iter().max_by(|a, b| a.zipped_mb.total_cmp(&b.zipped_mb)).context("functions")?;
    let (mb, measured) = (vec![largest.zipped_mb], format!("the largest: {}", largest.function));
    let line = Line::new("zipped", "zipped size of the largest function", "–", (Unit::Megabytes, mb), measured);
    report.lines.push(line.at_most(ZIPPED_MB));
    Ok(())
}

/// Milliseconds until the function asks for its first event, and the most memory that it had by then, in MB.
async fn start(name: &str, binary: &Path, shop: &Shop) -> Result<(f64, f64)> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let mut command = Command::new(binary);
    command.kill_on_drop(true).env_clear().envs(shop.settings());
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.envs(surroundings(name, name, &shop.aws.endpoint(), SMALLEST_MEMORY_MB));
    command.env("AWS_LAMBDA_RUNTIME_API", listener.local_addr()?.to_string());
    let begun = Instant::now();
    let mut process = command.spawn().with_context(|| format!("{name} is not built"))?;
    let status = format!("/proc/{}/status", process.id().context("it runs")?);
    let polling = async {
        let (mut connection, _) = listener.accept().await?;
        let mut request = Vec::new();
        while !request.windows(16).any(|window| window == b"/invocation/next") {
            let read = connection.read_buf(&mut request).await?;
            ensure!(read > 0 && request.len() < MAX_REQUEST, "{name} polls for something else");
        }
        let ms = begun.elapsed().as_secs_f64() * 1000.0;
        let status = std::fs::read_to_string(status)?;
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")?.trim().split(' ').next());
        anyhow::Ok((ms, peak.context("no peak")?.parse::<f64>()? / 1024.0))
    };
    let polled = tokio::select! {
        polled = timeout(START_TIMEOUT, polling) => polled.with_context(|| format!("{name} does not poll"))?,
        ended = process.wait() => bail!("{name} ended: {}", ended?),
    };
    process.kill().await?;
    polled
}

/// Size in the deployed archive, which has only this file.
fn zipped_mb(binary: &Path) -> Result<f64> {
    let mut archive = DeflateEncoder::new(File::open(binary)?, Compression::default());
    Ok(std::io::copy(&mut archive, &mut std::io::sink())? as f64 / 1e6)
}
