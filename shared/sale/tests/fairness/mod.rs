//! What the tests of fairness share, also that of `pass`.

use sale::award::Bytes32;
use sha2::{Digest, Sha256};

pub(crate) fn bytes(number: u64) -> Bytes32 {
    Sha256::digest(number.to_be_bytes()).into()
}

/// χ² of counts whose expected value is `expected`.
pub(crate) fn chi2(counts: &[u32], expected: f64) -> f64 {
    counts.iter().map(|count| (f64::from(*count) - expected).powi(2) / expected).sum()
}

/// What χ² exceeds with this many degrees of freedom only once in several million: five standard deviations above its
/// mean, and a little more since its tail is longer than a normal one.
pub(crate) fn limit(freedom: f64) -> f64 {
    freedom + 5.0 * (2.0 * freedom).sqrt() + 10.0
}

/// A Feistel network of four rounds over the next even number of bits, repeated until the place exists. A good
/// permutation of many positions, and a bad one of few.
pub(crate) fn feistel(count: u32, key: &Bytes32) -> Vec<u32> {
    let half = (32 - (count - 1).leading_zeros()).div_ceil(2);
    let mask = (1 << half) - 1;
    let round = |number: u8, right: u32| {
        let digest =
            Sha256::new().chain_update(key).chain_update([number]).chain_update(right.to_be_bytes()).finalize();
        u32::from(digest[0]) & mask
    };
    let once = |place: u32| {
        let (left, right) =
            (0..4).fold((place >> half, place & mask), |(left, right), number| (right, left ^ round(number, right)));
        left << half | right
    };
    let walk =
        |index| std::iter::successors(Some(once(index)), |place| Some(once(*place))).find(|place| *place < count);
    (0..count).map(|index| walk(index).expect("a permutation comes back")).collect()
}
