//! What each kind of sale decides: what is on sale, and what is told and proved of it.

mod early_access;
mod prizes;
mod red_packet;
mod sale;

use std::fmt::Display;

use ::sale::{Order, OrderState};
use anyhow::Result;
use clap::ValueEnum;
use ledger::Ledger;
use serde::Serialize;

use crate::client::{Client, NewSale};
use crate::demo::Plan;
use crate::demo::crowd::{Crowd, Turn};

pub(super) use early_access::MembersFirst;
pub(super) use prizes::Prizes;
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
    /// Units for money, which members may buy before everyone else, and some of which are kept for them
    EarlyAccess,
}

/// A kind of sale. A value of it is the part of the report that this kind alone has: as JSON, and as lines.
pub(super) trait Staged: Serialize + Display + Sized {
    /// What an operator publishes. Who need not pay for it is not asked to.
    fn offer(plan: &Plan) -> NewSale;

    /// Who the buyer of a number is to it.
    fn turn(_: &Plan, _number: usize) -> Turn {
        Turn::Rush
    }

    /// What an operator does before anybody comes.
    async fn prepare(_: &Client, _operator: &str, _: &Crowd) -> Result<()> {
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
