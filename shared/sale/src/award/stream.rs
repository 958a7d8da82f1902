use hmac::{Hmac, Mac};
use sha2::Sha256;

use crate::award::bytes::{Bytes32, Seed, keyed};

/// An endless sequence of random numbers that follows from a seed and a label: HMAC-SHA256 in counter mode.
///
/// Block `i` (from 0) is HMAC-SHA256 under the seed, of the label and `i` as 8 bytes, big endian. Each block is four numbers of
/// 8 bytes, big endian. Random-number crates may change their output between versions; this never does.
pub struct Stream {
    mac: Hmac<Sha256>,
    counter: u64,
    block: Bytes32,
    used: usize,
}

impl Stream {
    /// The sequence of this seed and label. Panics if the label has more than 255 bytes.
    pub fn new(key: &Seed, label: &str) -> Self {
        Self { mac: keyed(key, label), counter: 0, block: [0; 32], used: 32 }
    }

    pub fn word(&mut self) -> u64 {
        if self.used == self.block.len() {
            let mac = self.mac.clone().chain_update(self.counter.to_be_bytes());
            self.block = mac.finalize().into_bytes().into();
            self.counter += 1;
            self.used = 0;
        }
        let (words, _) = self.block.as_chunks::<8>();
        let word = u64::from_be_bytes(words[self.used / 8]);
        self.used += 8;
        word
    }

    /// A number from 0 to `bound` - 1, all equally likely.
    ///
    /// Takes words until one is below the largest multiple of `bound` that is not above 2^64, and returns its
    /// remainder. Panics if `bound` is 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        assert!(bound > 0, "there is no number below 0");
        // 2^64 mod bound: this many words at the upper end would make some remainders more likely.
        let surplus = bound.wrapping_neg() % bound;
        loop {
            let word = self.word();
            if word <= u64::MAX - surplus {
                return word % bound;
            }
        }
    }
}
