//! Verifies the draw of a round from its public document alone, as anyone can.

use std::fmt;

use anyhow::{Context, Result, bail, ensure};
use jiff::Timestamp;
use sale::award::beacon::DrandKey;
use sale::award::drand::{self, DrandRound};
use sale::award::{self, BLANK, Bytes32, Hex, Plan, Seed, Table, bytes32, commit, merkle, winners};
use sale::{Allocation, Award, Currency, RoundId, RoundNumber, SaleId};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::client::Client;
use crate::sales::Public;

/// The supported version of `docs/draws.md`.
const ENCODING: u32 = 1;
/// How many winners the document lists at most; the others are computed.
const MOST_LISTED: usize = 1000;
/// How many winners are printed; JSON has all.
const MOST_WINNERS: usize = 20;

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
    closes_at: Timestamp,
    reveals_at: String,
    drand: Option<Drand>,
    beacon: Option<Beacon>,
    seed: Option<String>,
    at_end: Option<AtEnd>,
}

/// The round of drand that was named for the draw.
#[derive(Deserialize)]
struct Drand {
    chain_hash: String,
    round: u64,
    at: Timestamp,
}

#[derive(Deserialize)]
struct Beacon {
    signature: String,
    randomness: String,
}

#[derive(Deserialize)]
struct AtEnd {
    closed: Option<Closed>,
}

#[derive(Deserialize)]
struct Closed {
    at: Timestamp,
    entries: u32,
    root: String,
    entries_per_chunk: u32,
    winners: Vec<ListedWinner>,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
struct ListedWinner {
    prize: u64,
    entry: u32,
}

#[derive(Deserialize)]
struct Chunk {
    units: Vec<u32>,
    leaves: Vec<String>,
}

#[derive(Default)]
struct Entries {
    units: Vec<u32>,
    leaves: Vec<Bytes32>,
}

/// A verified draw: everything here was computed from the seed, and the seed matches the commitment.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct Checked {
    sale_id: SaleId,
    round: RoundNumber,
    commitment: String,
    units: u32,
    currency: Currency,
    #[serde(skip_serializing_if = "Option::is_none")]
    drand: Option<CheckedDrand>,
    /// The number of entries, which have the published root, in a draw at the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    entries: Option<usize>,
    /// The sum of all parts, in a split.
    #[serde(skip_serializing_if = "Option::is_none")]
    sum_minor: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    winners: Option<Vec<Winner>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    unit: Option<UnitAward>,
}

#[derive(Debug, PartialEq, Eq, Serialize)]
struct CheckedDrand {
    round: u64,
    at: Timestamp,
    randomness: String,
}

#[derive(Debug, PartialEq, Eq, Serialize)]
struct Winner {
    unit: u32,
    prize: String,
    /// Only in a draw at the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    entry: Option<u32>,
}

#[derive(Debug, PartialEq, Eq, Serialize)]
struct UnitAward {
    unit: u32,
    #[serde(flatten)]
    award: Award,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
}

pub async fn check_draw(round: &RoundId, unit: Option<u32>, public: &Public) -> Result<()> {
    public.print(&checked(round, unit, &public.publisher()?, &DrandKey::quicknet()).await?)
}

pub async fn checked(round: &RoundId, unit: Option<u32>, publisher: &Client, key: &DrandKey) -> Result<Checked> {
    let draw: Draw = fetch(publisher, round, "draw").await?;
    let entries = fetch_entries(publisher, round, &draw).await?;
    draw.check(round, unit, entries.as_ref(), key)
}

async fn fetch<T: DeserializeOwned>(publisher: &Client, round: &RoundId, what: &str) -> Result<T> {
    let RoundId { sale, number } = round;
    let missing = format!("there is no draw in round {number} of {sale}");
    publisher.document(sale, &format!("/{sale}/rounds/{number}/{what}"), "a draw", &missing).await
}

async fn fetch_entries(publisher: &Client, round: &RoundId, draw: &Draw) -> Result<Option<Entries>> {
    let Some(Closed { entries: count, entries_per_chunk, .. }) = draw.closed() else { return Ok(None) };
    ensure!(*count <= draw.units && *entries_per_chunk > 0, "there are {count} entries for {} units", draw.units);
    let mut entries = Entries::default();
    for chunk in 0..count.div_ceil(*entries_per_chunk) {
        let Chunk { units, leaves } = fetch(publisher, round, &format!("draw/entries/{chunk}")).await?;
        entries.units.extend(units);
        for leaf in leaves {
            entries.leaves.push(bytes32(&leaf).context("a leaf is not 64 lower-case hex digits")?);
        }
    }
    Ok(Some(entries))
}

