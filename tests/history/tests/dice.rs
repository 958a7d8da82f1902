//! Random choices that a seed repeats.

use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};

pub(crate) struct Dice(StdRng);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self(StdRng::seed_from_u64(seed))
    }

    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.0.random_range(0..bound)
    }

    /// True once in `times`.
    pub(crate) fn one_in(&mut self, times: u64) -> bool {
        self.below(times) == 0
    }

    /// One of these, unless there are none.
    pub(crate) fn one_of<T: Copy>(&mut self, of: &[T]) -> Option<T> {
        of.choose(&mut self.0).copied()
    }
}
