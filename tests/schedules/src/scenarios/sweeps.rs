//! Requests find a map of rates full, and may drop its old keys.

use super::sweeps::Sweeps;
use crate::prelude::*;

/// A tenth of a second.
const EVERY_NS: u64 = 100_000_000;

/// Three requests read the clock within a tenth of a second, and then ask in any order. One is told to sweep.
pub fn one_sweeps_in_a_tenth_of_a_second() {
    let sweeps = Arc::new(Sweeps::new());
    let requests = [0, 1, EVERY_NS - 1].map(|after_ns| {
        let sweeps = Arc::clone(&sweeps);
        thread::spawn(move || sweeps.is_due(EVERY_NS + after_ns))
    });
    let swept = requests.map(|request| u32::from(request.join().unwrap()));
    assert_eq!(swept.iter().sum::<u32>(), 1, "one sweeps in a tenth of a second");
    assert!(sweeps.is_due(3 * EVERY_NS), "it is swept again");
}