impl Entries {
    fn won_by(&self, unit: u32, drawn: &[(u32, u64)]) -> Result<u64> {
        let index = self.units.binary_search(&unit).ok().with_context(|| format!("unit {unit} is not an entry"))?;
        Ok(drawn.iter().find(|(entry, _)| *entry as usize == index + 1).map_or(BLANK, |(_, prize)| *prize))
    }
}

impl Draw {
    fn closed(&self) -> Option<&Closed> {
        self.at_end.as_ref()?.closed.as_ref()
    }

    fn check(self, asked: &RoundId, unit: Option<u32>, entries: Option<&Entries>, key: &DrandKey) -> Result<Checked> {
        let Self { sale_id, round, encoding, label, units, currency, .. } = &self;
        let shown = RoundId { sale: sale_id.clone(), number: *round };
        ensure!(shown == *asked, "asked for {asked}, but the answer is the draw of {shown}");
        ensure!(*encoding == ENCODING, "the encoding has version {encoding}, but this program supports {ENCODING}");
        let promised = if self.allocation.has_beacon() { "beacon" } else { "commitment_only" };
        ensure!(label == promised, "the draw is labelled {label}, but its terms make it {promised}");
        if let Some(unit) = unit {
            ensure!((1..=*units).contains(&unit), "there is no unit {unit}: the round has {units}");
        }
        let at_end = self.allocation.is_drawn_at_end();
        if at_end && self.closed().is_none() {
            bail!("the entries have not closed yet; they will close soon after {}", self.reveals_at);
        }
        let drand = self.drand(key)?;
        let randomness = drand.as_ref().map(|(_, randomness)| randomness);
        let Some(seed) = &self.seed else { bail!("the seed is not public yet; it will be at {}", self.reveals_at) };
        let seed = Seed(bytes32(seed).context("the seed is not 64 lower-case hex digits")?);
        let plan = self.allocation.plan(*units).context("all units of the round are the same")?;
        let table = Table::of(&plan, &seed, randomness)?;
        let commitment = commit(sale_id.as_str(), round.0, &seed, &table.digest()).to_string();
        let published = &self.commitment;
        let gives = format!("the seed and what was drawn give {commitment}, published was {published}");
        ensure!(commitment == *published, "the commitment does not hold: {gives}");
        let (entries, sum_minor, winners, unit) = if let Some(closed) = self.closed().filter(|_| at_end) {
            let entries = entries.context("the entries are missing")?;
            let drawn = self.drawn_at_end(closed, entries, &award::shuffle_key(&seed, randomness))?;
            let unit = unit.map(|unit| self.unit_award(unit, entries.won_by(unit, &drawn)?)).transpose()?;
            (Some(entries.units.len()), None, Some(self.winners_at_end(entries, &drawn)), unit)
        } else {
            let (sum_minor, winners) = match &self.allocation {
                Allocation::Split { total_minor, .. } => {
                    let sum: u64 = table.awards().iter().sum();
                    ensure!(sum == *total_minor, "the parts add up to {sum} minor units instead of {total_minor}");
                    (Some(sum), None)
                }
                _ => (None, Some(self.winners(&plan, &award::shuffle_key(&seed, randomness)))),
            };
            let unit = unit.map(|unit| self.unit_award(unit, table.award(unit))).transpose()?;
            (None, sum_minor, winners, unit)
        };
        Ok(Checked {
            sale_id: sale_id.clone(),
            round: *round,
            commitment,
            units: *units,
            currency: *currency,
            drand: drand.map(|(checked, _)| checked),
            entries,
            sum_minor,
            winners,
            unit,
        })
    }

