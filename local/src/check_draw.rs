//! Checks the draw of a round from its public document alone, as anybody can.

use std::fmt;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use award::{BLANK, Plan, Seed, Table, bytes32, commit, winners};
use reqwest::{StatusCode, Url};
use sale::{Allocation, Award, Currency, RoundId, RoundNumber, SaleId};
use serde::{Deserialize, Serialize};

use crate::up::running;

/// Longest wait for the document.
const TIMEOUT: Duration = Duration::from_secs(30);
/// The version of `docs/draws.md` that this checks, and the label of draws that rest on their seed alone.
const ENCODING: u32 = 1;
const COMMITMENT_ONLY: &str = "commitment_only";
/// Winners that are printed; JSON has all.
const MOST_WINNERS: usize = 20;

/// The public document. Fields that this does not know are none of its business.
#[derive(Deserialize)]
struct Draw {
    sale_id: SaleId,
    round: RoundNumber,
    encoding: u32,
    label: String,
    units: u32,
    allocation: Allocation,
    currency: Currency,
    commitment: String,
    reveals_at: String,
    seed: Option<String>,
}

/// A draw that holds: everything here was computed from the seed, and the seed is the one that was committed to.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct Checked {
    sale_id: SaleId,
    round: RoundNumber,
    commitment: String,
    units: u32,
    currency: Currency,
    /// What all units won together, in a split.
    #[serde(skip_serializing_if = "Option::is_none")]
    sum_minor: Option<u64>,
    /// In a draw of prizes.
    #[serde(skip_serializing_if = "Option::is_none")]
    winners: Option<Vec<Winner>>,
    /// What was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    unit: Option<UnitAward>,
}

#[derive(Debug, PartialEq, Eq, Serialize)]
struct Winner {
    unit: u32,
    prize: String,
}

#[derive(Debug, PartialEq, Eq, Serialize)]
struct UnitAward {
    unit: u32,
    #[serde(flatten)]
    award: Award,
    /// The name of the prize.
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
}

/// Fetches the draw of a round, from `url` or from what `make up` runs, checks it and prints what holds.
///
/// # Errors
/// If there is no such draw, its seed is not out yet, or anything does not match.
pub async fn check_draw(round: &RoundId, unit: Option<u32>, url: Option<&str>, json: bool) -> Result<()> {
    let api_url = match url {
        Some(url) => url.to_owned(),
        None => running()?.0.api_url,
    };
    let checked = fetch(&api_url, round).await?.check(round, unit)?;
    if json {
        println!("{}", serde_json::to_string_pretty(&checked)?);
    } else {
        print!("{checked}");
    }
    Ok(())
}

async fn fetch(api_url: &str, RoundId { sale, number }: &RoundId) -> Result<Draw> {
    let url = format!("{}/v1/sales/{sale}/rounds/{number}/draw", api_url.trim_end_matches('/'));
    let url = Url::parse(&url).with_context(|| format!("{api_url} is no address of an API"))?;
    let client = reqwest::Client::builder().timeout(TIMEOUT).build()?;
    let response = client.get(url).send().await.with_context(|| format!("{api_url} does not answer"))?;
    match response.status() {
        StatusCode::OK => response.json().await.context("the answer is no draw"),
        StatusCode::NOT_FOUND => bail!("there is no draw in round {number} of {sale}"),
        status => bail!("the API answers {status}"),
    }
}

