//! Every grab has the same distribution, whenever it comes, and every entry of a draw wins as often. Each test is shown to catch a known mistake.

mod fairness;

use sale::award::{Bytes32, Plan, Seed, Shuffle, Stream, Table, shuffle_key, split_drawn, winners};

use crate::fairness::{bytes, chi2, feistel, limit};

/// Enough for fifty in each of 240 cells.
const KEYS: u64 = 12_000;

/// The largest χ² of a pair over many keys, as a fraction of its limit: of the places that two positions go to, and of
/// the positions that two places are filled from, which are the winners of two prizes.
fn pairs(count: u32, all: impl Fn(&Bytes32) -> Vec<u32>) -> f64 {
    let n = count as usize;
    let cells = n * (n - 1);
    let observed = [(0, 1), (0, n - 1), (n / 2 - 1, n / 2), (1, n - 2)];
    let mut counts = vec![vec![0; n * n]; 2 * observed.len()];
    for key in 0..KEYS {
        let places: Vec<usize> = all(&bytes(key)).into_iter().map(|place| place as usize).collect();
        let mut winners = vec![0; n];
        places.iter().enumerate().for_each(|(index, place)| winners[*place] = index);
        let both = [&places, &winners].into_iter().flat_map(|of| observed.map(|(one, two)| of[one] * n + of[two]));
        both.zip(&mut counts).for_each(|(cell, counts)| counts[cell] += 1);
    }
    let worst = counts.into_iter().map(|counts| {
        // Two positions cannot go to the same place.
        let (same, apart): (Vec<_>, Vec<_>) = counts.into_iter().enumerate().partition(|(at, _)| at / n == at % n);
        assert!(same.iter().all(|(_, count)| *count == 0));
        let apart: Vec<u32> = apart.into_iter().map(|(_, count)| count).collect();
        chi2(&apart, KEYS as f64 / cells as f64) / limit(cells as f64 - 1.0)
    });
    worst.fold(0.0, f64::max)
}

#[test]
fn each_pair_of_places_is_as_likely_as_any_other() {
    for count in [4, 16] {
        let shuffle = pairs(count, |key| Shuffle::new(count, key).all());
        let feistel = pairs(count, |key| feistel(count, key));
        println!(
            "{count} positions: χ² is {shuffle:.2} of its limit, that of a four-round Feistel network {feistel:.2}"
        );
        assert!(shuffle < 1.0, "{count} positions: {shuffle}");
        assert!(feistel > 1.5, "{count} positions: a four-round Feistel network passes: {feistel}");
    }
}

const PARTS: usize = 10;
const BINS: usize = 8;
const SPLITS: u64 = 10_000;

struct Grabs {
    /// The largest deviation of a grab's mean from the overall mean, in standard errors.
    mean: f64,
    /// χ² of the grabs' distributions against the overall one, as a fraction of its limit.
    distribution: f64,
    /// The standard deviation of the k-th grab, for each k.
    spread: Vec<f64>,
}

/// Examines the k-th grab for every k, over many splits of 10.00 in ten parts.
fn grabs(of: impl Fn(&Seed) -> Vec<u64>) -> Grabs {
    let rows: Vec<Vec<u64>> = (0..SPLITS).map(|number| of(&Seed(bytes(number)))).collect();
    let at = |k: usize| rows.iter().map(move |row| row[k]);
    let moments = |amounts: &mut dyn Iterator<Item = u64>| {
        let (count, sum, squares) = amounts.fold((0.0, 0.0, 0.0), |(count, sum, squares), amount| {
            let amount = amount as f64;
            (count + 1.0, sum + amount, squares + amount * amount)
        });
        (sum / count, (squares / count - (sum / count).powi(2)).sqrt())
    };
    let (mean, deviation) = moments(&mut rows.iter().flatten().copied());
    let by_k: Vec<(f64, f64)> = (0..PARTS).map(|k| moments(&mut at(k))).collect();
    let error = deviation / (SPLITS as f64).sqrt();
    // Bins with about an eighth of all amounts each.
    let mut all: Vec<u64> = rows.iter().flatten().copied().collect();
    all.sort_unstable();
    let edges: Vec<u64> = (1..BINS).map(|bin| all[all.len() * bin / BINS]).collect();
    let counted = |amounts: &mut dyn Iterator<Item = u64>| {
        let mut counts = [0_u32; BINS];
        amounts.for_each(|amount| counts[edges.partition_point(|edge| *edge <= amount)] += 1);
        counts
    };
    let expected = counted(&mut all.iter().copied()).map(|count| f64::from(count) / PARTS as f64);
    let chi2: f64 = (0..PARTS)
        .flat_map(|k| counted(&mut at(k)).into_iter().zip(expected))
        .map(|(count, expected)| (f64::from(count) - expected).powi(2) / expected)
        .sum();
    // The amounts of a split add up, so if one grab is in a bin the others are a bit less likely to be: χ² comes out up
    // to a ninth larger than for independent grabs.
    let freedom = ((PARTS - 1) * (BINS - 1)) as f64 * PARTS as f64 / (PARTS - 1) as f64;
    Grabs {
        mean: by_k.iter().map(|(of_k, _)| (of_k - mean).abs() / error).fold(0.0, f64::max),
        distribution: chi2 / limit(freedom),
        spread: by_k.into_iter().map(|(_, deviation)| deviation).collect(),
    }
}

