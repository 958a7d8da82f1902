//! Redis stops answering in the middle of a sale and resumes after a while.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use clap::Args;
use futures::future::try_join_all;
use local::stages::Stage;

use crate::event::Request;
use crate::system::System;

const BUYERS_PER_S: usize = 50;
const IP: &str = "203.0.113.7";
/// Seconds before and after the outage.
const AROUND_S: u64 = 5;
const SALE: &str = "lamp";

#[derive(Debug, Args)]
pub(crate) struct Plan {
    /// Seconds without an answer from Redis
    #[arg(long, default_value_t = 10)]
    outage_s: u64,
}

/// Answers to the buyers of one second.
#[derive(Default)]
struct Second {
    answers: BTreeMap<String, usize>,
    latencies_us: Vec<u64>,
}

pub(crate) async fn run(plan: &Plan) -> Result<()> {
    let system = System::start().await?;
    let seconds = AROUND_S * 2 + plan.outage_s;
    system.open(&[SALE], (seconds as usize * BUYERS_PER_S) as u32).await?;
    let stage = Stage::spinner("Buyers, with an outage of Redis");
    let start = Instant::now();
    let outage = async {
        tokio::time::sleep_until((start + Duration::from_secs(AROUND_S)).into()).await;
        system.cloud.valkey.stop()?;
        tokio::time::sleep_until((start + Duration::from_secs(AROUND_S + plan.outage_s)).into()).await;
        system.cloud.valkey.resume()
    };
    let buyers = try_join_all((0..seconds as usize * BUYERS_PER_S).map(|n| {
        let system = &system;
        async move {
            // By the clock and not after the last answer, so that buyers keep arriving during the outage.
            let due = start + Duration::from_secs(1) * n as u32 / BUYERS_PER_S as u32;
            tokio::time::sleep_until(due.into()).await;
            let user = format!("buyer-{n}");
            let pass = system.pass(SALE, &user, 0)?;
            let answer = system.ask_recorded(&Request::reserve(SALE, &pass, &user, IP)).await?;
            Ok::<_, anyhow::Error>((n / BUYERS_PER_S, answer.name(), due.elapsed().as_micros() as u64))
        }
    }));
    let (heard, done) = futures::future::join(buyers, outage).await;
    done?;
    let mut by_second: Vec<Second> = std::iter::repeat_with(Second::default).take(seconds as usize).collect();
    let mut accepted = 0;
    for (second, name, latency_us) in heard? {
        accepted += u64::from(name == "202");
        *by_second[second].answers.entry(name).or_default() += 1;
        by_second[second].latencies_us.push(latency_us);
    }
    stage.done(format!("{accepted} accepted"));

    println!("\n{:>6} {:>9} {:>9} {:>9}  answers", "second", "p50 ms", "p90 ms", "max ms");
    for (second, Second { answers, mut latencies_us }) in by_second.into_iter().enumerate() {
        latencies_us.sort_unstable();
        let at = |share: f64| latencies_us[((latencies_us.len() - 1) as f64 * share) as usize] as f64 / 1000.0;
        let stopped = (AROUND_S..AROUND_S + plan.outage_s).contains(&(second as u64));
        let mark = if stopped { "stopped" } else { "" };
        println!("{second:>6} {:>9.2} {:>9.2} {:>9.2}  {answers:?} {mark}", at(0.5), at(0.9), at(1.0));
    }
    let audit = system.at_rest(SALE).await?;
    println!("\naudit: clean, free {} held {} ordered {}", audit["free"], audit["held"], audit["ordered"]);
    ensure!(audit["ordered"].as_u64() >= Some(accepted), "fewer orders than the {accepted} accepted");
    system.check_history("outage", &[SALE]).await
}
