//! The table of prices, with its date.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result, bail};
use serde::Deserialize;

const TABLE: &str = include_str!("../prices/2026-11.json");

/// List prices of some regions on one date.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Prices {
    /// The date, as YYYY-MM-DD.
    pub taken: String,
    /// USD.
    pub currency: String,
    /// What they leave out.
    pub note: String,
    /// What a price is for, and its source.
    pub units: BTreeMap<String, Priced>,
    regions: BTreeMap<String, Region>,
}

/// What a price is for.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Priced {
    /// The unit of the price.
    pub per: String,
    /// AWS's page.
    pub page: String,
}

/// Prices of one region.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Region {
    /// Prices that could not be verified on that date.
    pub unseen: BTreeSet<String>,
    /// In US dollars.
    pub usd: BTreeMap<String, f64>,
}

impl Prices {
    /// The table in this build. Fails if it cannot be read.
    pub fn load() -> Result<Self> {
        serde_json::from_str(TABLE).context("tools/planner/prices cannot be read")
    }

    /// The regions with prices.
    pub fn regions(&self) -> impl Iterator<Item = &str> {
        self.regions.keys().map(String::as_str)
    }

    /// The prices of a region.
    ///
    /// # Errors
    /// Names the known regions, if this one is not among them.
    pub fn of(&self, region: &str) -> Result<&Region> {
        let Some(prices) = self.regions.get(region) else {
            let known: Vec<&str> = self.regions().collect();
            bail!("region: one of {}; got \"{region}\"", known.join(", "));
        };
        Ok(prices)
    }
}

impl Region {
    /// The price with this name. A test requests all of them in all regions.
    pub fn usd(&self, name: &str) -> f64 {
        self.usd.get(name).copied().unwrap_or(f64::NAN)
    }
}
