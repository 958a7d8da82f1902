//! Draws at the end of a round: the item `DRAW#…` with the state of the draw, the entries in chunks, and an item for
//! each prize with a winner.
//!
//! Each write is conditional and is one step of the draw. None is ever undone, so any step can be repeated at any time
//! and run concurrently.

use std::ops::RangeInclusive;

use aws_sdk_dynamodb::operation::query::builders::QueryFluentBuilder;
use aws_sdk_dynamodb::operation::update_item::builders::UpdateItemFluentBuilder;
use aws_sdk_dynamodb::types::{AttributeValue, ReturnValue, TransactWriteItem};
use futures::{StreamExt, TryStreamExt, stream};
use sale::award::drand::DrandRound;
use sale::award::{self, Bytes32, Hex};
use sale::{Award, EpochMs, ReservationId, Round, RoundId, Unit};
use serde::{Deserialize, Serialize};

use crate::calls::{ABSENT, Conditional, Part, Write, Written, old_item};
use crate::item::{Item, bytes, from_item, item_of, item_with, number, pk_of, text, to_item};
use crate::shards::{count, read_all};
use crate::{Ledger, LedgerError, keys};

/// How many entries a chunk has: their units and leaves take 147 KB, well below DynamoDB's limit of 400 KB for an item.
pub const CHUNK_ENTRIES: usize = 4096;
/// How many shards of the index are read concurrently. A page is a megabyte, and several times that once parsed.
const SHARDS_AT_ONCE: usize = 4;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Draw {
    /// When the entries were fenced off: later orders do not become entries.
    pub fenced_at_ms: EpochMs,
    pub closed: Option<ClosedDraw>,
    /// How many prizes, from the first, have winners that were sent to be notified.
    pub awarded: u32,
    pub drawn_at_ms: Option<EpochMs>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClosedDraw {
    pub entries: u32,
    /// The root of the Merkle tree over them.
    pub root: Bytes32,
    pub at_ms: EpochMs,
    /// The round of drand whose beacon takes part in the draw. `None` without a beacon.
    pub drand_round: Option<DrandRound>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct DrawEntry {
    pub unit: Unit,
    pub leaf: Bytes32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub struct Loss {
    pub seen_at_ms: EpochMs,
    /// Since when no order has been under way. `None` if the last look found one.
    pub quiet_since_ms: Option<EpochMs>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Winner {
    pub order_id: ReservationId,
    /// The number of its entry, from 1.
    pub entry: u32,
    pub unit: Unit,
    /// The number of the prize's kind, from 1.
    pub prize: u16,
    pub awarded_at_ms: EpochMs,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notified_at_ms: Option<EpochMs>,
}

#[derive(Deserialize)]
struct LiveKeys {
    pk: String,
    unit: Unit,
}

#[derive(Deserialize)]
struct DrawItem {
    fenced_at_ms: EpochMs,
    entries: Option<u32>,
    root: Option<String>,
    closed_at_ms: Option<EpochMs>,
    drand_round: Option<u64>,
    #[serde(default)]
    awarded: u32,
    drawn_at_ms: Option<EpochMs>,
}

impl Draw {
    fn from_item(id: &RoundId, item: Item) -> Result<Self, LedgerError> {
        let item: DrawItem = from_item(item)?;
        let closed = |root: String| {
            let root = award::bytes32(&root)?;
            let drand_round = item.drand_round.map(DrandRound);
            Some(ClosedDraw { entries: item.entries?, root, at_ms: item.closed_at_ms?, drand_round })
        };
        let unreadable = || LedgerError::Contradiction(format!("the draw of round {id} cannot be read"));
        let closed = item.root.map(|root| closed(root).ok_or_else(unreadable)).transpose()?;
        let DrawItem { fenced_at_ms, awarded, drawn_at_ms, .. } = item;
        Ok(Self { fenced_at_ms, closed, awarded, drawn_at_ms })
    }
}

impl Ledger {
    pub async fn draw(&self, id: &RoundId) -> Result<Option<Draw>, LedgerError> {
        self.item(keys::draw(id)).await?.map(|item| Draw::from_item(id, item)).transpose()
    }

    /// Fences off the entries of a round: a later order does not become an entry ([`Ledger::place_within`]), and the
    /// round cannot be extended ([`Ledger::update_round`]). `None` if the round's end has changed since.
    ///
    /// Guards against an operator who extends the round at the same time: whichever comes second finds the other,
    /// whatever their clocks say. Can be repeated: the first time stays.
    pub async fn fence_draw(&self, round: &Round, now: EpochMs) -> Result<Option<Draw>, LedgerError> {
        const DRAW: usize = 0;
        let id = &round.id;
        let draw = item_of([("pk", text(keys::draw(id))), ("fenced_at_ms", number(now.0))]);
        let still_ends = self
            .checking(keys::round(id))
            .condition_expression("closes_at_ms = :closes_at")
            .values([(":closes_at", number(round.terms.closes_at_ms.0))]);
        let fence = |shard| self.putting(item_of([("pk", text(keys::fence(id, shard)))])).part();
        let mut writes = vec![self.put_if_absent(draw.clone()), still_ends.part()];
        writes.extend((0..keys::ROUND_SHARDS).map(fence));
        match self.transact(writes).await? {
            None => Draw::from_item(id, draw).map(Some),
            Some(reasons) => old_item(&reasons, DRAW).map(|kept| Draw::from_item(id, kept)).transpose(),
        }
    }

    /// Records that Redis has lost a round, and whether orders are still under way. Returns what is known about the
    /// loss then. Can be repeated, and can run concurrently: the first time of the loss stays, and so does the time
    /// since which nothing was under way, until something is.
    pub async fn note_loss(&self, id: &RoundId, now: EpochMs, is_quiet: bool) -> Result<Loss, LedgerError> {
        let seen = "SET seen_at_ms = if_not_exists(seen_at_ms, :now)";
        let quiet =
            if is_quiet { ", quiet_since_ms = if_not_exists(quiet_since_ms, :now)" } else { " REMOVE quiet_since_ms" };
        let update = self.update(keys::loss(id), format!("{seen}{quiet}")).values([(":now", number(now.0))]);
        from_item(update.return_values(ReturnValue::AllNew).must_write().await?)
    }

    /// Publishes the entries of a round: from then on exactly these take part. If the draw uses a beacon, the same
    /// write names the round of drand. Returns the draw as it is then, which may be another run's.
    ///
    /// Guards against a concurrent run that counted something else.
    pub async fn close_draw(&self, id: &RoundId, closed: &ClosedDraw) -> Result<Draw, LedgerError> {
        let set = "SET entries = :entries, root = :root, closed_at_ms = :now";
        let update = match closed.drand_round {
            None => self.update(keys::draw(id), set),
            Some(DrandRound(named)) => {
                let update = self.update(keys::draw(id), format!("{set}, drand_round = :drand_round"));
                update.values([(":drand_round", number(named))])
            }
        };
        let (entries, root) = (number(closed.entries), text(Hex(&closed.root).to_string()));
        let update = update
            .condition_expression("attribute_exists(fenced_at_ms) AND attribute_not_exists(root)")
            .values([(":entries", entries), (":root", root), (":now", number(closed.at_ms.0))]);
        self.changed_draw(id, update).await
    }

    /// Records that the winners up to this number have their prizes and were sent to be notified. Can be repeated, and
    /// can run concurrently: the highest number stays.
    pub async fn advance_draw(&self, id: &RoundId, awarded: u32) -> Result<Draw, LedgerError> {
        let update = self
            .update(keys::draw(id), "SET awarded = :awarded")
            .condition_expression("attribute_exists(root) AND (attribute_not_exists(awarded) OR awarded < :awarded)")
            .values([(":awarded", number(awarded))]);
        self.changed_draw(id, update).await
    }

    /// Records that every prize that can be won has its winner. The first time stays.
    pub async fn finish_draw(&self, id: &RoundId, now: EpochMs) -> Result<Draw, LedgerError> {
        let update = self
            .update(keys::draw(id), "SET drawn_at_ms = :now")
            .condition_expression("attribute_exists(root) AND attribute_not_exists(drawn_at_ms)")
            .values([(":now", number(now.0))]);
        self.changed_draw(id, update).await
    }

    /// Makes a conditional update. Returns the item as it is then, whether or not the condition held.
    async fn changed_draw(&self, id: &RoundId, update: UpdateItemFluentBuilder) -> Result<Draw, LedgerError> {
        match update.return_values(ReturnValue::AllNew).or_old().write().await? {
            Written::Refused(item) if item.is_empty() => {
                Err(LedgerError::Contradiction(format!("round {id} has no draw")))
            }
            Written::Done(item) | Written::Refused(item) => Draw::from_item(id, item),
        }
    }

    /// The entries of a round by unit: its live orders, from their index. May lag a moment behind. A million entries
    /// take 36 MB. Fails if a unit has two orders.
    pub async fn entries(&self, id: &RoundId) -> Result<Vec<DrawEntry>, LedgerError> {
        // The other fields of an order would be a lot to transfer and parse for a million orders.
        let shards = self.shards_of_entries(id).map(|query| {
            read_all(query.projection_expression("pk, #unit").expression_attribute_names("#unit", "unit"), entry_of)
        });
        let shards = stream::iter(shards).buffer_unordered(SHARDS_AT_ONCE);
        let mut entries: Vec<DrawEntry> = shards.try_concat().await?;
        entries.sort_unstable();
        match entries.windows(2).find(|pair| pair[0].unit == pair[1].unit) {
            None => Ok(entries),
            Some(pair) => {
                Err(LedgerError::Contradiction(format!("unit {} of round {id} has two entries", pair[0].unit)))
            }
        }
    }

    /// The number of entries of a round, from the same index, without transferring them.
    pub async fn count_entries(&self, id: &RoundId) -> Result<u64, LedgerError> {
        let shards = self.shards_of_entries(id).map(|query| count(query, usize::MAX));
        let counts = stream::iter(shards).buffer_unordered(SHARDS_AT_ONCE);
        counts.try_fold(0, async |sum, count| Ok(sum + count)).await
    }

    fn shards_of_entries(&self, id: &RoundId) -> impl Iterator<Item = QueryFluentBuilder> {
        (0..keys::ROUND_SHARDS).map(move |shard| {
            let values = [(":shard", text(keys::live_shard(id, shard)))];
            self.query(keys::ORDERS_BY_ROUND, "live_shard = :shard", values)
        })
    }

    /// Stores the entries whose tree has this root, in chunks. Their keys contain the root, so runs that counted
    /// something else do not interfere. Can be repeated, and can run concurrently, since the bytes are the same.
    pub async fn keep_entries(&self, id: &RoundId, root: &Bytes32, entries: &[DrawEntry]) -> Result<(), LedgerError> {
        let chunks = (0..).zip(entries.chunks(CHUNK_ENTRIES)).map(|(number, chunk)| {
            let units: Vec<u8> = chunk.iter().flat_map(|entry| entry.unit.0.to_be_bytes()).collect();
            let leaves: Vec<u8> = chunk.iter().flat_map(|entry| entry.leaf).collect();
            let pk = text(keys::entries(id, root, number));
            item_of([("pk", pk), ("units", bytes(units)), ("leaves", bytes(leaves))])
        });
        self.put_chunks(chunks).await
    }

    /// One chunk, by unit, of the entries whose tree has this root. `None` if there is no such chunk.
    pub async fn entries_chunk(
        &self,
        id: &RoundId,
        root: &Bytes32,
        chunk: u32,
    ) -> Result<Option<Vec<DrawEntry>>, LedgerError> {
        let Some(item) = self.item(keys::entries(id, root, chunk)).await? else { return Ok(None) };
        let entries = || {
            let (units, rest) = item.get("units")?.as_b().ok()?.as_ref().as_chunks::<4>();
            let (leaves, more) = item.get("leaves")?.as_b().ok()?.as_ref().as_chunks::<32>();
            let fits = rest.is_empty() && more.is_empty() && units.len() == leaves.len();
            let entry =
                |(unit, leaf): (&[u8; 4], &Bytes32)| DrawEntry { unit: Unit(u32::from_be_bytes(*unit)), leaf: *leaf };
            fits.then(|| units.iter().zip(leaves).map(entry).collect())
        };
        let unreadable = || LedgerError::Contradiction(format!("chunk {chunk} of the entries of {id} cannot be read"));
        entries().ok_or_else(unreadable).map(Some)
    }

    /// Writes an award into its order and the prize's own item, both or none. Returns the winner as it is then.
    ///
    /// Guards against giving the same prize twice (by the condition on the prize's item) and an order that would win
    /// twice (by that on the order). Fails if one of these is so.
    pub async fn award_prize(&self, id: &RoundId, position: u32, winner: &Winner) -> Result<Winner, LedgerError> {
        const PRIZE: usize = 0;
        let item = winner_item(id, position, winner)?;
        let award = to_item(Award::Prize { prize: winner.prize })?;
        let update = self
            .updating(keys::order(&winner.order_id), "SET award = :award")
            .condition_expression("attribute_exists(live_shard) AND #unit = :unit AND attribute_not_exists(award)")
            .expression_attribute_names("#unit", "unit")
            .values([(":award", AttributeValue::M(award)), (":unit", number(winner.unit.0))]);
        let writes = vec![self.put_if_absent(item), update.part()];
        let Some(reasons) = self.transact(writes).await? else { return Ok(winner.clone()) };
        let kept: Option<Winner> = old_item(&reasons, PRIZE).map(from_item).transpose()?;
        let order = &winner.order_id;
        Err(LedgerError::Contradiction(match kept {
            Some(kept) if (&kept.order_id, kept.prize) == (order, winner.prize) => return Ok(kept),
            Some(kept) => format!("prize {position} of round {id} is {}'s and not {order}'s", kept.order_id),
            None => format!("{order} is to win prize {position}, and cannot"),
        }))
    }

    /// The winner of the prize with this number, from 1. `None` before it was drawn.
    pub async fn winner(&self, id: &RoundId, position: u32) -> Result<Option<Winner>, LedgerError> {
        self.read(keys::winner(id, position)).await
    }

    /// The winners of the prizes with these numbers, as far as there are any, in any order.
    pub async fn winners(
        &self,
        id: &RoundId,
        positions: RangeInclusive<u32>,
    ) -> Result<Vec<(u32, Winner)>, LedgerError> {
        let pks: Vec<String> = positions.map(|position| keys::winner(id, position)).collect();
        let read = |item: Item| {
            let position = pk_of(&item).and_then(|pk| pk.rsplit('#').next()?.parse().ok());
            let none = || LedgerError::Contradiction(format!("a winner of round {id} has no number"));
            Ok((position.ok_or_else(none)?, from_item(item)?))
        };
        self.batch_get(&pks).await?.into_iter().map(read).collect()
    }

    /// Records that the winner of a prize was notified. The first time stays.
    pub async fn note_notified(&self, id: &RoundId, position: u32, now: EpochMs) -> Result<(), LedgerError> {
        let update = self
            .update(keys::winner(id, position), "SET notified_at_ms = if_not_exists(notified_at_ms, :now)")
            .condition_expression("attribute_exists(pk)")
            .values([(":now", number(now.0))]);
        update.must_write().await.map(drop)
    }

    /// The condition that the entries of a round are not fenced off, for an order of this unit.
    ///
    /// DynamoDB may cancel a transaction that shares an item with a concurrent one, and does not exempt condition
    /// checks (API reference, `TransactWriteItems`). So each shard of a round has its own fence, all written in one
    /// transaction: thousands of late orders then do not all wait for one item.
    pub(crate) fn unless_fenced(&self, id: &RoundId, unit: Unit) -> TransactWriteItem {
        self.unless_there(keys::fence(id, keys::shard_of(unit)))
    }

    /// The condition that the draw of a round has not begun.
    pub(crate) fn unless_drawn(&self, id: &RoundId) -> TransactWriteItem {
        self.unless_there(keys::draw(id))
    }

    fn unless_there(&self, pk: String) -> TransactWriteItem {
        self.checking(pk).condition_expression(ABSENT).part()
    }
}

fn winner_item(id: &RoundId, position: u32, winner: &Winner) -> Result<Item, LedgerError> {
    item_with(winner, [("pk", text(keys::winner(id, position)))])
}

fn entry_of(item: Item) -> Result<DrawEntry, LedgerError> {
    let LiveKeys { pk, unit } = from_item(item)?;
    let id = keys::order_id(&pk)?;
    Ok(DrawEntry { unit, leaf: award::merkle::leaf_hash(&award::merkle::entry(unit.0, &id.to_string())) })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn stored_draws_stay_readable() {
        let id: RoundId = "tickets.1".parse().unwrap();
        let read = |more: &Value| {
            let mut stored = to_item(json!({ "pk": "DRAW#tickets#1", "fenced_at_ms": 5 })).unwrap();
            stored.extend(to_item(more).unwrap());
            Draw::from_item(&id, stored).ok()
        };
        let fenced = Draw { fenced_at_ms: EpochMs(5), closed: None, awarded: 0, drawn_at_ms: None };
        let plain = ClosedDraw { entries: 3, root: [7; 32], at_ms: EpochMs(6), drand_round: None };
        let closed = Draw { closed: Some(plain), ..fenced.clone() };
        let named = Draw { closed: Some(ClosedDraw { drand_round: Some(DrandRound(9)), ..plain }), ..fenced.clone() };
        let drawn = Draw { awarded: 2, drawn_at_ms: Some(EpochMs(7)), ..closed.clone() };
        let root = "07".repeat(32);
        for (more, draw) in [
            (json!({}), Some(fenced)),
            (json!({ "root": root, "entries": 3, "closed_at_ms": 6 }), Some(closed)),
            (json!({ "root": root, "entries": 3, "closed_at_ms": 6, "drand_round": 9 }), Some(named)),
            (json!({ "root": root, "entries": 3, "closed_at_ms": 6, "awarded": 2, "drawn_at_ms": 7 }), Some(drawn)),
            (json!({ "root": root }), None),
            (json!({ "root": "7", "entries": 3, "closed_at_ms": 6 }), None),
            (json!({ "root": root, "entries": 3, "closed_at_ms": 6, "drand_round": -1 }), None),
            (json!({ "awarded": -1 }), None),
            (json!({ "fenced_at_ms": "5" }), None),
        ] {
            assert_eq!(read(&more), draw, "{more}");
        }
    }

    #[test]
    fn stored_winners_stay_readable_and_are_written_the_same() {
        let stored = json!({
            "pk": "WINNER#tickets#1#2", "order_id": "tickets.1.0198f0b2a4c57d1e8f00aabbccddeeff", "entry": 3, "unit": 17,
            "prize": 1, "awarded_at_ms": 5, "notified_at_ms": 6,
        });
        let winner: Winner = serde_json::from_value(stored.clone()).unwrap();
        let id = winner.order_id.round.clone();
        assert_eq!(winner_item(&id, 2, &winner).unwrap(), to_item(&stored).unwrap());
    }
}
