//! Which rounds are published, and which of them changed last.
//!
//! Every busy process reads the last changes every two seconds: one small item, however many sales there are. It reads
//! a round again when it is named there, and the list of all rounds hardly ever.

use std::cmp::Reverse;
use std::fmt;
use std::str::FromStr;

use aws_sdk_dynamodb::operation::query::builders::QueryFluentBuilder;
use aws_sdk_dynamodb::types::{CancellationReason, TransactWriteItem};
use futures::future::try_join_all;
use sale::{EpochMs, Round, RoundId};
use serde::{Deserialize, Serialize};

use crate::calls::{Replacement, UNCHANGED, has_failed};
use crate::item::{Item, number, read_or_skip, text, to_item};
use crate::{Ledger, LedgerError, keys};

/// The text of some 200 changes, in bytes: the item stays below 4 KB, so that a read of it costs half a unit.
const RECENT_BYTES: usize = 3_500;
/// How often a change is announced again because others announce theirs at the same time: each time, one succeeds.
const ANNOUNCE_TRIES: usize = 50;
/// How many pages of an index are read: a gigabyte. An error says that there are more, since nobody would miss them.
const MAX_PAGES: usize = 1_000;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RoundChange {
    pub id: RoundId,
    pub version: u32,
    pub withdrawn: bool,
}

impl RoundChange {
    pub(crate) fn of(round: &Round) -> Self {
        Self { id: round.id.clone(), version: round.version, withdrawn: false }
    }
}

/// The form in the item: `SALE.ROUND@VERSION`, and `!` if it was withdrawn.
impl fmt::Display for RoundChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@{}{}", self.id, self.version, if self.withdrawn { "!" } else { "" })
    }
}

impl FromStr for RoundChange {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let (id, version) = text.split_once('@').ok_or(())?;
        let (version, withdrawn) = version.strip_suffix('!').map_or((version, false), |version| (version, true));
        Ok(Self { id: id.parse().map_err(|_| ())?, version: version.parse().map_err(|_| ())?, withdrawn })
    }
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Changes {
    pub version: u32,
    pub recent: Vec<RoundChange>,
}

#[derive(Default, Serialize, Deserialize)]
struct ChangesItem {
    pk: String,
    version: u32,
    recent: String,
}

