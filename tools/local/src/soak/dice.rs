use rand::rngs::StdRng;
use rand::seq::{IndexedRandom, SliceRandom};
use rand::{RngExt, SeedableRng};

/// Separates the streams of a seed: an odd number with about as many ones as zeros.
const STREAM: u64 = 0xD1B5_4A32_D192_ED03;

/// Repeatable chance: the same seed and stream give the same numbers.
#[derive(Debug)]
pub(super) struct Dice(StdRng);

impl Dice {
    pub(super) fn new(seed: u64, stream: u64) -> Self {
        Self(StdRng::seed_from_u64(seed ^ stream.wrapping_mul(STREAM)))
    }

    pub(super) fn below(&mut self, n: usize) -> usize {
        self.0.random_range(0..n.max(1))
    }

    pub(super) fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    pub(super) fn between(&mut self, from: f64, to: f64) -> f64 {
        self.0.random_range(from..to)
    }

    pub(super) fn pick<'a, T>(&mut self, of: &'a [T]) -> Option<&'a T> {
        of.choose(&mut self.0)
    }

    pub(super) fn shuffled<T>(&mut self, mut of: Vec<T>) -> Vec<T> {
        of.shuffle(&mut self.0);
        of
    }
}
