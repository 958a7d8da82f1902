//! The sale that a command names: what the public sees of it, also in documents that anybody can verify, or one message
//! for all commands that says which sales there are.

use std::collections::BTreeMap;
use std::fmt::Display;

use anyhow::{Context, Error, Result, anyhow, bail, ensure};
use clap::Args;
use clap::builder::FalseyValueParser;
use jiff::Timestamp;
use load::Failure;
use sale::{RoundId, RoundNumber, SaleId};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::client::{Client, granted};
use crate::running::api;

const MOST_LISTED: usize = 20;

/// Sales by their ids, and whether each is closed.
type Listed = BTreeMap<String, bool>;

/// Says that the public does not see a sale: only members of some groups do, or there is none.
fn nobody_sees(sale: &str, known: &Listed) -> Error {
    if known.contains_key(sale) {
        return anyhow!("only members of some groups see {sale}, so this command cannot");
    }
    let more = known.len().saturating_sub(MOST_LISTED);
    let name = |(id, is_closed): (&String, &bool)| format!("{id}{}", if *is_closed { " (closed)" } else { "" });
    let names: Vec<String> = known.iter().take(MOST_LISTED).map(name).collect();
    let others = match &*names {
        [] => "none has been published".to_owned(),
        [only] => format!("there is {only}"),
        _ if more > 0 => format!("there are {} and {more} more", names.join(", ")),
        _ => format!("there are {}", names.join(", ")),
    };
    anyhow!("there is no sale \"{sale}\"; {others}")
}

fn listed(document: &Value, is_closed: impl Fn(&Value) -> bool) -> Listed {
    let sales = document["sales"].as_array().into_iter().flatten();
    sales.filter_map(|sale| Some((sale["sale_id"].as_str()?.to_owned(), is_closed(sale)))).collect()
}

impl Client {
    /// A published sale as everybody sees it. If there is none, the error names the sales that the caller can see.
    pub async fn sale(&self, sale: &str) -> Result<Value> {
        match self.published(&format!("/{sale}")).await? {
            Some(found) => Ok(found),
            None => Err(self.no_sale(sale).await),
        }
    }

    /// Reads `what` ("a draw") of a sale at this path below `/v1/sales`. If the API does not have it, the
    /// error is `missing`, or if that is because there is no such sale, names those that there are.
    pub(crate) async fn document<T: DeserializeOwned>(
        &self,
        sale: &SaleId,
        path: &str,
        what: &str,
        missing: &str,
    ) -> Result<T> {
        match self.published(path).await {
            Ok(Some(found)) => serde_json::from_value(found).with_context(|| format!("the answer is not {what}")),
            Ok(None) => {
                self.ensure_sale(sale.as_str()).await?;
                bail!("{missing}")
            }
            Err(error) if error.is::<Failure>() => Err(error.context(format!("{} does not answer", self.url()))),
            Err(error) => Err(error),
        }
    }

    /// If there is none, the error names the sales that there are; to anybody but an operator, those that everybody
    /// sees.
    async fn ensure_sale(&self, sale: &str) -> Result<()> {
        let there_is = if self.is_of_operator() {
            self.ask_as_operator("GET", &format!("/v1/admin/sales/{sale}")).await?.status != 404
        } else {
            self.published(&format!("/{sale}")).await?.is_some()
        };
        if there_is { Ok(()) } else { Err(self.no_sale(sale).await) }
    }

    pub async fn ensure_round(&self, RoundId { sale, number }: &RoundId) -> Result<()> {
        let response = self.ask_as_operator("GET", &format!("/v1/admin/sales/{sale}")).await?;
        if response.status == 404 {
            return Err(self.no_sale(sale.as_str()).await);
        }
        let current = granted(&response)?["round"].as_u64().context("the API named no round")?;
        ensure!(u64::from(number.0) <= current, "no round {number} of {sale}; it is in round {current}");
        Ok(())
    }

    /// Says that there is no such sale. If the API does not tell which ones there are, that is all.
    async fn no_sale(&self, sale: &str) -> Error {
        let known = if self.is_of_operator() {
            self.list_sales().await
        } else {
            let shown = self.published("").await;
            shown.map(|found| listed(&found.unwrap_or_default(), |sale| sale["state"] == "closed"))
        };
        known.map_or_else(|_| anyhow!("there is no sale \"{sale}\""), |known| nobody_sees(sale, &known))
    }

    async fn list_sales(&self) -> Result<Listed> {
        let others = listed(&self.operate("GET", "/v1/admin/sales").await?, |_| false);
        let mut known = listed(&self.operate("GET", "/v1/admin/sales?state=ended").await?, |_| true);
        // A sale that ended a moment ago may be in both lists.
        known.extend(others);
        Ok(known)
    }
}

// Where a document comes from, and how what was verified is printed.
#[derive(Debug, Args)]
pub struct Public {
    /// The address of the API, if not the running `up`
    #[arg(long, env = "URL")]
    url: Option<String>,
    /// Print JSON
    #[arg(long, env = "JSON", value_parser = FalseyValueParser::new())]
    json: bool,
}

impl Public {
    /// The API that has the documents. The running one is asked as an operator; elsewhere nobody is one.
    pub(crate) fn publisher(&self) -> Result<Client> {
        match &self.url {
            Some(url) => Client::new(url),
            None => Ok(api()?.0),
        }
    }