    /// Verifies the beacon of a draw that uses one, and its round. Returns its randomness too.
    fn drand(&self, key: &DrandKey) -> Result<Option<(CheckedDrand, Bytes32)>> {
        if !self.allocation.has_beacon() {
            ensure!(self.drand.is_none() && self.beacon.is_none(), "there is a beacon, but the draw uses none");
            return Ok(None);
        }
        let Drand { chain_hash, round, at } = self.drand.as_ref().context("no round of drand is named")?;
        let known = drand::CHAIN_HASH;
        ensure!(chain_hash == known, "drand's chain is {chain_hash}, but this program only knows {known}");
        let named = DrandRound(*round);
        ensure!(at.as_millisecond() == named.at_ms(), "drand's round {round} does not come at {at}");
        match self.closed() {
            Some(closed) => {
                let rule = DrandRound::named_at(closed.at.as_millisecond());
                let at = closed.at;
                ensure!(named == rule, "the entries closed at {at}, which names drand's round {rule} and not {round}");
            }
            None => ensure!(*at < self.closes_at, "drand's round {round} comes after the end, too late for the awards"),
        }
        let Some(Beacon { signature, randomness }) = &self.beacon else {
            bail!("the beacon is not posted yet: drand's round {round}, which comes at {at}");
        };
        let signature = drand::signature(signature).context("the signature is not 96 lower-case hex digits")?;
        key.verify(named, &signature)?;
        let bytes = drand::randomness(&signature);
        let computed = Hex(&bytes).to_string();
        ensure!(*randomness == computed, "the signature has the randomness {computed}, but {randomness} was published");
        Ok(Some((CheckedDrand { round: *round, at: *at, randomness: computed }, bytes)))
    }

    fn winners(&self, plan: &Plan, key: &Bytes32) -> Vec<Winner> {
        let Plan::Prizes { counts, tickets } = plan else { return Vec::new() };
        let winner = |(unit, value)| Some(Winner { unit, prize: self.prize(value)?.to_owned(), entry: None });
        winners(counts, *tickets, key).filter_map(winner).collect()
    }

    /// Holds the entries to their root, and the winners to what follows from both: which entry won which prize.
    fn drawn_at_end(&self, closed: &Closed, entries: &Entries, key: &Bytes32) -> Result<Vec<(u32, u64)>> {
        let Entries { units, leaves } = entries;
        let in_order = units.windows(2).all(|pair| pair[0] < pair[1]);
        let exist = units.iter().all(|unit| (1..=self.units).contains(unit));
        ensure!(in_order && exist, "the entries are not in the order of their units");
        let count = closed.entries as usize;
        let found = leaves.len();
        ensure!(units.len() == count && found == count, "{count} entries were published, but there are {found}");
        let root = Hex(&merkle::root_of_hashes(leaves.clone())).to_string();
        ensure!(root == closed.root, "the entries have the root {root}, but {} was published", closed.root);
        let Allocation::Prizes { prizes, .. } = &self.allocation else { bail!("the round has no prizes") };
        let counts: Vec<u32> = prizes.iter().map(|prize| prize.count).collect();
        let drawn: Vec<(u32, u64)> = winners(&counts, closed.entries, key).collect();
        let listed = drawn.iter().take(MOST_LISTED).map(|(entry, prize)| ListedWinner { prize: *prize, entry: *entry });
        ensure!(listed.eq(closed.winners.iter().cloned()), "other entries win than the published ones");
        Ok(drawn)
    }

