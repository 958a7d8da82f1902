//! The inputs of a plan.

use std::ops::RangeInclusive;

use anyhow::{Result, ensure};
use command_line::whole;
use jiff::{Span, Timestamp};
use serde::Serialize;

use crate::deployment::PROD;
use crate::quotas::{GATEWAY_REQUESTS, LAMBDA_CONCURRENCY, TABLE_WARM_WRITES};

pub const MAX_UNITS: u32 = sale::MAX_TOTAL;
/// The largest audience. Beyond it no formula here means anything.
pub const MAX_AUDIENCE: u64 = 1_000_000_000;
/// The highest rate of a line, in people a second. No gateway takes more requests.
pub const MAX_ADMITS_PER_S: u32 = 1_000_000;
pub const MAX_LANES: u32 = 16;
/// How many seconds before the opening a line starts to give out tickets, by default.
pub const OPENS_EARLY_S: u32 = 3_600;
/// The bounds of that time.
pub const OPENS_EARLY: RangeInclusive<u32> = 60..=86_400;
/// Today's prices and quotas say nothing about later openings.
pub const MAX_HOURS_AHEAD: i64 = 2 * 366 * 24;

/// Whether there should be a line in front of the sale.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum LineAsked {
    /// If the sale needs one, at the rate that everything behind it can handle.
    #[default]
    Auto,
    No,
    PerS(u32),
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Inputs {
    pub units: u32,
    pub audience: u64,
    pub opens_at: Timestamp,
    pub planned_at: Timestamp,
    pub region: String,
    /// Lanes, unless the planner should choose.
    pub lanes: Option<u32>,
    pub line: LineAsked,
    /// How many seconds before the opening the line starts to give out tickets.
    pub opens_early_s: u32,
}