    pub(crate) fn print(&self, verified: &(impl Display + Serialize)) -> Result<()> {
        if self.json {
            println!("{}", serde_json::to_string_pretty(verified)?);
        } else {
            print!("{verified}");
        }
        Ok(())
    }
}

/// What keeps buyers from buying, as [`Client::sale`] shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Obstacle {
    NotOpen { opens_at: Timestamp, wait_s: i64 },
    // Operators paused or stopped it, or its draw waits for a beacon.
    Paused,
    Closed,
}

/// What keeps everybody from buying at `now`. A group with early access may be able to: then there is none.
pub(crate) fn obstacle(sale: &Value, now: Timestamp) -> Option<Obstacle> {
    match sale["state"].as_str()? {
        "upcoming" if sale["early_access"].as_array().is_none_or(Vec::is_empty) => {
            let opens_at: Timestamp = sale["opens_at"].as_str()?.parse().ok()?;
            // The page may be a second old.
            let wait_s = (opens_at.as_millisecond() - now.as_millisecond()).max(0).unsigned_abs().div_ceil(1_000);
            (wait_s > 0).then_some(Obstacle::NotOpen { opens_at, wait_s: wait_s as i64 })
        }
        "paused" => Some(Obstacle::Paused),
        "closed" => Some(Obstacle::Closed),
        _ => None,
    }
}

impl Obstacle {
    /// What to tell somebody who wants to buy. Operators see why a sale is paused at `operators_url`.
    pub(crate) fn told(self, sale: &str, operators_url: &str) -> String {
        match self {
            Self::NotOpen { opens_at, wait_s } => {
                format!("{sale} opens at {opens_at:.0}, in {}; try again then", time(wait_s))
            }
            Self::Paused => format!("{sale} is paused or stopped, or waits for its beacon; see {operators_url}"),
            Self::Closed => format!("{sale} is over"),
        }
    }
}

/// The round that a page shows.
pub(crate) fn shown_round(sale: &SaleId, page: &Value) -> Result<RoundId> {
    let number = RoundNumber(u32::try_from(page["round"].as_u64().unwrap_or(1))?);
    Ok(RoundId { sale: sale.clone(), number })
}

/// Refuses a sale with a line, in which `who` cannot wait, unless it is over. `instead` is what to do.
pub(crate) fn ensure_no_line(sale: &Value, who: &str, instead: &str) -> Result<()> {
    if load::has_line(sale) {
        bail!("{} has a line, in which {who} cannot wait; {instead}", sale["sale_id"].as_str().unwrap_or("the sale"));
    }
    Ok(())
}

/// A length of time: "95 s", "12 min", "3 h 20 min".
pub(crate) fn time(seconds: i64) -> String {
    let minutes = (seconds + 59) / 60;
    match seconds {
        ..180 => format!("{seconds} s"),
        180..7_200 => format!("{minutes} min"),
        _ => format!("{} h {} min", minutes / 60, minutes % 60),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn known(names: &[(&str, bool)]) -> Listed {
        names.iter().map(|(id, is_closed)| ((*id).to_owned(), *is_closed)).collect()
    }

    #[test]
    fn a_sale_that_there_is_not_is_answered_with_those_that_there_are() {
        let says = |names: &[(&str, bool)]| nobody_sees("x", &known(names)).to_string();
        assert_eq!(says(&[]), "there is no sale \"x\"; none has been published");
        assert_eq!(says(&[("lamp", false)]), "there is no sale \"x\"; there is lamp");
        let both = [("packet", true), ("lamp", false)];
        assert_eq!(says(&both), "there is no sale \"x\"; there are lamp, packet (closed)");
        let many: Listed = (0..23).map(|n| (format!("sale-{n:02}"), false)).collect();
        let said = nobody_sees("x", &many).to_string();
        assert!(said.ends_with("sale-18, sale-19 and 3 more"), "{said}");
        let of_a_group = nobody_sees("vip", &known(&[("lamp", false), ("vip", false)])).to_string();
        assert_eq!(of_a_group, "only members of some groups see vip, so this command cannot");
    }

    #[test]
    fn who_cannot_buy_is_told_why_and_until_when() {
        let now: Timestamp = "2026-11-24T10:00:00Z".parse().unwrap();
        let told = |sale: Value| obstacle(&sale, now).map(|found| found.told("chair", "http://page"));
        let upcoming = json!({ "state": "upcoming", "opens_at": "2026-11-24T10:01:34.5Z" });
        assert_eq!(told(upcoming.clone()).unwrap(), "chair opens at 2026-11-24T10:01:34Z, in 95 s; try again then");
        assert_eq!(told(json!({ "state": "open" })), None);
        let mut members_first = upcoming;
        members_first["early_access"] = json!([{ "group": "vip", "opens_at": "2026-11-24T09:00:00Z" }]);
        assert_eq!(told(members_first), None, "a member may buy");
        let just_opened = json!({ "state": "upcoming", "opens_at": "2026-11-24T10:00:00Z" });
        assert_eq!(told(just_opened), None, "the page is a little old");
    }

    #[test]
    fn times_are_as_exact_as_people_need_them() {
        let said = [0, 95, 180, 181, 7_199, 7_200, 86_400].map(time);
        assert_eq!(said, ["0 s", "95 s", "3 min", "4 min", "120 min", "2 h 0 min", "24 h 0 min"]);
    }

    #[test]
    fn a_line_that_is_over_refuses_nobody() {
        assert!(ensure_no_line(&json!({ "sale_id": "lamp", "state": "closed", "line": {} }), "", "").is_ok());
    }
}