    fn winners_at_end(&self, entries: &Entries, drawn: &[(u32, u64)]) -> Vec<Winner> {
        let winner = |&(entry, value): &(u32, u64)| {
            let unit = *entries.units.get(entry as usize - 1)?;
            Some(Winner { unit, prize: self.prize(value)?.to_owned(), entry: Some(entry) })
        };
        drawn.iter().filter_map(winner).collect()
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
        let Self { sale_id, round, commitment, units, currency, drand, entries, sum_minor, winners, unit } = self;
        writeln!(f, "The commitment of round {round} of {sale_id} holds: {commitment}")?;
        if let Some(CheckedDrand { round, at, .. }) = drand {
            let what = if entries.is_some() { "the root of the entries" } else { "the commitment" };
            write!(f, "The signature of drand's round {round} holds, which came at {at}; ")?;
            writeln!(f, "{what} had to be public before")?;
        }
        if let Some(sum) = sum_minor {
            writeln!(f, "{units} parts add up to exactly {sum} minor units of {currency}")?;
        }
        if let Some(winners) = winners {
            match entries {
                Some(entries) => writeln!(f, "{entries} entries have the published root, and {} win:", winners.len())?,
                None => writeln!(f, "{} of {units} tickets win:", winners.len())?,
            }
            for Winner { unit, prize, .. } in winners.iter().take(MOST_WINNERS) {
                writeln!(f, "  ticket {unit:<8} {prize}")?;
            }
            if winners.len() > MOST_WINNERS {
                writeln!(f, "  and {} more, which --json lists", winners.len() - MOST_WINNERS)?;
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
    use sale::award::beacon;
    use serde_json::{Value, json};

    use super::*;

    fn test_secret() -> blst::min_sig::SecretKey {
        blst::min_sig::SecretKey::key_gen(&[7; 32], &[]).unwrap()
    }

    fn test_key() -> DrandKey {
        DrandKey::from_bytes(&test_secret().sk_to_pk().compress()).unwrap()
    }

    const VECTORS: &str = include_str!("../../../shared/sale/award_vectors.json");

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

    fn check(document: &Value, entries: Option<&Entries>, unit: Option<u32>) -> Result<Checked, String> {
        let draw: Draw = serde_json::from_value(document.clone()).unwrap();
        let asked = RoundId { sale: draw.sale_id.clone(), number: RoundNumber(1) };
        draw.check(&asked, unit, entries, &test_key()).map_err(|error| format!("{error:#}"))
    }

    fn by_quicknet(document: &Value, entries: Option<&Entries>, unit: Option<u32>) -> Result<Checked> {
        let draw: Draw = serde_json::from_value(document.clone()).unwrap();
        let asked = RoundId { sale: draw.sale_id.clone(), number: draw.round };
        draw.check(&asked, unit, entries, &DrandKey::quicknet())
    }

    /// Why the draw does not hold once this is there instead.
    fn refused(good: &Value, entries: Option<&Entries>, place: &str, value: Value) -> String {
        let mut changed = good.clone();
        *changed.pointer_mut(place).unwrap() = value;
        let error = check(&changed, entries, None).unwrap_err();
        assert!(!error.contains('\n'), "{place}: {error}");
        error
    }

    #[test]
    fn a_genuine_split_holds_to_the_cent() {
        let checked = check(&document("packets", 1), None, Some(8)).unwrap();
        assert_eq!((checked.sum_minor, &checked.winners), (Some(1000), &None));
        let said = checked.to_string();
        assert!(said.contains("holds: 1278bff0387d895620f069611ea704a82e5d8c54ba375d667ff52caf59d2f056\n"), "{said}");
        let sum = "10 parts add up to exactly 1000 minor units of EUR\nUnit 8 won 223 minor units";
        assert!(said.contains(sum), "{said}");
        assert_eq!(check(&document("equal", 1), None, None).unwrap().sum_minor, Some(1003));
    }

    #[test]
    fn a_genuine_draw_has_the_winners_that_it_has() {
        let checked = check(&document("lottery", 1), None, Some(7)).unwrap();
        let winner = |unit, prize: &str| Winner { unit, prize: prize.to_owned(), entry: None };
        assert_eq!(checked.winners, Some(vec![winner(7, "Prize 1"), winner(10, "Prize 3"), winner(1, "Prize 3")]));
        assert!(checked.to_string().ends_with("Unit 7 won: Prize 1\n"), "{checked}");
        assert!(check(&document("lottery", 1), None, Some(2)).unwrap().to_string().ends_with("Unit 2 won nothing\n"));
        let json = serde_json::to_value(&checked).unwrap();
        assert_eq!(json["unit"], json!({ "unit": 7, "kind": "prize", "prize": 1, "name": "Prize 1" }));
    }

    /// The winners of three prizes among five entries, as the document lists them.
    fn listed(randomness: Option<&Bytes32>) -> Vec<Value> {
        let drawn = winners(&[1, 2], 5, &award::shuffle_key(&Seed([7; 32]), randomness));
        drawn.map(|(entry, prize)| json!({ "prize": prize, "entry": entry })).collect()
    }

    /// A draw of three prizes among five of ten tickets, and its entries.
    fn at_end() -> (Value, Entries) {
        let (seed, counts) = (Seed([7; 32]), [1, 2]);
        let units = vec![1, 2, 5, 9, 10];
        let leaf = |unit: &u32| merkle::leaf_hash(&merkle::entry(*unit, &format!("packets.1.{unit:032x}")));
        let leaves: Vec<Bytes32> = units.iter().map(leaf).collect();
        let table = Table::of(&Plan::Prizes { counts: counts.to_vec(), tickets: 10 }, &seed, None).unwrap();
        let prizes = [1, 2].map(|n| json!({ "name": format!("Prize {n}"), "count": n }));
        let document = json!({
            "sale_id": "packets", "round": 1, "encoding": 1, "label": "commitment_only", "units": 10, "currency": "EUR",
            "allocation": { "kind": "prizes", "prizes": prizes, "draw": "at_end" },
            "commitment": commit("packets", 1, &seed, &table.digest()).to_string(), "seed": Hex(&seed.0).to_string(),
            "closes_at": "2026-11-24T10:00:00Z", "reveals_at": "2026-11-24T10:01:00Z",
            "at_end": { "state": "closed", "closed": {
                "at": "2026-11-24T10:01:05Z", "entries": 5, "root": Hex(&merkle::root_of_hashes(leaves.clone())).to_string(),
                "entries_per_chunk": 4096, "winners": listed(None),
            } },
        });
        (document, Entries { units, leaves })
    }

    #[test]
    fn a_genuine_draw_at_the_end_holds_and_says_who_won() {
        let (document, entries) = at_end();
        let checked = check(&document, Some(&entries), None).unwrap();
        let won = checked.winners.as_ref().unwrap();
        assert_eq!((won.len(), checked.entries), (3, Some(5)));
        assert!(won.iter().all(|winner| entries.units[winner.entry.unwrap() as usize - 1] == winner.unit));
        assert!(checked.to_string().contains("5 entries have the published root, and 3 win:"), "{checked}");
        for unit in &entries.units {
            let said = check(&document, Some(&entries), Some(*unit)).unwrap().to_string();
            assert_eq!(said.ends_with("won nothing\n"), won.iter().all(|winner| winner.unit != *unit), "{said}");
        }
        assert!(check(&document, Some(&entries), Some(3)).unwrap_err().contains("unit 3 is not an entry"));
    }

    /// The same draw, decided by a beacon as well: a key of this test's stands for drand's.
    fn at_end_with_beacon() -> (Value, Entries) {
        let (mut document, entries) = at_end();
        let closed_at: Timestamp = "2026-11-24T10:01:05Z".parse().unwrap();
        let named = DrandRound::named_at(closed_at.as_millisecond());
        let signature = test_secret().sign(&beacon::message(named), beacon::DOMAIN, &[]).compress();
        let randomness = drand::randomness(&signature);
        document["label"] = "beacon".into();
        document["allocation"]["beacon"] = true.into();
        let at = Timestamp::from_millisecond(named.at_ms()).unwrap();
        document["drand"] = json!({ "chain_hash": drand::CHAIN_HASH, "round": named.0, "at": at });
        document["beacon"] =
            json!({ "signature": Hex(&signature).to_string(), "randomness": Hex(&randomness).to_string() });
        document["at_end"]["closed"]["winners"] = listed(Some(&randomness)).into();
        (document, entries)
    }

    #[test]
    fn a_beacon_holds_if_drand_signed_the_round_that_the_entries_named() {
        let (good, entries) = at_end_with_beacon();
        let checked = check(&good, Some(&entries), None).unwrap();
        assert_eq!(checked.drand.as_ref().map(|drand| drand.at.to_string()), Some("2026-11-24T10:02:06Z".to_owned()));
        assert_ne!(checked.winners, check(&at_end().0, Some(&entries), None).unwrap().winners, "with this seed");
        let came = " holds, which came at 2026-11-24T10:02:06Z; the root of the entries had to be";
        assert!(checked.to_string().contains(came), "{checked}");
        let named = good["drand"]["round"].as_u64().unwrap();
        let next = Timestamp::from_millisecond(DrandRound(named + 1).at_ms()).unwrap();
        let next = json!({ "chain_hash": drand::CHAIN_HASH, "round": named + 1, "at": next });
        for (place, value, said) in [
            ("/label", json!("commitment_only"), "labelled commitment_only"),
            ("/allocation/beacon", json!(false), "labelled beacon"),
            ("/drand", Value::Null, "no round of drand is named"),
            ("/drand/chain_hash", json!("0".repeat(64)), "drand's chain is"),
            ("/drand/round", json!(named + 1), "does not come at"),
            ("/drand/at", json!("2026-11-24T10:02:07Z"), "does not come at"),
            ("/drand", next, "which names drand's round"),
            ("/at_end/closed/at", json!("2026-11-24T10:01:15Z"), "which names drand's round"),
            ("/beacon", Value::Null, "the beacon is not posted yet"),
            ("/beacon/signature", json!("a".repeat(96)), "not the signature of drand's round"),
            ("/beacon/signature", json!("a"), "96 lower-case hex digits"),
            ("/beacon/randomness", json!("0".repeat(64)), "the signature has the randomness"),
            ("/at_end/closed/winners", json!([]), "other entries win"),
        ] {
            let error = refused(&good, Some(&entries), place, value);
            assert!(error.contains(said), "{place}: {error}");
        }
        let refused = by_quicknet(&good, Some(&entries), None).unwrap_err().to_string();
        assert!(refused.contains("not the signature"), "drand has another key");
    }

    /// A red packet with the beacon of quicknet's round 1000, which drand published.
    #[test]
    fn a_genuine_beacon_of_drand_holds() {
        let vectors: Value = serde_json::from_str(VECTORS).unwrap();
        let published = &vectors["beacons"][0];
        let named = DrandRound(published["drand_round"].as_u64().unwrap());
        let draws = vectors["draws"].as_array().unwrap();
        let vector = draws.iter().find(|draw| draw["beacon"] == published["randomness"]).expect("the vectors have it");
        let mut document = document("packets", 1);
        (document["round"], document["commitment"]) = (vector["round"].clone(), vector["commitment"].clone());
        document["allocation"]["beacon"] = true.into();
        document["label"] = "beacon".into();
        let at = Timestamp::from_millisecond(named.at_ms()).unwrap();
        document["drand"] = json!({ "chain_hash": drand::CHAIN_HASH, "round": named.0, "at": at });
        document["beacon"] = json!({ "signature": published["signature"], "randomness": published["randomness"] });
        let checked = by_quicknet(&document, None, Some(1)).unwrap();
        let came = "The signature of drand's round 1000 holds, which came at 2023-08-23T15:59:24Z; the commitment had";
        assert!(checked.to_string().contains(came), "{checked}");
        assert_eq!(serde_json::to_value(&checked.unit).unwrap()["amount_minor"], vector["awards"][0]);
        document["closes_at"] = "2023-08-23T15:59:24Z".into();
        let late = by_quicknet(&document, None, None).unwrap_err().to_string();
        assert!(late.contains("comes after the end"), "{late}");
    }

    #[test]
    fn entries_that_were_added_removed_or_moved_do_not_have_the_root() {
        let (document, _) = at_end();
        let entries = |change: fn(&mut Entries)| {
            let (_, mut entries) = at_end();
            change(&mut entries);
            check(&document, Some(&entries), None).unwrap_err()
        };
        assert!(entries(|entries| entries.leaves[2] = [0; 32]).contains("was published"));
        assert!(entries(|entries| entries.leaves.swap(0, 1)).contains("was published"));
        assert!(entries(|entries| entries.units.swap(0, 1)).contains("not in the order"));
        assert!(entries(|entries| entries.units[4] = 11).contains("not in the order"));
        assert!(entries(|entries| entries.leaves.truncate(4)).contains("5 entries were published"));
        let (good, entries) = at_end();
        let changed = |place: &str, value: Value| refused(&good, Some(&entries), place, value);
        assert!(changed("/at_end/closed/winners/0/entry", json!(0)).contains("other entries win"));
        assert!(changed("/at_end/closed/winners", json!([])).contains("other entries win"));
        assert!(changed("/at_end/closed", Value::Null).contains("have not closed yet"));
        assert!(changed("/allocation/prizes/0/count", json!(2)).contains("the commitment does not hold"));
    }

    #[test]
    fn whatever_was_changed_is_told_in_one_line() {
        let good = document("packets", 1);
        let other = "0".repeat(64);
        for (place, value, said) in [
            ("/sale_id", json!("packet"), "the commitment does not hold"),
            ("/round", json!(2), "asked for packets.1"),
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
            ("/seed", json!("00"), "64 lower-case hex digits"),
            ("/seed", Value::Null, "the seed is not public yet; it will be at 2026-11-24T10:01:00Z"),
        ] {
            let error = refused(&good, None, place, value);
            assert!(error.contains(said), "{place}: {error}");
        }
        for unit in [0, 11] {
            assert!(check(&good, None, Some(unit)).unwrap_err().contains("the round has 10"));
        }
    }
}
