//! Draws at the end, at the largest size, and their fairness.

use std::collections::BTreeSet;

use sale::award::{Seed, merkle, shuffle_key, winners};

const MILLION: u32 = 1_000_000;

#[test]
fn a_million_entries_have_a_root_and_a_hundred_winners() {
    let leaf = |unit: u32| merkle::leaf_hash(&merkle::entry(unit, &format!("tickets.1.{unit:032x}")));
    let leaves: Vec<_> = (1..=MILLION).map(leaf).collect();
    let root = merkle::root_of_hashes(leaves.clone());
    let mut other = leaves;
    other[777_777][31] ^= 1;
    assert_ne!(merkle::root_of_hashes(other), root, "one bit of one leaf");

    let key = shuffle_key(&Seed([7; 32]), None);
    let drawn: Vec<(u32, u64)> = winners(&[1, 9, 90], MILLION, &key).collect();
    let entries: BTreeSet<u32> = drawn.iter().map(|(entry, _)| *entry).collect();
    assert_eq!((drawn.len(), entries.len()), (100, 100), "each prize has one winner, and nobody wins twice");
    assert!(entries.iter().all(|entry| (1..=MILLION).contains(entry)));
    assert_eq!([1, 2, 3].map(|prize| drawn.iter().filter(|(_, won)| *won == prize).count()), [1, 9, 90]);
}

/// χ² of how often each entry won over many seeds, for the first prize and for any prize. The limit is five standard
/// deviations above the mean: exceeded by chance once in several million tests.
#[test]
fn every_entry_wins_as_often_as_any_other() {
    const ENTRIES: u32 = 50;
    const SEEDS: u32 = 4_000;
    let counts = [1, 4];
    let (mut first, mut any) = ([0_u32; ENTRIES as usize], [0_u32; ENTRIES as usize]);
    for number in 0..SEEDS {
        let mut seed = [0; 32];
        seed[..4].copy_from_slice(&number.to_be_bytes());
        for (entry, prize) in winners(&counts, ENTRIES, &shuffle_key(&Seed(seed), None)) {
            any[entry as usize - 1] += 1;
            first[entry as usize - 1] += u32::from(prize == 1);
        }
    }
    let freedom = f64::from(ENTRIES - 1);
    let limit = freedom + 5.0 * (2.0 * freedom).sqrt();
    for (wins, prizes) in [(first, 1), (any, 5)] {
        let expected = f64::from(SEEDS * prizes) / f64::from(ENTRIES);
        let chi2: f64 = wins.iter().map(|wins| (f64::from(*wins) - expected).powi(2) / expected).sum();
        // The winners for one seed differ, so the wins of several prizes vary less than those of one.
        assert!(chi2 < limit, "{chi2} of {prizes} prizes");
    }
    // The test can fail: it notices if two of fifty never win.
    let unfair = |seed: u32| (seed % (ENTRIES - 2)) as usize;
    let mut wins = [0_u32; ENTRIES as usize];
    (0..SEEDS).for_each(|seed| wins[unfair(seed)] += 1);
    let expected = f64::from(SEEDS) / f64::from(ENTRIES);
    let chi2: f64 = wins.iter().map(|wins| (f64::from(*wins) - expected).powi(2) / expected).sum();
    assert!(chi2 > limit, "{chi2}");
}
