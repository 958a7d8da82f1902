//! The table of prices, with its date.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result, bail, ensure};

const TABLE: &str = include_str!("../prices/2026-11.txt");
/// Written behind a price that could not be verified on the table's date.
const UNSEEN: char = '?';

/// List prices of some regions on one date.
#[derive(Debug)]
pub struct Prices {
    /// The date, as YYYY-MM-DD.
    pub taken: &'static str,
    regions: BTreeMap<&'static str, Region>,
}

#[derive(Debug, Default)]
pub struct Region {
    /// Those that could not be verified on that date.
    pub unseen: BTreeSet<&'static str>,
    /// In US dollars.
    pub usd: BTreeMap<&'static str, f64>,
}

impl Prices {
    /// The table in this build. Fails if it cannot be read.
    pub fn load() -> Result<Self> {
        read(TABLE).context("tools/planner/prices cannot be read")
    }

    pub fn regions(&self) -> impl Iterator<Item = &str> {
        self.regions.keys().copied()
    }

    pub fn of(&self, region: &str) -> Result<&Region> {
        self.regions.get(region).with_context(|| format!("there are no prices of {region}"))
    }
}

/// A row for each price, with a column for each region, what the price is for, and AWS's page.
fn read(table: &'static str) -> Result<Prices> {
    let rows = table.lines().filter(|line| !line.starts_with('#'));
    let mut rows = rows.map(|row| row.split('|').map(str::trim).collect::<Vec<_>>());
    let head = rows.next().unwrap_or_default();
    let &[taken, ref names @ .., _for, _page] = &head[..] else { bail!("it has no head") };
    let mut regions: BTreeMap<_, Region> = BTreeMap::new();
    for row in rows {
        let &[name, ref prices @ .., per, page] = &row[..] else { bail!("{row:?} is no row") };
        ensure!(prices.len() == names.len() && !per.is_empty(), "{name} lacks a column");
        ensure!(page.starts_with("https://aws.amazon.com/"), "{name} has no page of AWS");
        for (region, price) in names.iter().zip(prices) {
            let region = regions.entry(*region).or_default();
            if price.ends_with(UNSEEN) {
                region.unseen.insert(name);
            }
            let usd = price.trim_end_matches([UNSEEN, ' ']).parse().with_context(|| format!("{name}: {price}"))?;
            region.usd.insert(name, usd);
        }
    }
    Ok(Prices { taken, regions })
}

impl Region {
    /// The price with this name. A test requests all of them in all regions.
    pub fn usd(&self, name: &str) -> f64 {
        self.usd.get(name).copied().unwrap_or(f64::NAN)
    }
}
