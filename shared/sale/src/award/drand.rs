//! The public randomness of drand, a network that signs the number of each of its rounds: the times of rounds, and the
//! randomness in a signature. The module `beacon` verifies signatures.
//!
//! The values are those of the chain `quicknet`, as <https://docs.drand.love/about/#quicknet> and its `/info` list
//! them.

use serde::Deserialize;
use serde::ser::{Serialize, SerializeStruct, Serializer};
use sha2::{Digest, Sha256};

use crate::EpochMs;
use crate::award::bytes::{Bytes32, bytes_of_hex};

pub const CHAIN_HASH: &str = "52db9ba70e0cc0f6eaf7803dd07447a1f5477735fd3f661792ba94600c84e971";
/// The time of its round 1, in seconds since 1970.
pub const GENESIS_S: i64 = 1_692_803_367;
/// Seconds between two rounds.
pub const PERIOD_S: i64 = 3;

/// How far ahead of the time of naming a draw's round of drand is, in seconds: longer than publishing what the draw is
/// about takes, and than clocks differ.
pub const AHEAD_S: i64 = 60;

/// A signature of the chain: a compressed point of BLS12-381's group G1.
pub type Signature = [u8; 48];

/// The number of one of the chain's rounds, from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
pub struct DrandRound(pub u64);

/// How a round is stored, and read back.
pub(crate) fn as_number<S: Serializer>(round: &Option<DrandRound>, to: S) -> Result<S::Ok, S::Error> {
    round.map(|DrandRound(number)| number).serialize(to)
}

impl DrandRound {
    /// The first round at or after this time, in milliseconds since 1970.
    pub const fn not_before(ms: i64) -> Self {
        let since_genesis_ms = ms.saturating_sub(GENESIS_S * 1000);
        if since_genesis_ms <= 0 {
            return Self(1);
        }
        Self((since_genesis_ms as u64).div_ceil(PERIOD_S as u64 * 1000) + 1)
    }

    /// The round for a draw that is fixed now: the first one at least [`AHEAD_S`] ahead.
    pub const fn named_at(now_ms: i64) -> Self {
        Self::not_before(now_ms.saturating_add(AHEAD_S * 1000))
    }

    /// When the round comes, in milliseconds since 1970; saturates at the largest time.
    pub const fn at_ms(self) -> i64 {
        let periods = self.0.saturating_sub(1);
        let periods = if periods > i64::MAX as u64 { i64::MAX } else { periods as i64 };
        periods.saturating_mul(PERIOD_S * 1000).saturating_add(GENESIS_S * 1000)
    }
}

impl std::fmt::Display for DrandRound {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

/// As it is shown, with its chain and time. Nothing is stored so: the ledger writes the number.
impl Serialize for DrandRound {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut shown = serializer.serialize_struct("DrandRound", 3)?;
        shown.serialize_field("chain_hash", CHAIN_HASH)?;
        shown.serialize_field("round", &self.0)?;
        shown.serialize_field("at", &jiff::Timestamp::from(EpochMs(self.at_ms())))?;
        shown.end()
    }
}

/// The randomness of a round: SHA-256 of its signature.
pub fn randomness(signature: &Signature) -> Bytes32 {
    Sha256::digest(signature).into()
}

/// Parses a signature: 96 lower-case hex digits.
pub fn signature(hex: &str) -> Option<Signature> {
    bytes_of_hex(hex)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::award::Hex;

    #[test]
    fn a_round_comes_every_three_seconds() {
        let genesis_ms = GENESIS_S * 1000;
        for (ms, round) in [
            (i64::MIN, 1),
            (0, 1),
            (genesis_ms, 1),
            (genesis_ms + 1, 2),
            (genesis_ms + 3000, 2),
            (genesis_ms + 3001, 3),
        ] {
            assert_eq!(DrandRound::not_before(ms), DrandRound(round), "{ms}");
        }
        assert_eq!(DrandRound(1).at_ms(), genesis_ms);
        assert_eq!(DrandRound(u64::MAX).at_ms(), i64::MAX);
        for ms in (0..100).map(|n| genesis_ms + 10_000_000 + n * 777) {
            let named = DrandRound::not_before(ms);
            assert!((ms..ms + 3000).contains(&named.at_ms()), "{ms}");
            assert_eq!(DrandRound::not_before(named.at_ms()), named);
        }
    }

    /// Round 1000 of quicknet, from its API.
    #[test]
    fn randomness_is_drands() {
        let hex = "b44679b9a59af2ec876b1a6b1ad52ea9b1615fc3982b19576350f93447cb1125e342b73a8dd2bacbe47e4b6b63ed5e39";
        let signature = signature(hex).unwrap();
        assert_eq!(Hex(&signature).to_string(), hex);
        let published = "fe290beca10872ef2fb164d2aa4442de4566183ec51c56ff3cd603d930e54fdd";
        assert_eq!(Hex(&randomness(&signature)).to_string(), published);
        assert_eq!(super::signature(&hex[2..]), None);
        assert_eq!(super::signature(&hex.to_uppercase()), None);
    }
}
