//! The simulated sale, as the planner sets it up, and further assumptions about people.

use anyhow::{Context, Result};
use planner::deployment::PROD;
use planner::inputs::{Assumptions, Inputs, Setup};
use planner::load::{FIRST_POLLS, Load};
use planner::quotas as q;
use serde::Serialize;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Places {
    Line,
    /// By time of arrival, which the fairness figures must reveal.
    FirstCome,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Scenario {
    pub units: u32,
    pub people: u32,
    pub lanes: usize,
    pub shards: usize,
    /// People a second whose turn it becomes.
    pub admits_per_s: u32,
    /// Seconds before the opening at which the line opens.
    pub opens_early_s: u32,
    /// Share of the people who come before the opening.
    pub early_share: f64,
    /// Seconds before the opening at which they come, on average.
    pub comes_early_s: f64,
    /// Seconds after the opening at which the others come, on average.
    pub comes_late_s: f64,
    /// Share of the people who are there when their turn comes.
    pub comes_share: f64,
    /// Seconds until they notice, on average.
    pub notices_s: f64,
    /// Seconds between challenge and answer, on average.
    pub solve_s: f64,
    pub wrong_share: f64,
    /// Seconds between polls of the document, before the opening.
    pub poll_early_s: f64,
    /// The same after it.
    pub poll_s: f64,
    /// Share of the people who hear "sold out" and stay in case a unit comes back.
    pub hopes_share: f64,
    /// Seconds between their polls.
    pub hopes_poll_s: f64,
    pub limit_per_user: u8,
    /// Share of the people who want that many.
    pub wants_more_share: f64,
    /// Share of the units that are not paid for.
    pub unpaid_share: f64,
    pub pays_s: f64,
    /// Seconds after which an unpaid unit comes back.
    pub payment_window_s: f64,
    /// Polls of a reservation in its first ten seconds.
    pub first_polls: u32,
    /// The gateway's rate limit, in requests a second.
    pub gateway_per_s: f64,
    pub gateway_burst: f64,
    /// Requests a second that the functions' quota allows.
    pub functions_per_s: f64,
    /// Calls a second that one shard can take.
    pub shard_per_s: f64,
    /// Calls a second for the functions' answer counts.
    pub tally_per_s: f64,
    pub page_files: f64,
    pub places: Places,
}

impl Scenario {
    /// A sale as the planner sets it up.
    pub fn planned(inputs: &Inputs, assumed: &Assumptions) -> Result<Self> {
        let setup = Setup::of(inputs, assumed);
        let line = setup.line.context("this sale needs no line; LINE=100 has one that admits 100 people a second")?;
        let load = Load::new(inputs, assumed, Some(&line));
        Ok(Self {
            units: inputs.units,
            people: u32::try_from(inputs.audience).context("more people than can be simulated")?,
            lanes: setup.lanes as usize,
            shards: PROD.shards as usize,
            admits_per_s: line.admits_per_s,
            opens_early_s: line.opens_early_s,
            early_share: assumed.rush_share,
            comes_early_s: planner::load::comes_early_s(assumed, &line),
            comes_late_s: assumed.comes_late_s,
            comes_share: assumed.comes_share,
            notices_s: 3.0,
            solve_s: assumed.solve_s,
            wrong_share: 1.0 - 1.0 / assumed.answers_each,
            poll_early_s: q::LINE_POLL_EARLY_S,
            poll_s: load.line_poll_s,
            hopes_share: 0.1,
            hopes_poll_s: 30.0,
            limit_per_user: 2,
            wants_more_share: 0.3,
            unpaid_share: assumed.unpaid_share,
            pays_s: 120.0,
            payment_window_s: assumed.payment_window_s,
            first_polls: FIRST_POLLS as u32,
            gateway_per_s: assumed.gateway_quota,
            gateway_burst: q::GATEWAY_BURST.value,
            functions_per_s: (assumed.lambda_quota - f64::from(PROD.reserved_concurrency))
                * q::LAMBDA_REQUESTS_PER_CONCURRENCY.value,
            shard_per_s: q::SCRIPTS_PER_S_PER_SHARD,
            tally_per_s: load.counting_processes,
            page_files: planner::deployment::PAGE_FILES,
            places: Places::Line,
        })
    }
}
