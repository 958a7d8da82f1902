//! How much memory a live reservation takes in Redis, and whether `reserve` slows down as they grow in number.

use anyhow::{Result, ensure};
use local::stages::Stage;

use super::effort::Effort;
use super::figure::{Line, Unit};
use super::measured::Report;
use super::rivals::{Ring, Rival};

const LARGE: &str = "large";
const UNITS: u32 = 10_000_000;
const SMALL_LIVE: usize = 1_000;
const BYTES: f64 = 160.0;
const SLOWER: f64 = 1.1;
/// Calls in one pipeline while filling.
const BATCH: usize = 500;

pub(crate) async fn measure(effort: &Effort, report: &mut Report) -> Result<()> {
    let ring = Ring::open().await?;
    ring.offer(Rival::Reserve, LARGE, UNITS).await?;
    let used = async || Ok::<f64, anyhow::Error>(ring.info("used_memory").await?.parse()?);
    let empty = used().await?;
    let stage = Stage::steps("Live reservations", effort.live);
    let mut live = 0;
    while live < effort.live {
        let batch = BATCH.min(effort.live - live);
        fill(&ring, LARGE, live, batch).await?;
        live += batch;
        stage.set(live);
    }
    let bytes = (used().await? - empty) / live as f64;
    ensure!(bytes > 0.0, "{live} reservations take no memory");
    stage.done(format!("{bytes:.0} bytes each"));
    let what = format!("memory per live reservation, {} of them", effort.live);
    let line = Line::new("bytes_per_reservation", what, "–", (Unit::Bytes, vec![bytes]), "user ids of 13 characters");
    report.lines.push(line.at_most(BYTES));

    let stage = Stage::steps("Growth", effort.rounds);
    let (mut large, mut small) = (Vec::new(), Vec::new());
    for round in 0..effort.rounds {
        let sale = format!("small-{round}");
        let units = SMALL_LIVE + effort.calls_at_each_size;
        ring.offer(Rival::Reserve, &sale, units as u32).await?;
        fill(&ring, &sale, 0, SMALL_LIVE).await?;
        // The first calls after a pause are slow, on both sides.
        small.push(sequential(&ring, &sale, SMALL_LIVE, effort.calls_at_each_size).await?);
        large.push(sequential(&ring, LARGE, live, effort.calls_at_each_size).await?);
        live += effort.calls_at_each_size;
        stage.step();
    }
    let what = format!("`reserve` at {} live reservations and {UNITS} units, p50", effort.live);
    let against = format!("at {SMALL_LIVE} and as many units, p50");
    let line = Line::times("growth", what, against, [&large, &small], "µs").at_most(SLOWER);
    stage.done(line.value());
    report.lines.push(line);
    Ok(())
}

/// A user id of fixed length.
fn user(n: usize) -> String {
    format!("buyer-{n:07}")
}

async fn fill(ring: &Ring, sale: &str, from: usize, count: usize) -> Result<()> {
    let mut pipe = redis::pipe();
    for n in from..from + count {
        pipe.add_command(ring.call(Rival::Reserve, sale, &user(n)));
    }
    let answers: Vec<String> = pipe.query_async(&mut ring.connection().await?).await?;
    ensure!(answers.len() == count && answers.iter().all(|answer| answer.starts_with("reserved")), "not all reserved");
    Ok(())
}

/// Median time of sequential calls, in microseconds.
async fn sequential(ring: &Ring, sale: &str, from: usize, count: usize) -> Result<f64> {
    let calls = (from..from + count).map(|n| ring.call(Rival::Reserve, sale, &user(n))).collect();
    let load = Ring::closed(vec![ring.connection().await?], calls, "reserved").await?;
    Ok(load.quantile_ms(0.5) * 1000.0)
}
