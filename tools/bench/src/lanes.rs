//! One busy sale on different numbers of lanes: what a lane costs Redis.
//!
//! All lanes are on one Valkey, since two cores cannot run several side by side. The measurement is Redis's work per reservation,
//! which does not grow with the lanes. With a shard for each lane, that many times more scripts fit into a second.

use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use clap::Args;
use load::measure::closed;
use local::stages::Stage;
use sale::{BuyerClass, Lane, RoundId, RoundNumber, Terms, UserId};
use stock::{Reserve, Stock};
use uuid::Uuid;

use crate::report::figure::{median, ratios};
use crate::report::page::table;
use crate::report::rivals::{Ring, terms, unsold};

const CLIENTS: usize = 64;
const LANES: [u16; 4] = [1, 2, 4, 8];

#[derive(Debug, Args)]
pub(crate) struct Plan {
    /// Units of a round, and as many buyers
    #[arg(long, default_value_t = 20_000, value_parser = command_line::whole(1_000..=1_000_000_u32))]
    units: u32,
    /// Measured rounds of each kind, after one to warm up
    #[arg(long, default_value_t = 9, value_parser = command_line::whole(1..=100_u32))]
    rounds: u32,
}

/// What is printed of one number of lanes. The ratios are medians of those to the same round with one lane.
const COLUMNS: [&str; 8] = [
    "lanes",
    "users at home",
    "throughput, × one lane",
    "winners/s",
    "scripts a CPU second of Redis",
    "winners a CPU second",
    "scripts each",
    "transfers",
];

struct Measured {
    per_s: f64,
    cpu_s: f64,
    scripts: u64,
    transfers: u32,
}

pub(crate) async fn run(plan: &Plan) -> Result<()> {
    let ring = Ring::open().await?;
    let kinds: Vec<(u16, bool)> = LANES.iter().map(|lanes| (*lanes, false)).chain([(8, true)]).collect();
    let mut rounds: Vec<Vec<Measured>> = kinds.iter().map(|_| Vec::new()).collect();
    let stage = Stage::steps("Lanes, in turns", (plan.rounds as usize + 1) * kinds.len());
    let mut number = 0;
    for round in 0..=plan.rounds {
        for (kind, into) in kinds.iter().zip(&mut rounds) {
            number += 1;
            let measured = one(&ring, RoundNumber(number), plan.units, *kind).await?;
            if round > 0 {
                into.push(measured);
            }
            stage.step();
        }
    }
    stage.done(format!("{} rounds of {} units each", plan.rounds, plan.units));
    let rows = kinds.iter().zip(&rounds).map(|(kind, measured)| row(*kind, measured, &rounds[0], plan.units));
    println!("\n{}", table(COLUMNS, rows));
    Ok(())
}

async fn one(ring: &Ring, number: RoundNumber, units: u32, (lanes, skewed): (u16, bool)) -> Result<Measured> {
    ring.empty().await?;
    let stock = Arc::new(Stock::new(&ring.valkey.url())?);
    let id = RoundId { sale: "lamp".parse()?, number };
    let load = unsold(Terms { lanes, ..terms(units)? });
    let round = stock.round_in(&id, lanes);
    let is_loaded = if lanes == 1 { round.load(&load).await? } else { round.load_lanes(&load, units).await? };
    ensure!(is_loaded, "the round was there already");
    let users = (0..).map(|n| format!("buyer-{n}").parse::<UserId>());
    let users: Result<Vec<UserId>, _> = users
        .filter(|user| user.as_ref().is_ok_and(|user| !skewed || Lane::home_of(user, lanes).index() == 0))
        .take(units as usize)
        .collect();
    let (scripts, cpu_s) = (ring.scripts_run().await?, cpu_s(ring).await?);
    let shared = (Arc::clone(&stock), id.clone(), users?);
    let load = closed(CLIENTS, units as usize, shared, move |shared, _, n| async move {
        let (stock, id, users) = &*shared;
        let answer = stock.round_in(id, lanes).reserve(Uuid::now_v7(), &users[n], BuyerClass::EVERYONE).await?;
        ensure!(matches!(answer, Reserve::Reserved(_)), "{answer:?} while units are free");
        Ok(())
    });
    let load = load.await?;
    let counters = round.counters().await?.context("the round is gone")?;
    ensure!(counters.free() == 0, "{} units are left", counters.free());
    Ok(Measured {
        per_s: load.throughput(),
        cpu_s: self::cpu_s(ring).await? - cpu_s,
        scripts: ring.scripts_run().await? - scripts,
        transfers: round.transfers_given().await?,
    })
}

/// CPU seconds that Redis has used.
async fn cpu_s(ring: &Ring) -> Result<f64> {
    let (user, system) = (ring.info("used_cpu_user").await?, ring.info("used_cpu_sys").await?);
    Ok(user.parse::<f64>()? + system.parse::<f64>()?)
}

fn row((lanes, skewed): (u16, bool), rounds: &[Measured], one_lane: &[Measured], units: u32) -> [String; 8] {
    let per_s = |rounds: &[Measured]| rounds.iter().map(|round| round.per_s).collect::<Vec<_>>();
    let of = |figure: &dyn Fn(&Measured) -> f64| median(&rounds.iter().map(figure).collect::<Vec<_>>());
    [
        lanes.to_string(),
        // With all in the first lane, that gets units from the others.
        if skewed { "all in one lane" } else { "in all lanes" }.to_owned(),
        format!("{:.2}", median(&ratios(&per_s(rounds), &per_s(one_lane)))),
        format!("{:.0}", of(&|round| round.per_s)),
        format!("{:.0}", of(&|round| round.scripts as f64 / round.cpu_s)),
        format!("{:.0}", of(&|round| f64::from(units) / round.cpu_s)),
        format!("{:.3}", of(&|round| round.scripts as f64 / f64::from(units))),
        rounds.iter().map(|round| round.transfers).max().unwrap_or(0).to_string(),
    ]
}
