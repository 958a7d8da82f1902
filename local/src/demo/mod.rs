//! A flash sale from its opening to its audit.

mod crowd;
mod hold;
mod report;
mod rush;
mod settle;

use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::Result;
use clap::Args;
use command_line::whole;
use load::Curve;

use crate::client::{Client, NewSale};
use crate::demo::crowd::Crowd;
use crate::demo::report::Report;
use crate::setup::start_while;
use crate::stages::Stage;
use crate::web::operators_url;

/// The sale that is staged.
const SALE: &str = "lamp";
/// Its only round.
const ROUND: &str = "lamp.1";
/// Time between publishing and opening: enough to warm up, and for some to come too early.
const OPENS_IN_S: i64 = 4;
/// Likewise, if somebody watches: time to open the pages.
const HELD_OPENS_IN_S: i64 = 45;
/// Seconds to pay: short, so that what is not paid is sold again soon; and longer, if a person pays too.
const PAYMENT_WINDOW_S: u32 = 15;
const HELD_PAYMENT_WINDOW_S: u32 = 60;
/// How long the sale stays open when everybody has come and everybody's time to pay has passed, twice.
const STAYS_OPEN_S: i64 = 60 * 60;

/// What is staged.
#[derive(Debug, Clone, Args)]
pub struct Plan {
    /// Units on sale
    #[arg(long, env = "UNITS", default_value_t = 1_000, value_parser = whole(1..=10_000_u32))]
    units: u32,
    /// People who want one
    #[arg(long, env = "BUYERS", default_value_t = 20_000, value_parser = whole(1..=100_000_u32))]
    buyers: u32,
    /// Of them, how many come in a second on the whole: most come at the opening
    #[arg(long, env = "RATE", default_value_t = 600, value_parser = whole(1..=20_000_u32))]
    rate: u32,
    /// Seconds that an order waits for its payment: 15, or 60 with --hold
    #[arg(long, env = "PAYMENT_WINDOW_S", value_parser = whole(5..=3_600_u32))]
    payment_window_s: Option<u32>,
    /// Wait for Enter before the stampede, and keep everything open until Ctrl-C
    #[arg(long, env = "HOLD", value_parser = clap::builder::FalseyValueParser::new())]
    hold: bool,
    /// Take the functions as they are built
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

    fn open_s(&self) -> i64 {
        i64::from(self.buyers / self.rate) + 2 * i64::from(self.payment_window_s()) + STAYS_OPEN_S
    }

    const fn opens_in_s(&self) -> i64 {
        if self.hold { HELD_OPENS_IN_S } else { OPENS_IN_S }
    }
}

/// Stages a flash sale on a cloud of its own and reports. Fails if a unit is oversold, lost or duplicated.
///
/// # Errors
/// If the system cannot be set up or does not settle.
pub async fn run_demo(plan: &Plan) -> Result<ExitCode> {
    let rush_plan = plan.rush()?;
    // Tokens take a while to sign, and so does the deployment.
    let (signed, cloud, web) = start_while(plan.built, |issuer| crowd::sign_tokens(issuer, plan.buyers)).await?;
    let crowd = Crowd::gather(plan, &cloud, signed).await?;
    let stage = Stage::spinner("Publishing the sale");
    let client = Client::new(&cloud.deployment.api_url)?;
    let sale = NewSale::opening_in(SALE, plan.opens_in_s(), plan.open_s(), plan.units, plan.payment_window_s());
    let operator = cloud.issuer.operator_token("operator")?;
    client.open_sale(&operator, &sale).await?;
    client.show_sale(&operator, &sale).await?;
    cloud.deployment.invoke(&cloud.deployment.warmup_function).await?;
    stage.done(format!("{} units, opening in {} s", plan.units, plan.opens_in_s()));
    eprintln!("\n  Shop       {}\n  Operators  {}\n", web.url(), operators_url(&web.url(), SALE));
    if plan.hold {
        hold::until_enter().await;
    }

    // Who has a unit pays, or not, while the others are still rushing.
    let rush_is_over = AtomicBool::new(false);
    let rush = async {
        let outcome = rush::rush(&crowd, &rush_plan).await;
        rush_is_over.store(true, Ordering::Release);
        outcome
    };
    let (rushed, settled) = futures::future::join(rush, settle::pay_and_resell(&crowd, &rush_is_over, plan.hold)).await;
    settled?;
    let report = Report::make(plan, &crowd, &rushed, &cloud).await?;
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
