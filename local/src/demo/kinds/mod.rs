//! What each kind of sale decides: what is on sale, and what is told and proved of it.

mod early_access;
mod line;
mod lottery;
mod prizes;
mod rain;
mod red_packet;
mod sale;

use std::fmt::Display;
use std::sync::Arc;

use ::sale::{EpochMs, Order, OrderState, RainPlan, RoundId};
use anyhow::{Context, Result};
use clap::ValueEnum;
use ledger::Ledger;
use load::Outcome;
use serde::Serialize;
use tokio::sync::Notify;
use tokio::time::Instant;

use crate::client::{Client, NewSale};
use crate::demo::crowd::{Crowd, Turn};
use crate::demo::{Plan, rush};

pub(super) use early_access::MembersFirst;
pub(super) use line::{InLine, Waiting};
pub(super) use lottery::Lottery;
pub(super) use prizes::Prizes;
pub(super) use rain::Downpour;
pub(super) use red_packet::RedPacket;
pub(super) use sale::Sale;

/// Which kind of sale is staged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Kind {
    /// Units for money: who does not pay gives the unit to somebody else
    Sale,
    /// An amount of money in drawn parts, one for each who is in time
    RedPacket,
    /// Tickets, some of which win a prize at once
    Prizes,
    /// Entries, among which the prizes are drawn once the sale is over
    Lottery,
    /// Free units that become available over time, at a rate that changes
    Rain,
    /// Units for money, which members may buy before everyone else, and some of which are kept for them
    EarlyAccess,
    /// Units for money, with a line in front of them: most have a ticket before the opening, and chance decides their order
    Line,
}

/// A kind of sale. A value of it is the part of the report that this kind alone has: as JSON, and as lines.
pub(super) trait Staged: Serialize + Display + Sized {
    /// What an operator publishes. Who need not pay for it is not asked to.
    fn offer(plan: &Plan) -> NewSale;

    /// Who the buyer of a number is to it.
    fn turn(_: &Plan, _number: usize) -> Turn {
        Turn::Rush
    }

    /// How everybody comes.
    fn rush(plan: &Plan) -> Result<load::Plan> {
        plan.rush()
    }

    /// Lets everybody come. `begins` is told when the first one does.
    async fn come(crowd: &Arc<Crowd>, plan: &load::Plan, begins: &Notify) -> Outcome {
        rush::rush(crowd, plan, begins).await
    }

    /// What an operator does before anybody comes.
    async fn prepare(_: &Client, _operator: &str, _: &Crowd) -> Result<()> {
        Ok(())
    }

    /// What an operator does while they do.
    async fn steer(_: &Desk<'_>) -> Result<Steered> {
        Ok(Steered { began_ms: EpochMs(0), plans: Vec::new() })
    }

    /// What has to happen once all orders are made.
    async fn end(_: &Desk<'_>) -> Result<()> {
        Ok(())
    }

    /// What became of it.
    async fn of(found: &Found<'_>) -> Result<Self>;

    /// Whether every sum and count of this kind is right. That no unit is oversold, lost or duplicated is seen to for all
    /// kinds.
    fn is_right(&self) -> bool;
}

/// What is found when all has settled.
pub(super) struct Found<'a> {
    pub(super) plan: &'a Plan,
    pub(super) crowd: &'a Crowd,
    pub(super) ledger: &'a Ledger,
    /// Every order of the sale.
    pub(super) orders: &'a [Order],
    pub(super) steered: &'a Steered,
}

/// What an operator of the running sale has.
pub(super) struct Desk<'a> {
    pub(super) plan: &'a Plan,
    pub(super) client: &'a Client,
    pub(super) operator: &'a str,
    pub(super) round: &'a RoundId,
    pub(super) ledger: &'a Ledger,
    /// Told once, when the first buyer comes.
    pub(super) begins: &'a Notify,
}

/// What an operator did.
#[derive(Debug)]
pub(super) struct Steered {
    /// When the first buyer came.
    pub(super) began_ms: EpochMs,
    /// Every plan of drops that was in force, the first one first.
    pub(super) plans: Vec<RainPlan>,
}

impl Desk<'_> {
    /// Waits for the first buyer. When that is.
    async fn rush_begins(&self) -> Instant {
        self.begins.notified().await;
        Instant::now()
    }

    /// The plan of drops in force.
    async fn rain_plan(&self) -> Result<RainPlan> {
        let id = self.round;
        let round = self.ledger.round(id).await?.with_context(|| format!("the ledger has no round {id}"))?;
        RainPlan::of_terms(&round.terms).with_context(|| format!("round {id} has no plan of drops"))
    }
}

impl Found<'_> {
    /// Orders that have a unit.
    pub(super) fn live(&self) -> impl Iterator<Item = &Order> {
        self.orders.iter().filter(|order| order.state.is_live())
    }

    /// Orders in this state.
    pub(super) fn count(&self, state: OrderState) -> usize {
        self.orders.iter().filter(|order| order.state == state).count()
    }
}
