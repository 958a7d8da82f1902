use hmac::{Hmac, KeyInit, Mac};
use sale::award::{Bytes32, Commitment, Seed};
use sale::{RoundId, UserId};
use sha2::{Digest, Sha256};

/// All early places, in parts per billion.
pub const WHOLE_PPB: u32 = 1_000_000_000;

const COMMITMENT: &str = "line/1/commitment";
const ORDER: &str = "line/1/order";

/// Commits a round to the seed of its line: SHA-256 of the length of the label `line/1/commitment` in one byte, the label, the
/// length of the sale's id, the id, the number of the round and the seed. The length of the id and the number are 4 bytes each,
/// big endian.
pub fn commit(round: &RoundId, seed: &Seed) -> Commitment {
    let sale = round.sale.as_str();
    let length = u32::try_from(sale.len()).expect("a sale's id is short");
    let hash = Sha256::new().chain_update([COMMITMENT.len() as u8]).chain_update(COMMITMENT);
    let hash = hash.chain_update(length.to_be_bytes()).chain_update(sale).chain_update(round.number.0.to_be_bytes());
    Commitment(hash.chain_update(seed.0).finalize().into())
}

/// HMAC-SHA256 under `key` of the length of `label` in one byte, and `label`.
pub(crate) fn derived(key: &[u8], label: &str) -> Bytes32 {
    let mac = Hmac::<Sha256>::new_from_slice(key).expect("HMAC takes keys of any length");
    mac.chain_update([label.len() as u8]).chain_update(label).finalize().into_bytes().into()
}

/// The key that determines the order of a round's users: HMAC-SHA256 under the seed of the length of the label
/// `line/1/order` in one byte, and the label.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct LineOrder(pub(crate) Bytes32);

impl LineOrder {
    pub fn of(seed: &Seed) -> Self {
        Self(derived(&seed.0, ORDER))
    }

    /// The user's place among those who came together: first 8 bytes, big endian, of the id's HMAC-SHA256 under this key.
    pub fn place(&self, user: &UserId) -> Place {
        let mac = Hmac::<Sha256>::new_from_slice(&self.0).expect("HMAC takes keys of any length");
        let digest: Bytes32 = mac.chain_update(user.as_str()).finalize().into_bytes().into();
        let (words, _) = digest.as_chunks::<8>();
        Place(u64::from_be_bytes(words[0]))
    }
}

/// Must not be logged: whoever has it before the opening knows the order.
impl std::fmt::Debug for LineOrder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("LineOrder(…)")
    }
}

/// A place, as a fraction of 2^64. Lower places come first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place(pub u64);

impl Place {
    /// The place in parts per billion, rounded down: 0 to 999,999,999.
    pub const fn ppb(self) -> u32 {
        ((self.0 as u128 * WHOLE_PPB as u128) >> 64) as u32
    }
}
