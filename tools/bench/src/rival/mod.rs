//! Ours beside a Node service that does what tutorials do: in turns, by the same clients, each request with a token.

mod sellers;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use clap::Args;
use load::measure::closed;
use load::{Client, Request};
use local::identity::Bearer;
use local::stages::Stage;

use crate::report::figure::{Line, both};
use crate::report::page::of_lines;
use sellers::{CLIENTS, NodeService, Seller, UpSystem, prepare};

/// How often a buyer asks again if a service is too busy, and the pause if it names none.
const TRIES: usize = 20;
const PAUSE: Duration = Duration::from_millis(200);
/// How long orders may take after a round, and how often to look.
const ORDERED_WITHIN: Duration = Duration::from_secs(180);
const POLL_EVERY: Duration = Duration::from_secs(1);

#[derive(Debug, Args)]
pub(crate) struct Plan {
    /// Buyers in a round
    #[arg(long, default_value_t = 10_000, value_parser = command_line::whole(2..=100_000_u32))]
    buyers: u32,
    /// Measured rounds of each kind, after one to warm up
    #[arg(long, default_value_t = 5, value_parser = command_line::whole(1..=100_u32))]
    rounds: u32,
}

impl Plan {
    /// For the report: each of its runs has this many rounds of each kind.
    pub(crate) const fn new(buyers: u32, rounds: u32) -> Self {
        Self { buyers, rounds }
    }
}

/// Which buyers of a round get a unit.
struct Kind {
    /// A part of the names of its sales.
    name: &'static str,
    units: fn(usize) -> usize,
    /// The name and the text of its line in the report, and the least ratio.
    line: (&'static str, &'static str, f64),
}

const KINDS: [Kind; 3] = [
    Kind {
        name: "mixed",
        units: |buyers| buyers / 2,
        line: ("rival_mixed", "`make up` over HTTP, units for half of the buyers", 3.0),
    },
    Kind { name: "sold-out", units: |_| 0, line: ("rival_sold_out", "likewise, sold out", 3.0) },
    Kind { name: "winners", units: |buyers| buyers, line: ("rival_winners", "likewise, everybody gets a unit", 1.5) },
];

pub(crate) async fn run(plan: &Plan) -> Result<()> {
    println!("\n{}", of_lines(&lines(plan).await?, 1));
    Ok(())
}

/// Answers a second of ours, as ratios to the rival's.
pub(crate) async fn lines(plan: &Plan) -> Result<Vec<Line>> {
    tokio::task::spawn_blocking(prepare).await??;
    let stage = Stage::spinner("Starting ours and a rival");
    let ours = UpSystem::start().await?;
    let issuer = ours.issuer.clone();
    // Ends before the issuer of its tokens.
    let rival = tokio::task::spawn_blocking(move || NodeService::start(&issuer)).await??;
    stage.done(format!("{} and {}", ours.client().target().url(), rival.client().target().url()));

    let stage = Stage::steps("Ours and a rival, in turns", (plan.rounds as usize + 1) * KINDS.len());
    let mut measured = KINDS.map(|_| [const { Vec::new() }; 2]);
    for round in 0..=plan.rounds {
        for (kind, into) in KINDS.iter().zip(&mut measured) {
            let sale = format!("{}-{round}", kind.name);
            // One more, whose request warms the sale up.
            let buyers = ours.issuer.bearers((0..=plan.buyers).map(|n| format!("{sale}-{n}"))).await?;
            let own = async { one(&ours, kind, &sale, &buyers).await.context("ours") };
            let its = async { one(&rival, kind, &sale, &buyers).await.context("the rival") };
            let rates = both(round as usize, own, its).await?;
            if round > 0 {
                into.iter_mut().zip(rates).for_each(|(into, per_s)| into.push(per_s));
            }
            stage.step();
        }
    }
    let line = |(kind, [ours, rival]): (&Kind, [Vec<f64>; 2])| {
        let (name, what, least) = kind.line;
        let against = "a plain Node service (`tools/bench/rival`)";
        Line::rates(name, what, against, [&ours, &rival], "answers/s").at_least(least)
    };
    let lines: Vec<Line> = KINDS.iter().zip(measured).map(line).collect();
    stage.done(lines.iter().map(|line| format!("{} × {}", line.name, line.value())).collect::<Vec<_>>().join(", "));
    Ok(lines)
}

/// One round of one side: its answers a second.
async fn one(seller: &impl Seller, kind: &Kind, sale: &str, buyers: &[Bearer]) -> Result<f64> {
    let (first, others) = buyers.split_first().context("no buyers")?;
    let units = (kind.units)(others.len());
    seller.offer(sale, units + 1).await?;
    let client = Arc::clone(seller.client());
    // Whatever the first request for a sale has to look up is not measured.
    ensure!(reserve(&client, 0, &seller.request(sale, first)?).await?, "{sale}: no unit for the first buyer");

    let requests = others.iter().map(|buyer| seller.request(sale, buyer)).collect::<Result<Vec<Request>>>()?;
    let won = Arc::new(AtomicUsize::new(0));
    let shared = (client, requests, Arc::clone(&won));
    let load = closed(CLIENTS, others.len(), shared, |shared, connection, n| async move {
        let (client, requests, won) = &*shared;
        let has_won = reserve(client, connection, &requests[n]).await?;
        won.fetch_add(usize::from(has_won), Ordering::Relaxed);
        Ok(())
    });
    let load = load.await?;
    let won = won.load(Ordering::Relaxed);
    ensure!(won == units, "{sale}: {won} of {} buyers won, for {units} units", others.len());
    all_ordered(seller, sale, units as u64 + 1).await?;
    Ok(load.throughput())
}

/// Whether a buyer gets a unit.
async fn reserve(client: &Client, connection: usize, request: &Request) -> Result<bool> {
    for _ in 0..TRIES {
        let response = client.send(connection, request).await?;
        match response.status {
            202 => return Ok(true),
            409 if response.answer().code == "sold_out" => return Ok(false),
            503 => tokio::time::sleep(response.retry_after().unwrap_or(PAUSE)).await,
            _ => bail!("an unknown answer, {}: {}", response.answer(), String::from_utf8_lossy(&response.body)),
        }
    }
    bail!("too busy, {TRIES} times")
}

/// Waits until every unit is an order: until then a side still works, and would slow the other one down.
async fn all_ordered(seller: &impl Seller, sale: &str, units: u64) -> Result<()> {
    let began = Instant::now();
    loop {
        // Just after a round it may be too busy to say.
        let found = seller.ordered(sale).await;
        match &found {
            Ok(Some(orders)) if *orders == units => return Ok(()),
            Ok(Some(orders)) => ensure!(*orders < units, "{sale} has {orders} orders for {units} units"),
            _ => {}
        }
        ensure!(began.elapsed() < ORDERED_WITHIN, "{sale} has not {units} orders in time: {found:?}");
        tokio::time::sleep(POLL_EVERY).await;
    }
}