impl Draw {
    fn check(self, asked: &RoundId, unit: Option<u32>) -> Result<Checked> {
        let Self { sale_id, round, encoding, label, units, currency, .. } = &self;
        ensure!(
            (sale_id, *round) == (&asked.sale, asked.number),
            "asked for round {} of {}, the answer is the draw of round {round} of {sale_id}",
            asked.number,
            asked.sale
        );
        ensure!(*encoding == ENCODING, "the draw has version {encoding} of the encoding, and this checks {ENCODING}");
        ensure!(label == COMMITMENT_ONLY, "the draw is labelled {label}, and this checks {COMMITMENT_ONLY}");
        if let Some(unit) = unit {
            ensure!((1..=*units).contains(&unit), "there is no unit {unit}: the round has {units}");
        }
        let Some(seed) = &self.seed else { bail!("the seed is not out yet; it will be at {}", self.reveals_at) };
        let seed = Seed(bytes32(seed).context("the seed is not 64 small hex digits")?);
        let plan = self.allocation.plan(*units).context("all units of the round are the same")?;
        let table = Table::of(&plan, &seed, None)?;
        let commitment = commit(sale_id.as_str(), round.0, &seed, &table.digest()).to_string();
        ensure!(
            commitment == self.commitment,
            "the commitment does not hold: the seed and what was drawn give {commitment}, published was {}",
            self.commitment
        );
        let (sum_minor, winners) = match &self.allocation {
            Allocation::Split { total_minor, .. } => {
                let sum: u64 = table.awards().iter().sum();
                ensure!(sum == *total_minor, "all parts together are {sum} minor units and not {total_minor}");
                (Some(sum), None)
            }
            _ => (None, Some(self.winners(&plan, &seed))),
        };
        let unit = unit.map(|unit| self.unit_award(unit, table.award(unit))).transpose()?;
        Ok(Checked {
            sale_id: sale_id.clone(),
            round: *round,
            commitment,
            units: *units,
            currency: *currency,
            sum_minor,
            winners,
            unit,
        })
    }

    fn winners(&self, plan: &Plan, seed: &Seed) -> Vec<Winner> {
        let Plan::Prizes { counts, tickets } = plan else { return Vec::new() };
        let key = award::shuffle_key(seed, None);
        let winner = |(unit, value)| Some(Winner { unit, prize: self.prize(value)?.to_owned() });
        winners(counts, *tickets, &key).filter_map(winner).collect()
    }

    /// The name of a prize, which a value of the table counts from 1.
    fn prize(&self, value: u64) -> Option<&str> {
        let Allocation::Prizes { prizes, .. } = &self.allocation else { return None };
        let index = usize::try_from(value.checked_sub(1)?).ok()?;
        prizes.get(index).map(|prize| prize.name.as_str())
    }

    fn unit_award(&self, unit: u32, value: u64) -> Result<UnitAward> {
        let award =
            self.allocation.award(value).with_context(|| format!("unit {unit} won {value}, which is nothing"))?;
        let name = if value == BLANK { None } else { self.prize(value).map(str::to_owned) };
        Ok(UnitAward { unit, award, name })
    }
}

