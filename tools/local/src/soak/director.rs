//! Runs the program: each event at its time, whatever else is happening.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Result, bail};
use sale::{RoundId, RoundNumber};
use serde_json::json;
use tokio::task::JoinSet;

use super::board::OnSale;
use super::operator::{DAILY, OPENS_IN_S};
use super::program::{Event, PAUSE_S, What};
use super::run::{Done, Run};
use crate::client::NewSale;

/// Seconds to pay: short, so that unpaid units are sold again soon.
pub(super) const PAYMENT_WINDOW_S: u32 = 15;
/// How long before the next day a day ends.
const NIGHT_S: f64 = 3.0;
/// How long to wait for a process of a function to kill: schedules run every minute.
const KILL_TRIES: u32 = 360;
const KILL_PAUSE: Duration = Duration::from_millis(250);

/// How long the daily sale is open on a day.
fn open_s(run: &Run) -> f64 {
    run.program.day_s - NIGHT_S - OPENS_IN_S as f64
}

fn announce(run: &Run, round: RoundId, lanes: u16, open_s: f64, made_ns: u64) {
    let opens_s = run.now_s();
    run.board.add(OnSale { round, lanes, opens_s, closes_s: opens_s + open_s, made_ns });
}

pub(super) async fn open_first_day(run: &Run) -> Result<()> {
    let (open_s, made_ns) = (open_s(run), run.recorder.now_ns());
    let sale = NewSale::opening_in(DAILY, OPENS_IN_S, open_s as i64, run.program.units, PAYMENT_WINDOW_S);
    run.operator.open(&sale, true).await?;
    announce(run, day(1), 1, open_s, made_ns);
    Ok(())
}

fn day(number: u32) -> RoundId {
    RoundId { sale: DAILY.parse().expect("a sale's id"), number: RoundNumber(number) }
}

fn drop_id(number: usize) -> String {
    format!("drop-{number}")
}

/// Runs every event. Returns when all were tried.
pub(super) async fn direct(run: &Arc<Run>) {
    let mut under_way = JoinSet::new();
    let mut days = 1;
    for (number, Event { at_s, what }) in run.program.events.clone().into_iter().enumerate() {
        tokio::time::sleep_until(run.at(at_s)).await;
        if what == What::NextDay {
            days += 1;
        }
        let (run, today) = (Arc::clone(run), days);
        under_way.spawn(async move {
            let (kind, said) = (what.kind(), what.to_string());
            let found = carry_out(&run, &what, &format!("soak-{number}"), today).await;
            let (succeeded, found) = match found {
                Ok(found) => (true, found),
                Err(error) => (false, format!("{error:#}")),
            };
            let mark = if succeeded { "·" } else { "✗" };
            run.journal.tell(run.now_s(), &format!("{mark} {said}: {found}"));
            run.noted.lock().done.push(Done { at_s, kind, what: said, found, succeeded });
        });
    }
    under_way.join_all().await;
}

async fn carry_out(run: &Run, what: &What, key: &str, today: u32) -> Result<String> {
    let (operator, now_s) = (&run.operator, || run.now_s());
    match what {
        What::NextDay => {
            let made_ns = run.recorder.now_ns();
            operator.next_day(RoundNumber(today), open_s(run)).await?;
            announce(run, day(today), 1, open_s(run), made_ns);
            Ok(format!("round {today}"))
        }
        What::OpenDrop { number, units, lanes, open_s } => {
            let made_ns = run.recorder.now_ns();
            let sale = NewSale::opening_in(&drop_id(*number), OPENS_IN_S, (*open_s).into(), *units, PAYMENT_WINDOW_S);
            let sale = NewSale { lanes: *lanes, ..sale };
            operator.open(&sale, false).await?;
            announce(run, sale.first_round()?, *lanes, f64::from(*open_s), made_ns);
            Ok("open".to_owned())
        }
        What::CloseDrop { number } => {
            let round = run.board.open(&drop_id(*number), now_s).await?;
            operator.update(&round, "close", key, json!({})).await?;
            run.board.closed(&round, run.now_s());
            Ok("closed".to_owned())
        }
        What::Restock { units } => {
            let round = run.board.open(DAILY, now_s).await?;
            operator.update(&round, "restock", key, json!({ "units": units })).await?;
            Ok(round.to_string())
        }
        What::Edit => {
            let round = run.board.open(DAILY, now_s).await?;
            operator.retitle(&round, key, &format!("Lamp of {}", round.number)).await?;
            Ok(round.to_string())
        }
        What::Pause => {
            let round = run.board.open(DAILY, now_s).await?;
            operator.update(&round, "pause", &format!("{key}-pause"), json!({})).await?;
            tokio::time::sleep(Duration::from_secs_f64(PAUSE_S)).await;
            operator.update(&round, "resume", &format!("{key}-resume"), json!({})).await?;
            Ok(round.to_string())
        }
        What::Kill { function } => kill(run, function).await,
        What::Failover { losing } => {
            run.system.fail_over(*losing, || run.redis_dies(*losing)).await?;
            Ok("back".to_owned())
        }
        What::Deploy => {
            let scripts = run.system.deploy_changed().await?;
            let said = format!("reserve.lua was {} and is {}", &scripts.old[..8], &scripts.new[..8]);
            run.noted.lock().scripts = Some(scripts);
            Ok(said)
        }
        What::Retire => {
            run.system.retire_old();
            Ok("no more requests".to_owned())
        }
    }
}

/// Waits for a process if need be: a function that runs on a schedule may have none right now.
async fn kill(run: &Run, function: &str) -> Result<String> {
    for _ in 0..KILL_TRIES {
        let killed = run.system.kill(function);
        if killed > 0 {
            run.noted.lock().killed += killed;
            return Ok(format!("{killed} killed"));
        }
        // The function for operators starts when an operator sends a request.
        run.operator.look().await?;
        tokio::time::sleep(KILL_PAUSE).await;
    }
    bail!("it had no process for {} s", (KILL_PAUSE * KILL_TRIES).as_secs())
}
