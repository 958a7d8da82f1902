use std::fmt;

use rand::RngExt;
use sha2::{Digest, Sha256};
use uuid::Uuid;

use crate::picture;

/// Zero bits that a proof of work begins with: about a million tries, one to a few seconds of a telephone.
pub const WORK_BITS: u32 = 20;
/// Longest answer: what solves the work is a number of tries, or whatever a client likes to append.
pub const MAX_ANSWER_LENGTH: usize = 64;

/// Few enough to be added by anyone, and too many to be guessed.
const TENS: std::ops::RangeInclusive<u32> = 11..=79;
const ONES: std::ops::RangeInclusive<u32> = 2..=9;

/// A sum that a person is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sum {
    left: u32,
    right: u32,
}

impl Sum {
    /// One that nobody can foresee.
    pub fn random() -> Self {
        let mut rng = rand::rng();
        Self { left: rng.random_range(TENS), right: rng.random_range(ONES) }
    }

    /// The right answer.
    pub const fn answer(self) -> u32 {
        self.left + self.right
    }

    /// A picture of the question, as a data URL of a PNG of at most [`MAX_PICTURE_BYTES`](crate::MAX_PICTURE_BYTES).
    pub fn picture(self) -> String {
        picture::data_url(&self.to_string(), &mut rand::rng())
    }
}

impl fmt::Display for Sum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}+{}=?", self.left, self.right)
    }
}

/// Whether `answer` is a proof of work for the challenge `id`: the SHA-256 of `ID:ANSWER`, with the id in 32 hexadecimal
/// digits, begins with [`WORK_BITS`] zero bits.
pub fn is_work(id: Uuid, answer: &str) -> bool {
    zero_bits(begun(id), answer) >= WORK_BITS
}

/// An answer that [`is_work`] for the challenge `id`. It takes about a million tries: do not wait for it where others run.
pub fn work(id: Uuid) -> String {
    let begun = begun(id);
    let solves = |answer: &String| zero_bits(begun.clone(), answer) >= WORK_BITS;
    (0_u64..).map(|n| n.to_string()).find(solves).unwrap_or_default()
}

fn begun(id: Uuid) -> Sha256 {
    Sha256::new().chain_update(id.as_simple().to_string()).chain_update(":")
}

fn zero_bits(begun: Sha256, answer: &str) -> u32 {
    let hash = begun.chain_update(answer).finalize();
    let mut first = [0; 4];
    first.copy_from_slice(&hash[..4]);
    u32::from_be_bytes(first).leading_zeros()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sum_can_be_asked_and_answered() {
        for _ in 0..1000 {
            let Sum { left, right } = Sum::random();
            assert!(TENS.contains(&left) && ONES.contains(&right));
        }
        let sum = Sum { left: 17, right: 6 };
        assert_eq!((sum.to_string(), sum.answer()), ("17+6=?".to_owned(), 23));
    }

    #[test]
    fn work_is_found_by_trying_and_is_good_for_its_challenge_only() {
        let id = Uuid::from_u128(7);
        // `printf ID:ANSWER | sha256sum` shows five zeros.
        let answer = "2868557";
        assert!(is_work(id, answer));
        assert!(!is_work(Uuid::from_u128(8), answer));
        assert!(!is_work(id, &format!("{answer} ")));
        assert!(!is_work(id, ""));
        assert!(is_work(id, &work(id)));
    }
}
