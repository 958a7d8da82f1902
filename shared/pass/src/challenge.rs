use std::fmt;

use rand::{Rng, RngExt};
use sale::{MAX_WORK_BITS, MIN_WORK_BITS, USUAL_WORK_BITS};
use sha2::{Digest, Sha256};
use uuid::{Builder, Uuid};

use crate::picture;

/// The longest answer: a solution of the work is a number of attempts, or whatever a client appends.
pub const MAX_ANSWER_LENGTH: usize = 64;

/// Small enough for anyone to add; of some 890 answers, ten guesses are right in one case of 88.
const HUNDREDS: std::ops::RangeInclusive<u32> = 101..=989;
const ONES: std::ops::RangeInclusive<u32> = 2..=9;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sum {
    left: u32,
    right: u32,
}

impl Sum {
    /// A sum that nobody can foresee.
    pub fn random() -> Self {
        let mut rng = rand::rng();
        Self { left: rng.random_range(HUNDREDS), right: rng.random_range(ONES) }
    }

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

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asked {
    Sum,
    /// Work that begins with this many zero bits.
    Work(u8),
    Nothing,
}

/// The byte of an id of version 8 that says what its challenge asks for.
const MARK: usize = 15;
/// The mark of a challenge without a question.
const NOTHING: u8 = 0;

/// A new id. It contains how much work its challenge asks for, because operators may change that between a challenge
/// and its answer. Clients cannot choose an id, since Redis knows those that were given out.
pub fn challenge_id(asked: Asked) -> Uuid {
    let mark = match asked {
        Asked::Sum => return Uuid::new_v4(),
        Asked::Work(bits) => bits.clamp(MIN_WORK_BITS, MAX_WORK_BITS),
        Asked::Nothing => NOTHING,
    };
    let mut bytes = [0; 16];
    rand::rng().fill_bytes(&mut bytes);
    bytes[MARK] = mark;
    Builder::from_custom_bytes(bytes).into_uuid()
}

pub fn asks_nothing(id: Uuid) -> bool {
    mark_of(id) == Some(NOTHING)
}

fn work_bits(id: Uuid) -> u32 {
    mark_of(id).filter(|mark| (MIN_WORK_BITS..=MAX_WORK_BITS).contains(mark)).unwrap_or(USUAL_WORK_BITS).into()
}

fn mark_of(id: Uuid) -> Option<u8> {
    (id.get_version_num() == 8).then(|| id.as_bytes()[MARK])
}

/// Whether `answer` is a proof of work for the challenge `id`: the SHA-256 of `ID:ANSWER`, with the id in 32
/// hexadecimal digits, must begin with as many zero bits as the challenge asks for.
pub fn is_work(id: Uuid, answer: &str) -> bool {
    zero_bits(begun(id), answer) >= work_bits(id)
}

/// Finds an answer for which [`is_work`] is true. It takes about a million attempts: not for a shared executor.
pub fn work(id: Uuid) -> String {
    let (begun, bits) = (begun(id), work_bits(id));
    let solves = |answer: &String| zero_bits(begun.clone(), answer) >= bits;
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
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn ten_guesses_are_not_worth_it() {
        let mut likely = BTreeMap::new();
        for (left, right) in HUNDREDS.flat_map(|left| ONES.map(move |right| (left, right))) {
            *likely.entry(Sum { left, right }.answer()).or_insert(0_u32) += 1;
        }
        let all: u32 = likely.values().sum();
        let mut counts: Vec<u32> = likely.into_values().collect();
        counts.sort_unstable_by(|one, other| other.cmp(one));
        let right = f64::from(counts.iter().take(10).sum::<u32>()) / f64::from(all);
        assert!(right < 0.02, "ten guesses are right in {right:.3} of all cases");
    }

    #[test]
    fn a_sum_can_be_asked_and_answered() {
        for _ in 0..1000 {
            let Sum { left, right } = Sum::random();
            assert!(HUNDREDS.contains(&left) && ONES.contains(&right));
        }
        let sum = Sum { left: 417, right: 6 };
        assert_eq!((sum.to_string(), sum.answer()), ("417+6=?".to_owned(), 423));
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

    #[test]
    fn an_id_says_how_much_work_it_takes() {
        for bits in [MIN_WORK_BITS, USUAL_WORK_BITS, MAX_WORK_BITS] {
            let id = challenge_id(Asked::Work(bits));
            assert_eq!(work_bits(id), u32::from(bits));
            assert!(!asks_nothing(id));
        }
        let easy = challenge_id(Asked::Work(MIN_WORK_BITS));
        let answer = work(easy);
        assert!(is_work(easy, &answer));
        assert!(!is_work(challenge_id(Asked::Work(MAX_WORK_BITS)), &answer), "one in sixteen million");
        assert!(asks_nothing(challenge_id(Asked::Nothing)) && !asks_nothing(challenge_id(Asked::Sum)));
        assert_eq!(work_bits(challenge_id(Asked::Nothing)), u32::from(USUAL_WORK_BITS), "which is not asked for");
    }
}