impl fmt::Display for Checked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { sale_id, round, commitment, units, currency, sum_minor, winners, unit } = self;
        writeln!(f, "The commitment of round {round} of {sale_id} holds: {commitment}")?;
        if let Some(sum) = sum_minor {
            writeln!(f, "{units} parts add up to exactly {sum} minor units of {currency}")?;
        }
        if let Some(winners) = winners {
            writeln!(f, "{} of {units} tickets win:", winners.len())?;
            for Winner { unit, prize } in winners.iter().take(MOST_WINNERS) {
                writeln!(f, "  ticket {unit:<8} {prize}")?;
            }
            if winners.len() > MOST_WINNERS {
                writeln!(f, "  and {} more, which JSON=1 lists", winners.len() - MOST_WINNERS)?;
            }
        }
        match unit {
            None => Ok(()),
            Some(UnitAward { unit, award: Award::Amount { amount_minor }, .. }) => {
                writeln!(f, "Unit {unit} won {amount_minor} minor units of {currency}")
            }
            Some(UnitAward { unit, name: Some(name), .. }) => writeln!(f, "Unit {unit} won: {name}"),
            Some(UnitAward { unit, .. }) => writeln!(f, "Unit {unit} won nothing"),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    const VECTORS: &str = include_str!("../../shared/award/vectors.json");

    /// The public document of a draw of the vectors without a beacon.
    fn document(sale: &str, round: u32) -> Value {
        let vectors: Value = serde_json::from_str(VECTORS).unwrap();
        let is_it = |draw: &&Value| draw["sale"] == sale && draw["round"] == round && draw["beacon"].is_null();
        let draw = vectors["draws"].as_array().unwrap().iter().find(is_it).expect("the vectors have the draw");
        let plan = &draw["plan"];
        let (units, allocation) = if plan["kind"] == "prizes" {
            let prize = |(n, count): (usize, &Value)| json!({ "name": format!("Prize {}", n + 1), "count": count });
            let prizes: Vec<Value> = plan["counts"].as_array().unwrap().iter().enumerate().map(prize).collect();
            (&plan["tickets"], json!({ "kind": "prizes", "prizes": prizes }))
        } else {
            let (total, min, parts) = (&plan["total"], &plan["min"], &plan["kind"]);
            (&plan["parts"], json!({ "kind": "split", "total_minor": total, "min_minor": min, "parts": parts }))
        };
        json!({
            "sale_id": sale, "round": round, "encoding": 1, "label": "commitment_only", "units": units,
            "allocation": allocation, "currency": "EUR", "commitment": draw["commitment"], "seed": draw["seed"],
            "closes_at": "2026-11-24T10:00:00Z", "reveals_at": "2026-11-24T10:01:00Z",
        })
    }

    fn check(document: &Value, unit: Option<u32>) -> Result<Checked, String> {
        let draw: Draw = serde_json::from_value(document.clone()).unwrap();
        let asked = RoundId { sale: "packets".parse().unwrap(), number: RoundNumber(1) };
        let asked =
            if document["sale_id"] == "packets" { asked } else { RoundId { sale: draw.sale_id.clone(), ..asked } };
        draw.check(&asked, unit).map_err(|error| format!("{error:#}"))
    }

    #[test]
    fn a_genuine_split_holds_to_the_cent() {
        let checked = check(&document("packets", 1), Some(8)).unwrap();
        assert_eq!((checked.sum_minor, &checked.winners), (Some(1000), &None));
        let said = checked.to_string();
        assert!(said.contains("holds: 1278bff0387d895620f069611ea704a82e5d8c54ba375d667ff52caf59d2f056\n"), "{said}");
        assert!(
            said.contains("10 parts add up to exactly 1000 minor units of EUR\nUnit 8 won 223 minor units"),
            "{said}"
        );
        assert_eq!(check(&document("equal", 1), None).unwrap().sum_minor, Some(1003));
    }

    #[test]
    fn a_genuine_draw_has_the_winners_that_it_has() {
        let checked = check(&document("lottery", 1), Some(7)).unwrap();
        let winner = |unit, prize: &str| Winner { unit, prize: prize.to_owned() };
        assert_eq!(checked.winners, Some(vec![winner(7, "Prize 1"), winner(10, "Prize 3"), winner(1, "Prize 3")]));
        assert!(checked.to_string().ends_with("Unit 7 won: Prize 1\n"), "{checked}");
        assert!(check(&document("lottery", 1), Some(2)).unwrap().to_string().ends_with("Unit 2 won nothing\n"));
        let json = serde_json::to_value(&checked).unwrap();
        assert_eq!(json["unit"], json!({ "unit": 7, "kind": "prize", "prize": 1, "name": "Prize 1" }));
    }

    #[test]
    fn whatever_was_changed_is_told_in_one_line() {
        let good = document("packets", 1);
        let other = "0".repeat(64);
        for (place, value, said) in [
            ("/sale_id", json!("packet"), "the commitment does not hold"),
            ("/round", json!(2), "asked for round 1"),
            ("/encoding", json!(2), "version 2"),
            ("/label", json!("beacon"), "labelled beacon"),
            ("/units", json!(11), "the commitment does not hold"),
            ("/allocation/total_minor", json!(1001), "the commitment does not hold"),
            ("/allocation/min_minor", json!(2), "the commitment does not hold"),
            ("/allocation/min_minor", json!(101), "the total is at least"),
            ("/allocation/parts", json!("equal"), "the commitment does not hold"),
            ("/allocation", json!({ "kind": "units" }), "the same"),
            ("/commitment", json!(other), "the commitment does not hold"),
            ("/seed", json!(other), "the commitment does not hold"),
            ("/seed", json!("00"), "64 small hex digits"),
            ("/seed", Value::Null, "the seed is not out yet; it will be at 2026-11-24T10:01:00Z"),
        ] {
            let mut changed = good.clone();
            *changed.pointer_mut(place).unwrap() = value;
            let error = check(&changed, None).unwrap_err();
            assert!(error.contains(said) && !error.contains('\n'), "{place}: {error}");
        }
        for unit in [0, 11] {
            assert!(check(&good, Some(unit)).unwrap_err().contains("the round has 10"));
        }
    }
}
