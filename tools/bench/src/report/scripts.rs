//! `reserve.lua` against the bare script: the same clients on the same server, in turns.

use anyhow::Result;
use load::measure::Load;
use local::stages::Stage;

use super::effort::Effort;
use super::figure::{Line, both, in_turns};
use super::measured::Report;
use super::rivals::{Ring, Rival, SALE};

const CLIENTS: usize = 64;
/// Below these the script does more work than the design needs.
const WINNERS: f64 = 0.80;
const SOLD_OUT: f64 = 0.95;

pub(crate) async fn measure(effort: &Effort, report: &mut Report) -> Result<()> {
    let ring = &Ring::open().await?;
    for ([name, server_name], title, winners, reach) in [
        (["reserve_winners", "reserve_winners_server"], "`reserve`, winners, 64 clients", true, WINNERS),
        (["reserve_sold_out", "reserve_sold_out_server"], "`reserve`, sold out, 64 clients", false, SOLD_OUT),
    ] {
        let stage = Stage::steps(if winners { "Winners" } else { "Sold out" }, effort.rounds + 1);
        let side = async |rival| {
            let load = one(ring, rival, winners, effort.calls).await?;
            anyhow::Ok([load.throughput(), ring.take_script_us().await?])
        };
        let sides = async |round: usize| {
            let [[reserve, reserve_us], [bare, bare_us]] = both(round, side(Rival::Reserve), side(Rival::Bare)).await?;
            anyhow::Ok([reserve, bare, reserve_us, bare_us])
        };
        let [reserve, bare, reserve_us, bare_us] = in_turns(effort.rounds, &stage, sides).await?;
        let line =
            Line::rates(name, title, "the bare script, throughput", [&reserve, &bare], "calls/s").at_least(reach);
        stage.done(line.value());
        report.lines.push(line);
        let (what, times) = (format!("{title}: Valkey's own time"), [&*reserve_us, &*bare_us]);
        report.lines.push(Line::times(server_name, what, "the bare script's", times, "µs a call"));
    }
    Ok(())
}

async fn one(ring: &Ring, rival: Rival, winners: bool, calls: usize) -> Result<Load> {
    ring.empty().await?;
    ring.offer(rival, SALE, if winners { calls as u32 } else { 0 }).await?;
    ring.take_script_us().await.ok();
    let connections = futures::future::try_join_all((0..CLIENTS).map(|_| ring.connection())).await?;
    // Built in advance, so that only the call is measured.
    let calls: Vec<redis::Cmd> = (0..calls).map(|n| ring.call(rival, SALE, &format!("buyer-{n}"))).collect();
    Ring::closed(connections, calls, if winners { "reserved" } else { "sold_out" }).await
}
