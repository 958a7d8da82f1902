//! `reserve.lua` against the bare script: the same clients on the same server, in turns.

use anyhow::Result;
use load::measure::Load;
use local::stages::Stage;

use super::effort::Effort;
use super::figure::Line;
use super::measured::Report;
use super::rivals::{Ring, Rival, SALE};

const CLIENTS: usize = 64;
/// Below these the script does more work than the design needs.
const WINNERS: f64 = 0.80;
const SOLD_OUT: f64 = 0.95;

/// One script's results of all rounds.
#[derive(Default)]
struct Side {
    throughputs: Vec<f64>,
    server_us: Vec<f64>,
}

pub(crate) async fn measure(effort: &Effort, report: &mut Report) -> Result<()> {
    let ring = Ring::open().await?;
    for (name, title, winners, reach) in [
        ("reserve_winners", "`reserve`, winners, 64 clients", true, WINNERS),
        ("reserve_sold_out", "`reserve`, sold out, 64 clients", false, SOLD_OUT),
    ] {
        let stage = Stage::steps(if winners { "Winners" } else { "Sold out" }, effort.rounds + 1);
        let mut sides = [Rival::Reserve, Rival::Bare].map(|rival| (rival, Side::default()));
        for round in 0..=effort.rounds {
            // The second one has a warmer machine, so the two alternate.
            if round % 2 == 1 {
                sides.reverse();
            }
            for (rival, side) in &mut sides {
                let load = one(&ring, *rival, winners, effort.calls).await?;
                let server_us = ring.take_script_us().await?;
                if round > 0 {
                    side.throughputs.push(load.throughput());
                    side.server_us.push(server_us);
                }
            }
            if round % 2 == 1 {
                sides.reverse();
            }
            stage.step();
        }
        let [(_, reserve), (_, bare)] = sides;
        let rates = [&*reserve.throughputs, &*bare.throughputs];
        let line = Line::rates(name, title, "the bare script, throughput", rates, "calls/s").at_least(reach);
        stage.done(line.value());
        report.lines.push(line);
        let (what, times) = (format!("{title}: Valkey's own time"), [&*reserve.server_us, &*bare.server_us]);
        let name = if winners { "reserve_winners_server" } else { "reserve_sold_out_server" };
        report.lines.push(Line::times(name, what, "the bare script's", times, "µs a call"));
    }
    Ok(())
}

async fn one(ring: &Ring, rival: Rival, winners: bool, calls: usize) -> Result<Load> {
    ring.empty().await?;
    ring.offer(rival, SALE, if winners { calls as u32 } else { 0 }).await?;
    ring.take_script_us().await.ok();
    let connections = ring.connections(CLIENTS).await?;
    // Built in advance, so that only the call is measured.
    let calls: Vec<redis::Cmd> = (0..calls).map(|n| ring.call(rival, SALE, &format!("buyer-{n}"))).collect();
    Ring::closed(connections, calls, if winners { "reserved" } else { "sold_out" }).await
}