impl ChangesItem {
    /// With one more change, and without the oldest ones if they no longer fit.
    fn and(&self, change: &RoundChange) -> Self {
        let mut recent = format!("{} {change}", self.recent);
        while recent.len() > RECENT_BYTES {
            recent = recent.split_once(' ').map(|(_, rest)| rest.to_owned()).unwrap_or_default();
        }
        Self { pk: keys::CHANGES.to_owned(), version: self.version + 1, recent }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct ListedRound {
    #[serde(rename = "pk", deserialize_with = "keys::round_of")]
    pub id: RoundId,
    pub first_opens_at_ms: EpochMs,
    pub closes_at_ms: EpochMs,
}

impl Ledger {
    /// The last changes of published rounds. May lag a moment behind: every process reads it all the time.
    pub async fn recent_changes(&self) -> Result<Changes, LedgerError> {
        let item: ChangesItem = self.read_with(keys::CHANGES, false).await?.unwrap_or_default();
        let recent = item.recent.split_whitespace().map(str::parse).collect::<Result<_, ()>>();
        let recent = recent.map_err(|()| LedgerError::Contradiction(format!("unreadable changes: {}", item.recent)))?;
        Ok(Changes { version: item.version, recent })
    }

    /// Makes the writes of a published round's change, and names the change to all processes: both or none. Returns the
    /// reasons if a condition of the writes does not hold.
    ///
    /// Guards against a concurrent change of another round, which would not be named, by the version.
    pub(crate) async fn transact_named(
        &self,
        change: &RoundChange,
        writes: Vec<TransactWriteItem>,
    ) -> Result<Option<Vec<CancellationReason>>, LedgerError> {
        let naming = writes.len();
        for _ in 0..ANNOUNCE_TRIES {
            let read: ChangesItem = self.read(keys::CHANGES).await?.unwrap_or_default();
            let item = to_item(read.and(change))?;
            let replacement = Replacement { item, condition: UNCHANGED, version: read.version };
            let all = writes.iter().cloned().chain([self.replacing(replacement)]).collect();
            match self.transact(all).await? {
                None => return Ok(None),
                Some(reasons) if (0..naming).any(|index| has_failed(&reasons, index)) => {
                    return Ok(Some(reasons[..naming].to_vec()));
                }
                Some(_) => {}
            }
        }
        Err(LedgerError::Contradiction(format!("others announce changes all the time, so {change} is not made")))
    }

    /// Published rounds that close after `since` and by `until`, in any order. May lag a moment behind.
    pub async fn listed_rounds(&self, since: EpochMs, until: EpochMs) -> Result<Vec<ListedRound>, LedgerError> {
        let lists = keys::published_lists().map(|list| async move {
            let condition = "sale_list = :list AND closes_at_ms BETWEEN :after AND :until";
            let after = number(since.0.saturating_add(1));
            let values = [(":list", text(list)), (":after", after), (":until", number(until.0))];
            whole(self.query(keys::SALES_BY_CLOSE, condition, values)).await
        });
        Ok(try_join_all(lists).await?.into_iter().flatten().filter_map(|item| read_or_skip("round", item)).collect())
    }

    /// Those of these rounds whose sales are not withdrawn. Unless `consistently`, they may lag, for half the price.
    pub async fn published(&self, ids: &[RoundId], consistently: bool) -> Result<Vec<Round>, LedgerError> {
        let pks: Vec<String> = ids.iter().map(keys::round).collect();
        let items = self.batch_read(&pks, consistently).await?.into_iter();
        let listed = items.filter(|item| item.contains_key("sale_list"));
        Ok(listed.filter_map(|item| read_or_skip("round", item)).collect())
    }

    /// Rounds of published sales that close after `since`, the first to close first. May lag a moment behind.
    pub async fn published_rounds(&self, since: EpochMs) -> Result<Vec<Round>, LedgerError> {
        let mut rounds = self.rounds_closing(since, EpochMs(i64::MAX)).await?;
        rounds.sort_by_key(|round| round.terms.closes_at_ms);
        Ok(rounds)
    }

    /// Rounds that closed after `since` and are over at `now`, the last to close first. May lag a moment behind.
    pub async fn rounds_over(&self, since: EpochMs, now: EpochMs) -> Result<Vec<Round>, LedgerError> {
        let mut rounds = self.rounds_closing(since, now).await?;
        rounds.sort_by_key(|round| Reverse(round.terms.closes_at_ms));
        Ok(rounds)
    }

    async fn rounds_closing(&self, since: EpochMs, until: EpochMs) -> Result<Vec<Round>, LedgerError> {
        let ids: Vec<RoundId> = self.listed_rounds(since, until).await?.into_iter().map(|listed| listed.id).collect();
        let mut rounds = self.published(&ids, false).await?;
        // The index may have listed it under the end that it had before.
        rounds.retain(|round| (since.0.saturating_add(1)..=until.0).contains(&round.terms.closes_at_ms.0));
        Ok(rounds)
    }
}

/// All items of a query. Fails if there are more than anybody has thought of.
pub(crate) async fn whole(query: QueryFluentBuilder) -> Result<Vec<Item>, LedgerError> {
    let mut pages = query.into_paginator().send();
    let mut items = Vec::new();
    for _ in 0..MAX_PAGES {
        let Some(page) = pages.next().await else { return Ok(items) };
        items.extend(page.map_err(LedgerError::of("Query"))?.items.unwrap_or_default());
    }
    Err(LedgerError::Contradiction(format!("a list has more than {MAX_PAGES} pages")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_changes_fit_into_half_a_read_unit_and_are_the_newest() {
        let change = |n: u32| format!("a-sale-with-quite-a-long-name-{n}.{n}@{n}").parse::<RoundChange>().unwrap();
        let mut item = ChangesItem::default();
        for n in 1..=1_000 {
            item = item.and(&change(n));
        }
        assert_eq!(item.version, 1_000);
        assert!(item.recent.len() <= RECENT_BYTES && item.recent.len() > RECENT_BYTES - 100, "{}", item.recent.len());
        let read: Vec<RoundChange> = item.recent.split_whitespace().map(|text| text.parse().unwrap()).collect();
        assert_eq!(read.last(), Some(&change(1_000)));
        assert_eq!(read[0], change(1_001 - read.len() as u32), "none is missing in between");
        let withdrawn = RoundChange { withdrawn: true, ..change(7) };
        assert_eq!(withdrawn.to_string().parse(), Ok(withdrawn));
        for other in ["", "lamp", "lamp.1", "lamp.1@", "lamp.1@x", "lamp@1", "lamp.1@1?"] {
            assert!(other.parse::<RoundChange>().is_err(), "{other:?}");
        }
    }
}
