use hmac::Mac;
use sha2::{Digest, Sha256};

use crate::award::bytes::{Bytes32, Seed, keyed};

/// Rounds of the shuffle: `SHUFFLE_ROUND_COUNT` of the consensus specification.
pub const ROUNDS: u8 = 90;
/// Positions whose bits come from one digest.
const BLOCK: u32 = 256;

/// The key that a round is shuffled with: HMAC-SHA256 under the seed, of the label `award/1/shuffle` and a byte 0
/// without a beacon, or a byte 1 and the 32 bytes of the beacon.
pub fn shuffle_key(seed: &Seed, beacon: Option<&Bytes32>) -> Bytes32 {
    let mac = keyed(seed, "award/1/shuffle");
    let mac = match beacon {
        None => mac.chain_update([0]),
        Some(beacon) => mac.chain_update([1]).chain_update(beacon),
    };
    mac.finalize().into_bytes().into()
}

/// The shuffle of `count` positions under one key, prepared for many lookups: `compute_shuffled_index` of the Ethereum
/// consensus specification, the swap-or-not shuffle of Hoang, Morris and Rogaway (2012). It is a permutation whatever the
/// key.
#[derive(Clone)]
pub struct Shuffle {
    count: u32,
    key: Bytes32,
    pivots: [u32; ROUNDS as usize],
}

impl Shuffle {
    pub fn new(count: u32, key: &Bytes32) -> Self {
        let mut round = 0;
        let pivots = [(); ROUNDS as usize].map(|()| {
            let digest: Bytes32 = Sha256::new().chain_update(key).chain_update([round]).finalize().into();
            round += 1;
            let first = u64::from_le_bytes(*digest.first_chunk().expect("a digest has more than 8 bytes"));
            // With no positions there are no pivots, and no lookups.
            first.checked_rem(u64::from(count)).unwrap_or(0) as u32
        });
        Self { count, key: *key, pivots }
    }

    /// Where `index` is after the shuffle. Panics if there is no such index.
    pub fn shuffled(&self, index: u32) -> u32 {
        self.walk(index, 0..ROUNDS)
    }

    /// The index that the shuffle takes to `position`. Panics if there is no such position.
    pub fn unshuffled(&self, position: u32) -> u32 {
        // Each round swaps pairs or leaves them, so it is its own inverse.
        self.walk(position, (0..ROUNDS).rev())
    }

    /// The new place of each index. A hundred times as fast as individual lookups, since 256 positions share a digest.
    pub fn all(&self) -> Vec<u32> {
        let mut places: Vec<u32> = (0..self.count).collect();
        for round in 0..ROUNDS {
            let sources: Vec<Bytes32> =
                (0..self.count.div_ceil(BLOCK)).map(|block| self.source(round, block)).collect();
            for place in &mut places {
                *place = self.step(*place, round, |block| sources[block as usize]);
            }
        }
        places
    }

    fn walk(&self, index: u32, rounds: impl Iterator<Item = u8>) -> u32 {
        assert!(index < self.count, "{index} is not one of {} positions", self.count);
        rounds.fold(index, |index, round| self.step(index, round, |block| self.source(round, block)))
    }

    fn step(&self, index: u32, round: u8, source: impl FnOnce(u32) -> Bytes32) -> u32 {
        let (count, pivot) = (u64::from(self.count), u64::from(self.pivots[usize::from(round)]));
        let flip = ((pivot + count - u64::from(index)) % count) as u32;
        let position = index.max(flip);
        let byte = source(position / BLOCK)[(position % BLOCK / 8) as usize];
        if byte >> (position % 8) & 1 == 1 { flip } else { index }
    }

    fn source(&self, round: u8, block: u32) -> Bytes32 {
        let hash = Sha256::new().chain_update(self.key).chain_update([round]);
        hash.chain_update(block.to_le_bytes()).finalize().into()
    }
}