/// What is assumed about people and functions. Each has a flag.
#[derive(Debug, Clone, PartialEq, Serialize, clap::Parser)]
pub struct Assumptions {
    /// Share of the audience that waits on the page and presses the button at once
    #[arg(long, default_value_t = 0.6, value_parser = within(0.0..=1.0))]
    pub rush_share: f64,
    /// Seconds over which these people press it
    #[arg(long, default_value_t = 10.0, value_parser = within(1.0..=86_400.0))]
    pub rush_s: f64,
    /// The busiest second of the rush, as a multiple of its mean
    #[arg(long, default_value_t = 2.0, value_parser = within(1.0..=100.0))]
    pub peak_factor: f64,
    /// Seconds for which these people have the page open before the opening
    #[arg(long, default_value_t = 300.0, value_parser = within(0.0..=86_400.0))]
    pub wait_s: f64,
    /// Seconds for which a person stays on the page after pressing the button
    #[arg(long, default_value_t = 60.0, value_parser = within(0.0..=86_400.0))]
    pub stay_s: f64,
    /// Challenges per person: one, and another after each wrong answer
    #[arg(long, default_value_t = 1.2, value_parser = within(1.0..=20.0))]
    pub challenges_each: f64,
    /// Answers per person
    #[arg(long, default_value_t = 1.2, value_parser = within(1.0..=20.0))]
    pub answers_each: f64,
    /// Reservations per person
    #[arg(long, default_value_t = 1.1, value_parser = within(1.0..=20.0))]
    pub reservations_each: f64,
    /// Seconds between a challenge and its answer, on average
    #[arg(long, default_value_t = 5.0, value_parser = within(0.1..=3_600.0))]
    pub solve_s: f64,
    /// Share of the requests that get 429 or 503 and are sent again
    #[arg(long, default_value_t = 0.02, value_parser = within(0.0..=0.9))]
    pub again_share: f64,
    /// Share of the people who have to sign in first
    #[arg(long, default_value_t = 0.5, value_parser = within(0.0..=1.0))]
    pub sign_in_share: f64,
    /// How many campaigns with a limit per user the sale belongs to
    #[arg(long, default_value_t = 0, value_parser = whole(0..=10_u32))]
    pub campaign_limits: u32,
    /// How many sales are published at the same time, this one included
    #[arg(long, default_value_t = 20.0, value_parser = within(1.0..=1_000_000.0))]
    pub published_sales: f64,
    /// The size of this sale in the table, in KB: mostly its texts, and what operators did to it
    #[arg(long, default_value_t = 4.0, value_parser = within(0.1..=400.0))]
    pub round_kb: f64,
    /// With a line: share of the people who come and buy when it is their turn
    #[arg(long, default_value_t = 0.7, value_parser = within(0.01..=1.0))]
    pub comes_share: f64,
    /// With a line: how many seconds before the opening early people come, on average. By default a sixth of the time for which the line
    /// is open early
    #[arg(long, value_parser = within(1.0..=86_400.0))]
    pub comes_early_s: Option<f64>,
    /// With a line: how many seconds after the opening the others come, on average
    #[arg(long, default_value_t = 300.0, value_parser = within(1.0..=86_400.0))]
    pub comes_late_s: f64,
    /// With a line: seconds between a page's polls of the line's document. Longer if the polls would be too many for the edge
    #[arg(long, default_value_t = 2.0, value_parser = within(1.0..=3_600.0))]
    pub line_poll_s: f64,
    /// Share of the orders that are never paid and whose units are sold again
    #[arg(long, default_value_t = 0.1, value_parser = within(0.0..=0.9))]
    pub unpaid_share: f64,
    /// Seconds in which an order may be paid. The last order must be written within the same time
    #[arg(long, default_value_t = 900.0, value_parser = within(5.0..=86_400.0))]
    pub payment_window_s: f64,
    /// Write units a second that the table and its indexes handle from the start
    #[arg(long, default_value_t = warm_writes(), value_parser = within(1.0..=10_000_000.0))]
    pub table_warm_writes: f64,
    /// The account's quota of requests a second at API Gateway
    #[arg(long, default_value_t = GATEWAY_REQUESTS.value, value_parser = within(1.0..=10_000_000.0))]
    pub gateway_quota: f64,
    /// The account's quota of concurrent executions
    #[arg(long, default_value_t = LAMBDA_CONCURRENCY.value, value_parser = within(1.0..=1_000_000.0))]
    pub lambda_quota: f64,
    /// Days until AWS raises a quota. AWS promises none
    #[arg(long, default_value_t = 14, value_parser = whole(0..=365_u32))]
    pub quota_lead_days: u32,
    /// Assume that the edge caches nothing and buyers call the gateway's own address
    #[arg(long)]
    pub past_the_edge: bool,
}

/// Parses a number in a range. The error names the range.
fn within(range: RangeInclusive<f64>) -> impl Fn(&str) -> Result<f64, String> + Clone {
    move |text| match text.parse() {
        Ok(number) if range.contains(&number) => Ok(number),
        _ => Err(format!("{} to {}", range.start(), range.end())),
    }
}

/// What `prod` asks for, or what a new table has.
fn warm_writes() -> f64 {
    PROD.table_warm_writes.unwrap_or(TABLE_WARM_WRITES.value)
}

impl Inputs {
    /// Fails unless it opens between now and in two years.
    pub fn new(units: u32, audience: u64, opens_at: Timestamp, planned_at: Timestamp, region: &str) -> Result<Self> {
        ensure!(opens_at > planned_at, "the opening is in the past: {opens_at}; it is now {planned_at:.0}");
        let last = planned_at.checked_add(Span::new().hours(MAX_HOURS_AHEAD))?;
        ensure!(
            opens_at <= last,
            "the opening is more than two years ahead: {opens_at}; today's prices and quotas say nothing about that time"
        );
        let region = region.to_owned();
        let line = LineAsked::Auto;
        Ok(Self { units, audience, opens_at, planned_at, region, lanes: None, line, opens_early_s: OPENS_EARLY_S })
    }
}

/// A line in front of a sale.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Line {
    /// How many seconds before the opening it starts to give out tickets.
    pub opens_early_s: u32,
    /// People a second whose turn comes.
    pub admits_per_s: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Setup {
    pub lanes: u32,
    pub line: Option<Line>,
}
