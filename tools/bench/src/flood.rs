//! Honest buyers, with and without a flood of forged and repeated requests beside them.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::Result;
use clap::Args;
use futures::future::{join, try_join_all};
use futures::{StreamExt, TryStreamExt, stream};
use hdrhistogram::Histogram;
use local::stages::Stage;
use tokio::sync::watch;
use uuid::Uuid;

use crate::event::{Answer, Request};
use crate::system::System;

/// Everyone shares one address, which is the worst case for honest buyers.
const IP: &str = "203.0.113.7";
const OUTSTANDING: usize = 128;
/// Users whose passes the flood repeats.
const ATTACKERS: usize = 50;
/// Requests of each kind that are sent before the flood to count their calls to Redis.
const SAMPLES: usize = 200;
/// How often an honest buyer polls, and how many times at most.
const POLL_EVERY: Duration = Duration::from_millis(500);
const POLLS: usize = 60;

#[derive(Debug, Args)]
pub(crate) struct Plan {
    /// Honest buyers
    #[arg(long, default_value_t = 50)]
    honest: usize,
    /// Flood requests for each honest buyer
    #[arg(long, default_value_t = 5_000)]
    flood: usize,
}

const KINDS: [&str; 7] = [
    "forged pass",
    "another user's pass",
    "expired pass",
    "another sale's pass",
    "made-up sale",
    "made-up reservation",
    "repeated",
];

const MADE_UP_SALE: usize = 4;

/// The attackers' passes.
struct Loot {
    own: Vec<String>,
    expired: Vec<String>,
    elsewhere: Vec<String>,
}

impl Loot {
    fn take(system: &System, sale: &str) -> Result<Self> {
        let passes = |sale: &str, ago_s| -> Result<Vec<String>> {
            (0..ATTACKERS).map(|n| system.pass(sale, &attacker(n), ago_s)).collect()
        };
        Ok(Self { own: passes(sale, 0)?, expired: passes(sale, 301)?, elsewhere: passes("elsewhere", 0)? })
    }

    fn request(&self, kind: usize, n: usize, sale: &str) -> Request {
        let (n, random) = (n % ATTACKERS, Uuid::new_v4().as_simple().to_string());
        let user = attacker(n);
        let reserve = |sale: &str, pass: &str| Request::reserve(sale, pass, &user, IP);
        match kind {
            0 => reserve(sale, &self.own[n].chars().rev().collect::<String>()),
            1 => reserve(sale, &self.own[(n + 1) % ATTACKERS]),
            2 => reserve(sale, &self.expired[n]),
            3 => reserve(sale, &self.elsewhere[n]),
            MADE_UP_SALE => reserve(&format!("sale-{}", &random[..12]), &self.own[n]),
            5 => Request::look(&format!("{sale}.1.{random}"), &user, IP),
            _ => reserve(sale, &self.own[n]),
        }
    }
}

/// One request of the flood. A sale that does not exist has no history.
async fn attack(system: &System, loot: &Loot, kind: usize, n: usize, sale: &str) -> Result<Answer> {
    let request = loot.request(kind, n, sale);
    if kind == MADE_UP_SALE { system.ask(&request).await } else { system.ask_recorded(&request).await }
}

fn attacker(n: usize) -> String {
    format!("attacker-{n}")
}

struct Honest {
    ordered: usize,
    latency_us: Histogram<u64>,
    answers: BTreeMap<String, usize>,
}

/// One honest purchase: a request, then polls until there is an order. Starts once `begun` exceeds `n`.
async fn buy(
    system: &System,
    sale: &str,
    n: usize,
    mut begun: watch::Receiver<usize>,
) -> Result<(bool, Vec<(u64, String)>)> {
    let user = format!("{sale}-buyer-{n}");
    begun.wait_for(|begun| *begun > n).await?;
    let mut heard = Vec::new();
    let mut ask = async |request: Request| {
        let start = Instant::now();
        let answer = system.ask_recorded(&request).await?;
        heard.push((start.elapsed().as_micros() as u64, answer.name()));
        Ok::<_, anyhow::Error>(answer)
    };
    let answer = ask(Request::reserve(sale, &system.pass(sale, &user, 0)?, &user, IP)).await?;
    let Some(id) = answer.body["reservation_id"].as_str().map(str::to_owned) else { return Ok((false, heard)) };
    for _ in 0..POLLS {
        tokio::time::sleep(POLL_EVERY).await;
        if ask(Request::look(&id, &user, IP)).await?.body["status"] == "pending_payment" {
            return Ok((true, heard));
        }
    }
    Ok((false, heard))
}