#[test]
fn the_kth_grab_has_the_same_distribution_for_every_k() {
    let plan = Plan::Drawn { total: 1_000, parts: PARTS as u32, min: 1 };
    let ours = grabs(|seed| Table::of(&plan, seed, None).unwrap().awards());
    println!("shuffled: mean {:.2}, distribution {:.2}, spread {:.0?}", ours.mean, ours.distribution, ours.spread);
    assert!(ours.mean < 5.0, "{} standard errors", ours.mean);
    assert!(ours.distribution < 1.0, "{} of the limit", ours.distribution);

    // Without the shuffle the means agree too, but the last grabs vary far more than the first.
    let sequential = grabs(|seed| split_drawn(seed, 1_000, PARTS as u32, 1));
    let Grabs { mean, distribution, spread } = &sequential;
    println!("sequential: mean {mean:.2}, distribution {distribution:.2}, spread {spread:.0?}");
    assert!(*distribution > 5.0, "the sequence without a shuffle passes: {distribution}");
    assert!(spread[PARTS - 1] > 1.25 * spread[0], "{spread:?}");

    // A shuffle that forgets the last grab is caught as well.
    let careless = grabs(|seed| {
        let mut amounts = split_drawn(seed, 1_000, PARTS as u32, 1);
        let mut stream = Stream::new(seed, "careless");
        (1..PARTS - 1).for_each(|at| amounts.swap(at, stream.below(at as u64 + 1) as usize));
        amounts
    });
    assert!(careless.distribution > 2.0, "{}", careless.distribution);
}

#[test]
fn numbers_below_a_bound_are_even() {
    let mut stream = Stream::new(&Seed([3; 32]), "even");
    for bound in [3_u64, 10, 256, 1_000] {
        let mut counts = vec![0; bound as usize];
        (0..bound * 100).for_each(|_| counts[stream.below(bound) as usize] += 1);
        assert!(chi2(&counts, 100.0) < limit(bound as f64 - 1.0), "{bound}");
    }
    // Without rejection the lower third of this bound would come twice as often: 2^64 is 4/3 of it.
    let bound = 3 << 62;
    let mut thirds = [0; 3];
    (0..30_000).for_each(|_| thirds[(stream.below(bound) >> 62) as usize] += 1);
    assert!(chi2(&thirds, 10_000.0) < limit(2.0), "{thirds:?}");
    let mut careless = [0; 3];
    (0..30_000).for_each(|_| careless[((stream.word() % bound) >> 62) as usize] += 1);
    assert!(chi2(&careless, 10_000.0) > limit(2.0), "{careless:?}");
}

/// χ² of how often each entry won over many seeds, for the first prize and for any prize.
#[test]
fn every_entry_wins_as_often_as_any_other() {
    const ENTRIES: u32 = 50;
    const SEEDS: u32 = 4_000;
    let counts = [1, 4];
    let (mut first, mut any) = ([0_u32; ENTRIES as usize], [0_u32; ENTRIES as usize]);
    for number in 0..SEEDS {
        for (entry, prize) in winners(&counts, ENTRIES, &shuffle_key(&Seed(bytes(number.into())), None)) {
            any[entry as usize - 1] += 1;
            first[entry as usize - 1] += u32::from(prize == 1);
        }
    }
    let limit = limit(f64::from(ENTRIES - 1));
    for (wins, prizes) in [(first, 1), (any, 5)] {
        let chi2 = chi2(&wins, f64::from(SEEDS * prizes) / f64::from(ENTRIES));
        // The winners for one seed differ, so the wins of several prizes vary less than those of one.
        assert!(chi2 < limit, "{chi2} of {prizes} prizes");
    }
    // The test can fail: it notices if two of fifty never win.
    let unfair = |seed: u32| (seed % (ENTRIES - 2)) as usize;
    let mut wins = [0_u32; ENTRIES as usize];
    (0..SEEDS).for_each(|seed| wins[unfair(seed)] += 1);
    let chi2 = chi2(&wins, f64::from(SEEDS) / f64::from(ENTRIES));
    assert!(chi2 > limit, "{chi2}");
}
