//! Pages through indexes by time that are spread over many partitions.

use std::cmp::Ordering;
use std::collections::VecDeque;

use futures::{FutureExt, StreamExt, TryStreamExt, stream};
use sale::EpochMs;

use crate::calls::Call;
use crate::item::{Item, number, text};
use crate::{Ledger, LedgerError};

/// The smallest and largest number of keys that a query asks of a partition.
const FEWEST_KEYS: usize = 8;
const MOST_KEYS: usize = 2_000;
const SHARDS_AT_ONCE: usize = 4;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    NewestFirst,
    OldestFirst,
}

/// A range of time, inclusive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimeRange {
    pub from: EpochMs,
    pub to: EpochMs,
}

impl TimeRange {
    pub const ALL: Self = Self { from: EpochMs(i64::MIN), to: EpochMs(i64::MAX) };
}

pub(crate) struct TimeIndex {
    pub(crate) name: &'static str,
    pub(crate) shard: &'static str,
    pub(crate) time: &'static str,
}

/// A position in a walk. Items of one time are ordered by key, which DynamoDB does not promise, so the walk sorts.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    pub at_ms: EpochMs,
    pub pk: String,
}

pub(crate) struct Places {
    pub(crate) places: Vec<Position>,
    pub(crate) more: bool,
}

struct Shard {
    name: String,
    /// In the order of the walk.
    ready: VecDeque<Position>,
    /// Items of the last time read, of which there may be more.
    pending: Vec<Position>,
    start: Option<Item>,
    is_read: bool,
}

struct Walk<'a> {
    ledger: &'a Ledger,
    index: &'a TimeIndex,
    direction: Direction,
    range: TimeRange,
    after: Option<&'a Position>,
    keys_at_once: i32,
}

impl Ledger {
    /// The first `limit` items of an index after `after`. May lag a moment behind.
    ///
    /// Going on after the last page returns each item that stayed exactly once: its time and key never change.
    pub(crate) async fn walk(
        &self,
        index: &TimeIndex,
        shards: impl Iterator<Item = String>,
        direction: Direction,
        range: TimeRange,
        after: Option<&Position>,
        limit: usize,
    ) -> Result<Places, LedgerError> {
        let TimeRange { mut from, mut to } = range;
        match (after, direction) {
            (Some(after), Direction::NewestFirst) => to = to.min(after.at_ms),
            (Some(after), Direction::OldestFirst) => from = from.max(after.at_ms),
            (None, _) => {}
        }
        if from > to {
            return Ok(Places { places: Vec::new(), more: false });
        }
        let shard = |name| Shard { name, ready: VecDeque::new(), pending: Vec::new(), start: None, is_read: false };
        let mut shards: Vec<Shard> = shards.map(shard).collect();
        // Twice the even share of each partition, so that few need a second query.
        let keys = (limit * 2 / shards.len().max(1)).clamp(FEWEST_KEYS, MOST_KEYS);
        let keys_at_once = i32::try_from(keys).unwrap_or(i32::MAX);
        let walk = Walk { ledger: self, index, direction, range: TimeRange { from, to }, after, keys_at_once };
        let mut places = Vec::with_capacity(limit);
        loop {
            walk.fill(&mut shards).await?;
            let heads = shards.iter().enumerate().filter_map(|(at, shard)| Some((at, shard.ready.front()?)));
            let Some((first, _)) = heads.min_by(|(_, a), (_, b)| walk.compare(a, b)) else {
                return Ok(Places { places, more: false });
            };
            if places.len() >= limit {
                return Ok(Places { places, more: true });
            }
            places.extend(shards[first].ready.pop_front());
        }
    }
}

impl Walk<'_> {
    fn compare(&self, a: &Position, b: &Position) -> Ordering {
        match self.direction {
            Direction::NewestFirst => b.cmp(a),
            Direction::OldestFirst => a.cmp(b),
        }
    }

    /// Reads from every partition with nothing ready, so that the first of all ready items is the overall first.
    async fn fill(&self, shards: &mut [Shard]) -> Result<(), LedgerError> {
        let empty = shards.iter_mut().filter(|shard| shard.ready.is_empty() && !shard.is_read);
        let reads: Vec<_> = empty.map(|shard| self.read_on(shard).boxed()).collect();
        stream::iter(reads).buffer_unordered(SHARDS_AT_ONCE).try_collect().await
    }

    async fn read_on(&self, shard: &mut Shard) -> Result<(), LedgerError> {
        let TimeIndex { name, shard: shard_attribute, time } = self.index;
        while shard.ready.is_empty() && !shard.is_read {
            let condition = format!("{shard_attribute} = :shard AND {time} BETWEEN :from AND :to");
            let TimeRange { from, to } = self.range;
            let values = [(":shard", text(&*shard.name)), (":from", number(from.0)), (":to", number(to.0))];
            let query = self.ledger.query(name, condition, values).limit(self.keys_at_once);
            let query = query.scan_index_forward(self.direction == Direction::OldestFirst);
            let output = query.set_exclusive_start_key(shard.start.take()).answer().await?;
            for item in output.items.unwrap_or_default() {
                shard.pending.push(self.place(&item)?);
            }
            shard.start = output.last_evaluated_key;
            shard.is_read = shard.start.is_none();
            let last_moment = shard.pending.last().map(|place| place.at_ms);
            let whole = |place: &Position| shard.is_read || Some(place.at_ms) != last_moment;
            let (mut ready, pending): (Vec<_>, Vec<_>) = shard.pending.drain(..).partition(whole);
            ready.sort_unstable_by(|a, b| self.compare(a, b));
            ready.retain(|place| self.after.is_none_or(|after| self.compare(after, place).is_lt()));
            shard.ready.extend(ready);
            shard.pending = pending;
        }
        Ok(())
    }

    fn place(&self, item: &Item) -> Result<Position, LedgerError> {
        let read = || {
            let at_ms = item.get(self.index.time)?.as_n().ok()?.parse().ok()?;
            Some(Position { at_ms: EpochMs(at_ms), pk: item.get("pk")?.as_s().ok()?.clone() })
        };
        read().ok_or_else(|| LedgerError::Contradiction(format!("an item of {} has no time", self.index.name)))
    }
}