async fn honest(system: &System, sale: &str, buyers: usize, begun: watch::Receiver<usize>) -> Result<Honest> {
    let bought = try_join_all((0..buyers).map(|n| buy(system, sale, n, begun.clone()))).await?;
    let mut honest = Honest { ordered: 0, latency_us: Histogram::new(3)?, answers: BTreeMap::new() };
    for (ordered, heard) in bought {
        honest.ordered += usize::from(ordered);
        for (latency_us, name) in heard {
            honest.latency_us.record(latency_us)?;
            *honest.answers.entry(name).or_default() += 1;
        }
    }
    Ok(honest)
}

/// Sends the flood, and through `begun` starts the honest buyers one by one, spread over its length.
async fn flood(system: &System, plan: &Plan, begun: watch::Sender<usize>) -> Result<BTreeMap<(usize, String), usize>> {
    let total = plan.honest * plan.flood;
    let (loot, sent) = (Loot::take(system, "flooded")?, AtomicUsize::new(0));
    let stage = Stage::steps("The flood", total);
    let (loot, sent, stage_ref) = (&loot, &sent, &stage);
    let answers = stream::iter(0..total)
        .map(|n| async move {
            let kind = n % KINDS.len();
            let answer = attack(system, loot, kind, n / KINDS.len(), "flooded").await?;
            stage_ref.step();
            sent.fetch_add(1, Ordering::Relaxed);
            Ok::<_, anyhow::Error>((kind, answer.name()))
        })
        .buffer_unordered(OUTSTANDING)
        .inspect_ok(|_| {
            let due = 1 + sent.load(Ordering::Relaxed) / plan.flood.max(1);
            begun.send_if_modified(|begun| std::mem::replace(begun, due) != due);
        })
        .try_fold(BTreeMap::new(), async |mut answers, heard| {
            *answers.entry(heard).or_default() += 1;
            Ok(answers)
        })
        .await?;
    begun.send_replace(plan.honest);
    stage.done(format!("{total} requests"));
    Ok(answers)
}

pub(crate) async fn run(plan: &Plan) -> Result<()> {
    let system = System::start().await?;
    let units = (plan.honest + ATTACKERS) as u32;
    system.open(&["calm", "flooded", "counted", "elsewhere"], units).await?;

    let stage = Stage::steps("Counting calls to Redis by kind of request", KINDS.len());
    let (loot, mut calls) = (Loot::take(&system, "counted")?, Vec::new());
    for kind in 0..KINDS.len() {
        let asking = try_join_all((0..SAMPLES).map(|n| attack(&system, &loot, kind, n, "counted")));
        calls.push(system.redis_calls(asking).await?);
        stage.step();
    }
    stage.done("counted");

    let stage = Stage::spinner("Honest buyers alone");
    let (_all, begun) = watch::channel(plan.honest);
    let calm = honest(&system, "calm", plan.honest, begun).await?;
    stage.done(format!("{} of {} ordered", calm.ordered, plan.honest));

    let (begin, begun) = watch::channel(0);
    let start = Instant::now();
    let (answers, flooded) = join(flood(&system, plan, begin), honest(&system, "flooded", plan.honest, begun)).await;
    let (answers, flooded, took) = (answers?, flooded?, start.elapsed());

    println!("\nThe flood: {} requests in {:.1} s", plan.honest * plan.flood, took.as_secs_f64());
    println!("{:<22} {:<22} {:>9} {:>24}", "kind", "answer", "requests", "calls to Redis each");
    for ((kind, answer), count) in &answers {
        let each = calls[*kind] as f64 / SAMPLES as f64;
        println!("{:<22} {answer:<22} {count:>9} {each:>24.3}", KINDS[*kind]);
    }
    println!("\n{:<22} {:>12} {:>12} {:>12}", "honest buyers", "ordered", "p50 ms", "p99 ms");
    for (name, Honest { ordered, latency_us, answers }) in [("alone", &calm), ("in the flood", &flooded)] {
        let at = |quantile| latency_us.value_at_quantile(quantile) as f64 / 1000.0;
        println!(
            "{name:<22} {:>12} {:>12.2} {:>12.2}   {answers:?}",
            format!("{ordered}/{}", plan.honest),
            at(0.5),
            at(0.99)
        );
    }
    anyhow::ensure!(flooded.ordered == plan.honest, "the flood kept honest buyers out");
    system.check_history("flood", &["calm", "flooded", "counted"]).await
}
