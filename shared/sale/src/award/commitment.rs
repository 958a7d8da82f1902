use std::fmt;
use std::str::FromStr;

use serde_with::{DeserializeFromStr, SerializeDisplay};

use crate::award::bytes::{Bytes32, Hex, Seed, bytes32, labelled};
use crate::award::table::TableDigest;

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
