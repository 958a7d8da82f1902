//! Stages a flash sale from its opening to its audit. [`kinds`] has what only some kinds of sales have.

mod crowd;
mod draw;
mod figures;
mod kinds;
mod plan;
mod report;
mod rush;
mod settle;

use std::io::{IsTerminal, stdin};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Result;
use command_line::of_these;
use tokio::sync::oneshot;

use crate::client::NewSale;
use crate::demo::crowd::Crowd;
use crate::demo::kinds::{Downpour, InLine, Lottery, MembersFirst, Prizes, RedPacket, Sale, Staged};
use crate::demo::plan::Kind;
use crate::identity::Issuer;
use crate::setup::start_while;
use crate::stages::Stage;
use crate::web::operators_url;

pub use plan::Plan;

/// Stages a sale on its own cloud and reports: failure, if a unit is oversold, lost or duplicated, or a sum wrong.
pub async fn run_demo(plan: &Plan) -> Result<ExitCode> {
    match plan.kind {
        Kind::Sale => stage::<Sale>(plan).await,
        Kind::RedPacket => stage::<RedPacket>(plan).await,
        Kind::Prizes => stage::<Prizes>(plan).await,
        Kind::Lottery => stage::<Lottery>(plan).await,
        Kind::Rain => stage::<Downpour>(plan).await,
        Kind::EarlyAccess => stage::<MembersFirst>(plan).await,
        Kind::Line => stage::<InLine>(plan).await,
    }
}

async fn stage<K: Staged>(plan: &Plan) -> Result<ExitCode> {
    let rush_plan = K::rush(plan)?;
    // Signing tokens and deploying both take a while.
    let names = (0..plan.buyers).map(|number| format!("buyer-{number:06}"));
    let signing = |issuer: Issuer| async move { issuer.bearers(names).await };
    let (bearers, cloud, web) = start_while(plan.built, signing).await?;
    let offer = NewSale { lanes: plan.lanes, ..K::offer(plan) };
    let crowd = Crowd::gather(plan, offer, &cloud, bearers, K::turn).await?;
    let stage = Stage::spinner("Publishing the sale");
    K::prepare(&crowd).await?;
    crowd.operator.open_sale(&crowd.offer).await?;
    crowd.operator.show_sale(&crowd.offer).await?;
    cloud.deployment.invoke(&cloud.deployment.warmup_function).await?;
    stage.done(format!("{}, opening in {} s", of_these(plan.units.into(), "unit"), plan.opens_in_s()));
    let sale = crowd.round.sale.as_str();
    eprintln!("\n  Shop       {}\n  Operators  {}\n", web.url(), operators_url(&web.url(), sale));
    if plan.hold {
        until_enter().await;
    }

    // People with a unit pay, or not, while the others are still rushing.
    let rush_is_over = AtomicBool::new(false);
    let rush = async {
        let outcome = K::come(&crowd, &rush_plan).await;
        rush_is_over.store(true, Ordering::Release);
        outcome
    };
    let settling = settle::settle(&crowd, &rush_is_over);
    let (rushed, settled, updates) = futures::future::join3(rush, settling, K::update(&crowd)).await;
    settled?;
    let updates = updates?;
    K::end(&crowd).await?;
    let report = report::report::<K>(&crowd, &rushed, &updates, &cloud).await?;
    let facts = serde_json::to_string_pretty(&report.facts)?;
    report::write(&facts)?;
    println!("{}", if plan.json { facts } else { report.text });
    if plan.hold {
        eprintln!("\nEverything stays open until Ctrl-C.");
        return std::future::pending().await;
    }
    Ok(if report.is_right { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Waits for Enter, if there is a terminal.
async fn until_enter() {
    if !stdin().is_terminal() {
        return;
    }
    eprintln!("  Open the pages, then press Enter: the crowd comes at the opening, or at once if that is over.\n");
    let (pressed, wait) = oneshot::channel();
    // A separate thread: the runtime would wait for a blocked one of its own before the program could end.
    std::thread::spawn(move || {
        let _ = stdin().read_line(&mut String::new());
        let _ = pressed.send(());
    });
    let _ = wait.await;
}
