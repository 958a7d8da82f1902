//! Stages a flash sale from its opening to its audit. [`kinds`] has a file for each kind of sale; everything else is
//! the same for all.

mod crowd;
mod draw;
mod hold;
mod kinds;
mod report;
mod rush;
mod settle;

use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::Result;
use clap::Args;
use command_line::{of_these, whole};
use load::Curve;
use sale::Settlement;
use tokio::sync::Notify;

use crate::client::{Client, NewSale};
use crate::demo::crowd::Crowd;
use crate::demo::kinds::{Desk, Downpour, InLine, Kind, Lottery, MembersFirst, Prizes, RedPacket, Sale, Staged};
use crate::demo::report::Report;
use crate::setup::start_while;
use crate::stages::Stage;
use crate::web::operators_url;

/// Time between publishing and opening, in seconds: enough to warm up, and for some people to come too early.
const OPENS_IN_S: i64 = 4;
/// The same if a person watches: time to open the pages.
const HELD_OPENS_IN_S: i64 = 45;
/// Seconds to pay: short, so that unpaid units are sold again soon; and longer if a person pays too.
const PAYMENT_WINDOW_S: u32 = 15;
const HELD_PAYMENT_WINDOW_S: u32 = 60;
/// How long the sale stays open, in seconds: longer than everybody takes to come and to pay, twice.
const STAYS_OPEN_S: i64 = 60 * 60;

/// What is staged.
#[derive(Debug, Clone, Args)]
pub struct Plan {
    /// The kind of sale
    #[arg(long, env = "KIND", value_enum, default_value_t = Kind::Sale)]
    kind: Kind,
    /// Units on sale
    #[arg(long, env = "UNITS", default_value_t = 1_000, value_parser = whole(1..=10_000_u32))]
    units: u32,
    /// People who want one
    #[arg(long, env = "BUYERS", default_value_t = 20_000, value_parser = whole(1..=100_000_u32))]
    buyers: u32,
    /// Roughly how many of them come in a second: most come at the opening
    #[arg(long, env = "RATE", default_value_t = 1_600, value_parser = whole(1..=20_000_u32))]
    rate: u32,
    /// Lanes that the units are dealt to, if the kind can have several
    #[arg(long, env = "LANES", default_value_t = 1, value_parser = whole(1..=16_u16))]
    lanes: u16,
    /// Seconds that an order waits for its payment: 15, or 60 with --hold
    #[arg(long, env = "PAYMENT_WINDOW_S", value_parser = whole(5..=3_600_u32))]
    payment_window_s: Option<u32>,
    /// Wait for Enter before the stampede, and keep everything open until Ctrl-C
    #[arg(long, env = "HOLD", value_parser = clap::builder::FalseyValueParser::new())]
    hold: bool,
    /// Use the functions as they are, without building them
    #[arg(long)]
    built: bool,
    /// Print the report as JSON
    #[arg(long)]
    json: bool,
}

impl Plan {
    fn payment_window_s(&self) -> u32 {
        self.payment_window_s.unwrap_or(if self.hold { HELD_PAYMENT_WINDOW_S } else { PAYMENT_WINDOW_S })
    }

    /// How everybody comes.
    fn rush(&self) -> Result<load::Plan> {
        let over = Duration::from_secs_f64(f64::from(self.buyers) / f64::from(self.rate));
        Ok(load::Plan::new(self.buyers as usize, over, Curve::Rush)?)
    }

    /// A sale for this plan, before its kind changes it.
    fn sale(&self, id: &str) -> NewSale {
        NewSale::opening_in(id, self.opens_in_s(), self.open_s(), self.units, self.payment_window_s())
    }

    fn open_s(&self) -> i64 {
        i64::from(self.buyers / self.rate) + 2 * i64::from(self.payment_window_s()) + STAYS_OPEN_S
    }

    const fn opens_in_s(&self) -> i64 {
        if self.hold { HELD_OPENS_IN_S } else { OPENS_IN_S }
    }
}

/// Stages a flash sale on its own cloud and reports. Returns failure if a unit is oversold, lost or duplicated, or a
/// sum of its kind is wrong. Fails if the system cannot be set up or does not settle.
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
    let (signed, cloud, web) = start_while(plan.built, |issuer| crowd::sign_tokens(issuer, plan.buyers)).await?;
    let offer = K::offer(plan).in_lanes(plan.lanes);
    let crowd = Crowd::gather(plan, &offer, &cloud, signed, K::turn).await?;
    let stage = Stage::spinner("Publishing the sale");
    let client = Client::new(&cloud.deployment.api_url)?;
    let operator = cloud.issuer.operator_token("operator")?;
    K::prepare(&client, &operator, &crowd).await?;
    client.open_sale(&operator, &offer).await?;
    client.show_sale(&operator, &offer).await?;
    cloud.deployment.invoke(&cloud.deployment.warmup_function).await?;
    stage.done(format!("{}, opening in {} s", of_these(plan.units.into(), "unit"), plan.opens_in_s()));
    let sale = crowd.round.sale.as_str();
    eprintln!("\n  Shop       {}\n  Operators  {}\n", web.url(), operators_url(&web.url(), sale));
    if plan.hold {
        hold::until_enter().await;
    }

    // People with a unit pay, or not, while the others are still rushing.
    let rush_is_over = AtomicBool::new(false);
    let begins = Notify::new();
    let rush = async {
        let outcome = K::come(&crowd, &rush_plan, &begins).await;
        rush_is_over.store(true, Ordering::Release);
        outcome
    };
    let settling = async {
        match crowd.settlement {
            Settlement::Paid => settle::pay_and_resell(&crowd, &rush_is_over, plan.hold).await,
            Settlement::Free => settle::see_orders(&crowd, &rush_is_over).await,
        }
    };
    let ledger = cloud.deployment.ledger();
    let desk =
        Desk { plan, client: &client, operator: &operator, round: &crowd.round, ledger: &ledger, begins: &begins };
    let (rushed, settled, steered) = futures::future::join3(rush, settling, K::steer(&desk)).await;
    settled?;
    let steered = steered?;
    K::end(&desk).await?;
    let report = Report::<K>::make(plan, &crowd, &rushed, &steered, &cloud).await?;
    report.write()?;
    if plan.json {
        println!("{}", report.to_json()?)
    } else {
        println!("{report}")
    }
    if plan.hold {
        eprintln!("\nEverything stays open until Ctrl-C.");
        return std::future::pending().await;
    }
    Ok(if report.is_clean() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
