//! How fast each function starts, from spawn to its first poll for an event, and how large it is. Before it polls, a function connects to Redis and reads its secrets and the published sales, so these
//! answer here, and at once.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use flate2::Compression;
use flate2::read::DeflateEncoder;
use local::build::FUNCTIONS;
use local::stages::Stage;

use super::effort::Effort;
use super::figure::{Line, Unit, median};
use super::measured::{Report, Started};
use super::shop::Shop;
use crate::binaries::Binaries;

const START_TIMEOUT: Duration = Duration::from_secs(60);
const POLL: Duration = Duration::from_micros(50);
/// Most bytes read of a request.
const MAX_REQUEST: usize = 4096;

const ZIPPED_MB: f64 = 5.0;

pub(crate) async fn measure(effort: &Effort, report: &mut Report) -> Result<()> {
    let (binaries, rounds) = (effort.binaries, effort.rounds);
    let shop = Shop::open(binaries).await?;
    let around = Around { settings: shop.settings(), endpoint: shop.aws.endpoint() };
    report.starts = tokio::task::spawn_blocking(move || all(binaries, rounds, &around)).await??;
    let largest = report.starts.iter().max_by(|a, b| a.zipped_mb.total_cmp(&b.zipped_mb)).context("functions")?;
    let (mb, measured) = (vec![largest.zipped_mb], format!("the largest: {}", largest.function));
    let line = Line::new("zipped", "zipped size of the largest function", "–", (Unit::Megabytes, mb), measured);
    report.lines.push(line.at_most(ZIPPED_MB));
    Ok(())
}

/// What a function finds when it starts.
struct Around {
    settings: Vec<(&'static str, String)>,
    /// The address of AWS.
    endpoint: String,
}

fn all(binaries: Binaries, rounds: usize, around: &Around) -> Result<Vec<Started>> {
    let stage = Stage::steps("Starts", FUNCTIONS.len());
    let mut starts: Vec<Started> = Vec::new();
    // The tests' build of all functions is one program, which takes seconds to compress.
    let mut zipped = BTreeMap::new();
    for function in FUNCTIONS {
        let path = binaries.path(function);
        // The first start reads the file from disk.
        start(function, &path, around)?;
        let own = (0..rounds).map(|_| start(function, &path, around)).collect::<Result<Vec<_>>>()?;
        let (ms, peaks_mb): (Vec<f64>, Vec<f64>) = own.into_iter().unzip();
        let zipped_mb = match zipped.entry(path) {
            Entry::Occupied(known) => *known.get(),
            Entry::Vacant(new) => {
                let mb = zipped_mb(new.key())?;
                *new.insert(mb)
            }
        };
        starts.push(Started { function, start_ms: median(&ms), peak_mb: median(&peaks_mb), zipped_mb });
        stage.step();
    }
    let slowest = starts.iter().max_by(|a, b| a.start_ms.total_cmp(&b.start_ms)).context("functions")?;
    stage.done(format!("the slowest is {}", slowest.function));
    Ok(starts)
}

/// A process that ends when this value is dropped.
struct Spawned(Child);

impl Drop for Spawned {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Milliseconds until the function asks for its first event, and the most memory that it had by then, in MB.
fn start(name: &str, binary: &Path, around: &Around) -> Result<(f64, f64)> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    listener.set_nonblocking(true)?;
    let address = listener.local_addr()?.to_string();
    let mut command = Command::new(binary);
    command
        .env_clear()
        .envs(around.settings.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::null())
        .stdout(Stdio::null());
    command.envs([
        ("AWS_LAMBDA_RUNTIME_API", address.as_str()),
        ("AWS_LAMBDA_FUNCTION_NAME", name),
        ("_HANDLER", name),
        ("AWS_LAMBDA_FUNCTION_VERSION", "1"),
        ("AWS_LAMBDA_FUNCTION_MEMORY_SIZE", "128"),
        ("AWS_ENDPOINT_URL", &around.endpoint),
        ("AWS_ACCESS_KEY_ID", "test"),
        ("AWS_SECRET_ACCESS_KEY", "test"),
        ("AWS_REGION", "us-east-1"),
    ]);
    let begun = Instant::now();
    let mut spawned = Spawned(command.stderr(Stdio::null()).spawn().with_context(|| format!("{name} is not built"))?);
    let mut connection = accept(&listener, &mut spawned.0).with_context(|| format!("{name} does not poll"))?;
    let (mut request, mut buffer) = (Vec::new(), [0; MAX_REQUEST]);
    while !request.windows(16).any(|window| window == b"/invocation/next") {
        let read = connection.read(&mut buffer)?;
        ensure!(read > 0 && request.len() < MAX_REQUEST, "{name} polls for something else");
        request.extend_from_slice(&buffer[..read]);
    }
    let ms = begun.elapsed().as_secs_f64() * 1000.0;
    let status = std::fs::read_to_string(format!("/proc/{}/status", spawned.0.id()))?;
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")?.trim().split(' ').next());
    Ok((ms, peak.context("no peak")?.parse::<f64>()? / 1024.0))
}

fn accept(listener: &TcpListener, child: &mut Child) -> Result<TcpStream> {
    let begun = Instant::now();
    loop {
        match listener.accept() {
            Ok((connection, _)) => {
                connection.set_nonblocking(false)?;
                connection.set_read_timeout(Some(START_TIMEOUT))?;
                return Ok(connection);
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            Err(error) => return Err(error.into()),
        }
        if let Some(status) = child.try_wait()? {
            bail!("it ended: {status}");
        }
        ensure!(begun.elapsed() < START_TIMEOUT, "not in time");
        std::thread::sleep(POLL);
    }
}

/// Size in the deployed archive, which has only this file.
fn zipped_mb(binary: &Path) -> Result<f64> {
    let mut archive = DeflateEncoder::new(File::open(binary)?, Compression::default());
    Ok(std::io::copy(&mut archive, &mut std::io::sink())? as f64 / 1e6)
}
