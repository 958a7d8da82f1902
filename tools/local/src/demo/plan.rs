use std::time::Duration;

use anyhow::Result;
use clap::{Args, ValueEnum};
use command_line::whole;
use load::Curve;
use serde::Serialize;

use crate::client::NewSale;

/// Time between publishing and opening, in seconds: enough to warm up, and for some people to come too early.
const OPENS_IN_S: i64 = 4;
/// The same if a person watches: time to open the pages.
const HELD_OPENS_IN_S: i64 = 45;
/// Seconds to pay: short, so that unpaid units are sold again soon; and longer if a person pays too.
const PAYMENT_WINDOW_S: u32 = 15;
const HELD_PAYMENT_WINDOW_S: u32 = 60;
/// How long the sale stays open, in seconds: longer than everybody takes to come and to pay, twice.
const STAYS_OPEN_S: i64 = 60 * 60;

/// The kind of sale to stage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Kind {
    /// Units for money; unpaid units are sold again
    Sale,
    /// An amount of money in random parts, one for each person who is in time
    RedPacket,
    /// Tickets, some of which win a prize at once
    Prizes,
    /// Entries, among which the prizes are drawn once the sale is over
    Lottery,
    /// Free units that become available over time, at a rate that changes
    Rain,
    /// Units for money, with early access and a quota for members
    EarlyAccess,
    /// Units for money, with a line: most people get a ticket before the opening, and chance decides their order
    Line,
}

#[derive(Debug, Clone, Args)]
pub struct Plan {
    /// The kind of sale
    #[arg(long, env = "KIND", value_enum, default_value_t = Kind::Sale)]
    pub(super) kind: Kind,
    /// Units on sale
    #[arg(long, env = "UNITS", default_value_t = 1_000, value_parser = whole(1..=10_000_u32))]
    pub(super) units: u32,
    /// People who want one
    #[arg(long, env = "BUYERS", default_value_t = 20_000, value_parser = whole(1..=100_000_u32))]
    pub(super) buyers: u32,
    /// Roughly how many of them come in a second: most come at the opening
    #[arg(long, env = "RATE", default_value_t = 1_600, value_parser = whole(1..=20_000_u32))]
    pub(super) rate: u32,
    /// Lanes that the units are dealt to, if the kind can have several
    #[arg(long, env = "LANES", default_value_t = 1, value_parser = whole(1..=16_u16))]
    pub(super) lanes: u16,
    /// Seconds that an order waits for its payment: 15, or 60 with --hold
    #[arg(long, env = "PAYMENT_WINDOW_S", value_parser = whole(5..=3_600_u32))]
    pub(super) payment_window_s: Option<u32>,
    /// Wait for Enter before the stampede, and keep everything open until Ctrl-C
    #[arg(long, env = "HOLD", value_parser = clap::builder::FalseyValueParser::new())]
    pub(super) hold: bool,
    /// Use the functions as they are, without building them
    #[arg(long)]
    pub(super) built: bool,
    /// Print the report as JSON
    #[arg(long)]
    pub(super) json: bool,
}

impl Plan {
    pub(super) fn payment_window_s(&self) -> u32 {
        self.payment_window_s.unwrap_or(if self.hold { HELD_PAYMENT_WINDOW_S } else { PAYMENT_WINDOW_S })
    }

    pub(super) fn rush(&self) -> Result<load::Plan> {
        let over = Duration::from_secs_f64(f64::from(self.buyers) / f64::from(self.rate));
        load::Plan::new(self.buyers as usize, over, Curve::Rush)
    }

    /// A sale for this plan, before its kind changes it.
    pub(super) fn sale(&self, id: &str) -> NewSale {
        NewSale::opening_in(id, self.opens_in_s(), self.open_s(), self.units, self.payment_window_s())
    }

    pub(super) fn open_s(&self) -> i64 {
        i64::from(self.buyers / self.rate) + 2 * i64::from(self.payment_window_s()) + STAYS_OPEN_S
    }

    pub(super) const fn opens_in_s(&self) -> i64 {
        if self.hold { HELD_OPENS_IN_S } else { OPENS_IN_S }
    }
}
