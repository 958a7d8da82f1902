use std::fmt;
use std::str::FromStr;

use serde_with::{DeserializeFromStr, SerializeDisplay};

use crate::award::bytes::{Bytes32, Hex, Seed, bytes32, labelled};
use crate::award::plan::{InvalidPlan, Plan, split_drawn, split_equal};
use crate::award::shuffle::{Shuffle, shuffle_key};

/// How many values a chunk has: 32 KiB, well below DynamoDB's limit of 400 KB for an item.
pub const CHUNK_VALUES: usize = 4096;
/// The value of a ticket that won nothing.
pub const BLANK: u64 = 0;

/// The digest of a table, see [`digest`]. Displays as 64 hex digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TableDigest(pub Bytes32);

impl fmt::Display for TableDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Hex(&self.0).fmt(f)
    }
}

impl Plan {
    /// The table in the order of generation. Only a drawn split depends on the seed.
    pub fn values(&self, seed: &Seed) -> Result<Vec<u64>, InvalidPlan> {
        self.check()?;
        Ok(match *self {
            Self::Equal { total, parts, .. } => split_equal(total, parts),
            Self::Drawn { total, parts, min } => split_drawn(seed, total, parts, min),
            Self::Prizes { ref counts, tickets } => prizes_table(counts, tickets),
        })
    }
}

/// Prizes in order, followed by blanks: 1 `counts[0]` times, 2 `counts[1]` times, and so on, then [`BLANK`] up to
/// `tickets` values. If there are fewer tickets than prizes, the last prizes are left out.
pub fn prizes_table(counts: &[u32], tickets: u32) -> Vec<u64> {
    prizes(counts).chain(std::iter::repeat(BLANK)).take(tickets as usize).collect()
}

/// The number of each prize to win, first prize first.
pub fn prizes(counts: &[u32]) -> impl Iterator<Item = u64> {
    (1..).zip(counts).flat_map(|(prize, count)| std::iter::repeat_n(prize, *count as usize))
}

/// The winners of a lottery with these prizes, as (unit, prize), first prize first: the table read backwards. Units
/// count from 1. The cost depends on the number of winners, not of tickets.
pub fn winners<'a>(counts: &'a [u32], tickets: u32, key: &Bytes32) -> impl Iterator<Item = (u32, u64)> + use<'a> {
    let shuffle = Shuffle::new(tickets, key);
    (0..tickets).zip(prizes(counts)).map(move |(position, prize)| (shuffle.unshuffled(position) + 1, prize))
}

/// The chunk that has the value at `position` of a table, and the value's index in it.
pub const fn chunk_of(position: u32) -> (u32, usize) {
    (position / CHUNK_VALUES as u32, position as usize % CHUNK_VALUES)
}

/// A chunk as it is stored and hashed: each value as 8 bytes, big endian.
pub fn chunk_bytes(chunk: &[u64]) -> Vec<u8> {
    chunk.iter().flat_map(|value| value.to_be_bytes()).collect()
}

/// The values in stored bytes. `None` if their length is not a multiple of 8 or exceeds a chunk.
pub fn values_of(bytes: &[u8]) -> Option<Vec<u64>> {
    let (values, rest) = bytes.as_chunks::<8>();
    let is_chunk = rest.is_empty() && values.len() <= CHUNK_VALUES;
    is_chunk.then(|| values.iter().map(|value| u64::from_be_bytes(*value)).collect())
}

/// The digest of one chunk: SHA-256 of the label `award/1/chunk` and its bytes.
pub fn chunk_digest(chunk: &[u64]) -> Bytes32 {
    labelled("award/1/chunk", &[&chunk_bytes(chunk)])
}

/// The digest of a table of `count` values from the digests of its chunks: SHA-256 of the label `award/1/table`, `count` as 4
/// bytes, big endian, and the digests in order.
pub fn digest_of_chunks(count: u32, chunks: &[Bytes32]) -> TableDigest {
    TableDigest(labelled("award/1/table", &[&count.to_be_bytes(), chunks.as_flattened()]))
}

/// The digest of a table: of the digests of its chunks of [`CHUNK_VALUES`], so that one chunk can be checked without
/// the others. Panics if the table has more than 2^32 - 1 values.
pub fn digest(table: &[u64]) -> TableDigest {
    let count = u32::try_from(table.len()).expect("a table has as many values as a round has units");
    digest_of_chunks(count, &table.chunks(CHUNK_VALUES).map(chunk_digest).collect::<Vec<_>>())
}

/// The commitment that a round publishes before it opens, see [`commit`]. Its text is 64 hex digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, SerializeDisplay, DeserializeFromStr)]
pub struct Commitment(pub Bytes32);

impl FromStr for Commitment {
    type Err = &'static str;
    fn from_str(text: &str) -> Result<Self, &'static str> {
        bytes32(text).map(Self).ok_or("a commitment has 64 hex digits")
    }
}

impl fmt::Display for Commitment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Hex(&self.0).fmt(f)
    }
}

/// Commits a round to its seed and table: SHA-256 of the label `award/1/commitment`, the length of the sale's id and
/// the id, the number of the round, the seed and the digest of the table. Length and number are 4 bytes each, big
/// endian. Panics if the sale's id is longer than 2^32 - 1 bytes.
pub fn commit(sale: &str, round: u32, seed: &Seed, digest: &TableDigest) -> Commitment {
    let length = u32::try_from(sale.len()).expect("a sale's id is short").to_be_bytes();
    let parts = [&length, sale.as_bytes(), &round.to_be_bytes(), &seed.0, &digest.0];
    Commitment(labelled("award/1/commitment", &parts))
}

/// What each unit of a round won. `Debug` does not print it.
#[derive(Clone)]
pub struct Table {
    values: Vec<u64>,
    shuffle: Shuffle,
}

impl Table {
    /// Computes the table of a round. Fails if the plan violates a bound.
    pub fn of(plan: &Plan, seed: &Seed, beacon: Option<&Bytes32>) -> Result<Self, InvalidPlan> {
        let shuffle = Shuffle::new(plan.units(), &shuffle_key(seed, beacon));
        Ok(Self { values: plan.values(seed)?, shuffle })
    }

    /// What a unit (from 1) won: an amount in minor units, or the number of a prize (from 1), or [`BLANK`]. Panics if
    /// there is no such unit.
    pub fn award(&self, unit: u32) -> u64 {
        self.values[self.position(unit) as usize]
    }

    /// The index in the table, from 0, of the award of a unit, from 1. Panics if there is no such unit.
    pub fn position(&self, unit: u32) -> u32 {
        self.shuffle.shuffled(unit.checked_sub(1).expect("units are numbered from 1"))
    }

    /// What each unit won, in the order of units. Much faster than individual lookups.
    pub fn awards(&self) -> Vec<u64> {
        self.shuffle.all().into_iter().map(|position| self.values[position as usize]).collect()
    }

    /// The values in the order of generation, which are hashed and stored.
    pub fn values(&self) -> &[u64] {
        &self.values
    }

    pub fn digest(&self) -> TableDigest {
        digest(&self.values)
    }
}
