//! Lists sales by state, for operators.

use std::collections::{BTreeSet, HashMap};

use sale::{EpochMs, Offer, Round, SaleId, SaleState};

use crate::by_time::{Direction, Position, TimeIndex, TimeRange};
use crate::item::{pk_of, read_or_skip};
use crate::offers::Latest;
use crate::{Ledger, LedgerError, keys};

const BY_CLOSE: TimeIndex = TimeIndex { name: keys::SALES_BY_CLOSE, shard: "sale_list", time: "closes_at_ms" };
/// How many items are read at once: one call to DynamoDB.
const READ_AT_ONCE: usize = 100;
/// How many items a call reads at most to find sales: of a daily sale, every round but the last is skipped.
const MAX_READ: usize = 500;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ListedState {
    Draft,
    /// Published, and its latest round has not opened for anybody.
    Published,
    Open,
    Ended,
    Withdrawn,
}

#[derive(Debug, Clone)]
pub struct SalesPage {
    pub sales: Vec<Latest>,
    /// Where it ended: the closing time of the last item read, and its key.
    pub next: Option<Position>,
}

impl Ledger {
    /// The first sales in a state at `now` after `after`, at most `limit`: ended ones by their end, newest first; the
    /// others by their end, the first to close first. A page may be short although there is another one. May lag a
    /// moment behind. A sale whose end is moved meanwhile may be missed or come twice.
    pub async fn sales_in(
        &self,
        state: ListedState,
        now: EpochMs,
        mut after: Option<Position>,
        limit: usize,
    ) -> Result<SalesPage, LedgerError> {
        let to_come = TimeRange { from: EpochMs(now.0.saturating_add(1)), ..TimeRange::ALL };
        let published = || keys::published_lists().collect();
        let (lists, direction, range): (Vec<String>, _, _) = match state {
            ListedState::Draft => (vec![keys::DRAFTS.to_owned()], Direction::OldestFirst, TimeRange::ALL),
            ListedState::Withdrawn => (vec![keys::WITHDRAWN.to_owned()], Direction::NewestFirst, TimeRange::ALL),
            ListedState::Published | ListedState::Open => (published(), Direction::OldestFirst, to_come),
            ListedState::Ended => (published(), Direction::NewestFirst, TimeRange { to: now, ..TimeRange::ALL }),
        };
        let (mut sales, mut read) = (Vec::new(), 0);
        loop {
            let shards = lists.iter().cloned();
            let found = self.walk(&BY_CLOSE, shards, direction, range, after.as_ref(), READ_AT_ONCE).await?;
            let mut known = self.listed_of(&found.places).await?;
            read += found.places.len();
            let mut places = found.places.into_iter();
            while sales.len() < limit
                && let Some(place) = places.next()
            {
                sales.extend(known.remove(&place.pk).filter(|latest| is_in(latest, state, now)));
                after = Some(place);
            }
            let more = found.more || places.len() > 0;
            if !more || sales.len() >= limit || read >= MAX_READ {
                return Ok(SalesPage { sales, next: after.filter(|_| more) });
            }
        }
    }

    /// The sales of these items by key, if the item is the draft or the latest round. Unreadable ones are skipped.
    async fn listed_of(&self, places: &[Position]) -> Result<HashMap<String, Latest>, LedgerError> {
        let pks: Vec<String> = places.iter().map(|place| place.pk.clone()).collect();
        let (mut listed, mut rounds) = (HashMap::new(), Vec::new());
        for item in self.batch_get(&pks).await? {
            let Some(pk) = pk_of(&item).map(str::to_owned) else { continue };
            let what = format!("sale {pk}");
            if item.contains_key("offer_version") {
                listed.extend(read_or_skip(&what, item).map(|offer| (pk, Latest { offer, round: None })));
            } else {
                rounds.extend(read_or_skip(&what, item).map(|round: Round| (pk, round)));
            }
        }
        let sales: BTreeSet<SaleId> = rounds.iter().map(|(_, round)| round.id.sale.clone()).collect();
        let offers = self.offers(&Vec::from_iter(sales)).await?;
        for (pk, round) in rounds {
            let offer = offers.iter().find(|offer| offer.id == round.id.sale).cloned();
            let is_latest =
                |offer: &Offer| offer.latest_round == round.id.number && offer.state == SaleState::Published;
            if let Some(offer) = offer.filter(is_latest) {
                listed.insert(pk, Latest { offer, round: Some(round) });
            }
        }
        Ok(listed)
    }
}

fn is_in(Latest { offer, round }: &Latest, state: ListedState, now: EpochMs) -> bool {
    match (state, round) {
        (ListedState::Draft, None) => offer.state == SaleState::Draft,
        (ListedState::Withdrawn, None) => offer.state == SaleState::Withdrawn,
        (ListedState::Published, Some(round)) => !round.is_over(now) && !round.is_open(now),
        (ListedState::Open, Some(round)) => round.is_open(now),
        (ListedState::Ended, Some(round)) => round.is_over(now),
        _ => false,
    }
}
