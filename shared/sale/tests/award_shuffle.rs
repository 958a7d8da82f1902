//! The shuffle is that of the Ethereum consensus specification, a permutation, and undone by its inverse.

use std::fmt::Write;

use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use sale::award::{Bytes32, Hex, Seed, Shuffle, bytes32, shuffle_key};
use sha2::{Digest, Sha256};

/// Cases of ethereum/consensus-spec-tests, tests/mainnet/phase0/shuffling/core/shuffle: count, seed, and the SHA-256 of
/// the published `mapping.yaml`, from its Git LFS pointer.
const PUBLISHED: &str = "
10   01b4f6bd5d6a06a7b74a8565ceb4f845afe0ae96a0ac05cf5e86066bf7b538ec 030e863e01b804aa084bdf69a7da2ca6cad7bc51ffc5dbd50cd74e3a8910a50e
33   0623ccb9b1619bd388284a438034d8cb6431964ba727d8b1c450303105735488 8b30e3470f467a1581727f3434886abb7a87e52b0f7d988208ac716fee1e889b
100  23bcd11624a07465b1c2fc1a0fe52996daae4bf87b0fb6bed45926096c644843 87b4006b75ae9bdeb4bdc3e0b8d9f2d6e204bae50927ba45324baa2cb9a87d3c
1000 17fa9c7f5e9039a2d46e73e17d8e094a796ee4c313199bad42db4ee1dc30d865 365897d6589317fc16a5b3878491ea25df73842cade1fe9c8b07d1ef920d0ae2
";

/// A mapping in the format of the published files: YAML, wrapped after the comma that passes column 80.
fn yaml(seed: &str, mapping: &[u32]) -> String {
    let mut text = format!("seed: '0x{seed}'\ncount: {}\nmapping: [", mapping.len());
    let mut column = 10;
    for (n, place) in mapping.iter().enumerate() {
        if n > 0 {
            column += 1;
            text.push(',');
            let (space, width) = if column > 80 { ("\n  ", 2) } else { (" ", column + 1) };
            text.push_str(space);
            column = width;
        }
        let digits = place.to_string();
        column += digits.len();
        text.push_str(&digits);
    }
    writeln!(text, "]").unwrap();
    text
}

#[test]
fn it_is_the_published_one() {
    for case in PUBLISHED.trim().lines() {
        let words: Vec<&str> = case.split_whitespace().collect();
        let &[count, seed, digest] = words.as_slice() else { panic!("{case}") };
        let count: u32 = count.parse().unwrap();
        let shuffle = Shuffle::new(count, &bytes32(seed).unwrap());
        let mapping: Vec<u32> = (0..count).map(|index| shuffle.shuffled(index)).collect();
        let found: Bytes32 = Sha256::digest(yaml(seed, &mapping)).into();
        assert_eq!(Hex(&found).to_string(), digest, "{count} positions");
    }
}

#[test]
fn a_million_positions_are_a_permutation_and_the_same_one_by_one() {
    let count = 1_000_000;
    let key = shuffle_key(&Seed([5; 32]), None);
    let shuffle = Shuffle::new(count, &key);
    let places = shuffle.all();
    let mut seen = vec![false; count as usize];
    places.iter().for_each(|place| assert!(!std::mem::replace(&mut seen[*place as usize], true), "{place} twice"));
    for index in (0..count).step_by(9_973).chain([count - 1]) {
        assert_eq!(shuffle.shuffled(index), places[index as usize]);
        assert_eq!(shuffle.unshuffled(places[index as usize]), index);
    }
}

#[test]
fn few_positions_are_shuffled_too() {
    assert_eq!(Shuffle::new(1, &[0; 32]).shuffled(0), 0);
    assert!(Shuffle::new(0, &[0; 32]).all().is_empty());
}

#[test]
fn the_key_has_the_seed_and_the_beacon() {
    let seed = Seed([1; 32]);
    let keys = [
        shuffle_key(&seed, None),
        shuffle_key(&seed, Some(&[0; 32])),
        shuffle_key(&seed, Some(&[1; 32])),
        shuffle_key(&Seed([2; 32]), None),
    ];
    for (n, key) in keys.iter().enumerate() {
        assert!(!keys[..n].contains(key));
    }
}

/// The same cases in each run.
fn same_each_time(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, failure_persistence: None, rng_seed: RngSeed::Fixed(15), ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(same_each_time(64))]

    #[test]
    fn it_is_a_permutation(count in 1_u32..700, key: [u8; 32]) {
        let shuffle = Shuffle::new(count, &key);
        let mut places = shuffle.all();
        let one_by_one: Vec<u32> = (0..count).map(|index| shuffle.shuffled(index)).collect();
        prop_assert_eq!(&places, &one_by_one);
        places.sort_unstable();
        prop_assert!(places.into_iter().eq(0..count));
    }

    #[test]
    fn its_inverse_undoes_it(count in 1_u32.., index: u32, key: [u8; 32]) {
        let (index, shuffle) = (index % count, Shuffle::new(count, &key));
        prop_assert_eq!(shuffle.unshuffled(shuffle.shuffled(index)), index);
        prop_assert_eq!(shuffle.shuffled(shuffle.unshuffled(index)), index);
    }
}
