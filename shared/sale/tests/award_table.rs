//! Splits, prizes, digests, commitments and the Merkle tree. The shuffle is that of the Ethereum consensus specification,
//! a permutation, and undone by its inverse.

use std::collections::BTreeMap;
use std::fmt::Write;

use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use sale::award::{
    BLANK, Bytes32, CHUNK_VALUES, Hex, InvalidPlan, MAX_PARTS, MAX_TICKETS, MAX_TOTAL_MINOR, Plan, Seed, Shuffle,
    Stream, Table, TableDigest, bytes32, chunk_bytes, chunk_digest, chunk_of, commit, digest, digest_of_chunks, merkle,
    prizes_table, shuffle_key, split_drawn, split_equal, values_of, winners,
};
use sha2::{Digest, Sha256};

const SEED: Seed = Seed([7; 32]);

fn seed(number: u64) -> Seed {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&number.to_be_bytes());
    Seed(bytes)
}

/// The same cases in each run.
fn same_each_time(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, failure_persistence: None, rng_seed: RngSeed::Fixed(15), ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(same_each_time(256))]

    #[test]
    fn a_split_has_its_sum_and_its_minimum(
        number: u64, parts in 1_u32..3_000, min in 1_u64..1_000, more in prop_oneof![0_u64..100, 0..MAX_TOTAL_MINOR / 2],
    ) {
        let total = u64::from(parts) * min + more;
        for split in [split_equal(total, parts), split_drawn(&seed(number), total, parts, min)] {
            prop_assert_eq!(split.len(), parts as usize);
            prop_assert_eq!(split.iter().sum::<u64>(), total);
            prop_assert!(split.iter().all(|part| *part >= min));
        }
    }

    #[test]
    fn equal_parts_differ_by_one_at_most(parts in 1_u32..3_000, more: u32) {
        let split = split_equal(u64::from(parts) + u64::from(more), parts);
        prop_assert!(split.iter().max().unwrap() - split.iter().min().unwrap() <= 1);
        prop_assert!(split.is_sorted_by(|one, next| one >= next));
    }

    #[test]
    fn a_drawn_part_is_at_most_twice_the_mean_of_what_is_left(number: u64, parts in 2_u32..100, more in 0_u64..1_000_000) {
        let split = split_drawn(&seed(number), u64::from(parts) + more, parts, 1);
        let mut rest = more;
        for (part, left) in split.iter().zip((2..=u64::from(parts)).rev()) {
            prop_assert!(part - 1 <= 2 * rest / left);
            rest -= part - 1;
        }
    }

    #[test]
    fn a_number_is_below_its_bound(number: u64, bound in 1_u64..) {
        let mut stream = Stream::new(&seed(number), "test");
        prop_assert!((0..20).all(|_| stream.below(bound) < bound));
    }

    #[test]
    fn a_proof_holds_for_its_leaf_and_no_other(leaves in 1_usize..70, index: prop::sample::Index, wrong: prop::sample::Index) {
        let entries: Vec<Vec<u8>> = (1..=leaves as u32).map(|unit| merkle::entry(unit, "lamp.1.x")).collect();
        let (root, index, wrong) = (merkle::root(&entries), index.index(leaves), wrong.index(leaves));
        let proof = merkle::proof(&entries, index);
        prop_assert!(merkle::verify(&root, &entries[index], index, leaves, &proof));
        prop_assert_eq!(merkle::verify(&root, &entries[wrong], index, leaves, &proof), wrong == index);
        prop_assert_eq!(merkle::verify(&root, &entries[index], wrong, leaves, &proof), wrong == index);
        prop_assert!(!merkle::verify(&root, &entries[index], leaves, leaves, &proof));
        prop_assert!(!merkle::verify(&[0; 32], &entries[index], index, leaves, &proof));
        prop_assert!(!merkle::verify(&root, &entries[index], index, leaves, &[&proof[..], &[[0; 32]]].concat()));
        if let Some((_, rest)) = proof.split_last() {
            prop_assert!(!merkle::verify(&root, &entries[index], index, leaves, rest));
        }
    }
}

#[test]
fn each_unit_has_its_award_in_the_table() {
    let table = Table::of(&Plan::Drawn { total: 10_000_000, parts: 100_000, min: 1 }, &SEED, None).unwrap();
    let awards = table.awards();
    assert_ne!(awards, table.values());
    for unit in [1, 2, 4096, 4097, 99_999, 100_000] {
        assert_eq!(table.award(unit), awards[unit as usize - 1]);
        assert_eq!(table.award(unit), table.values()[table.position(unit) as usize]);
    }
}

#[test]
fn the_largest_splits_add_up() {
    for min in [1, MAX_TOTAL_MINOR / u64::from(MAX_PARTS)] {
        let split = split_drawn(&SEED, MAX_TOTAL_MINOR, MAX_PARTS, min);
        assert_eq!(split.iter().sum::<u64>(), MAX_TOTAL_MINOR);
        assert!(split.iter().all(|part| *part >= min));
    }
    assert_eq!(split_drawn(&SEED, MAX_TOTAL_MINOR, 1, 1), [MAX_TOTAL_MINOR]);
    assert_eq!(split_drawn(&SEED, MAX_TOTAL_MINOR, 2, 1).iter().sum::<u64>(), MAX_TOTAL_MINOR);
    assert_eq!(split_drawn(&SEED, 5, 5, 1), [1; 5]);
    assert_eq!(split_equal(11, 4), [3, 3, 3, 2]);
}

#[test]
fn a_plan_out_of_bounds_has_no_table() {
    let split = |total, parts, min| [Plan::Equal { total, parts, min }, Plan::Drawn { total, parts, min }];
    let prizes = |counts: &[u32], tickets| Plan::Prizes { counts: counts.to_vec(), tickets };
    let refused = [
        (split(10, 0, 1), InvalidPlan::Parts),
        (split(MAX_TOTAL_MINOR, MAX_PARTS + 1, 1), InvalidPlan::Parts),
        (split(10, 10, 0), InvalidPlan::Min),
        (split(9, 10, 1), InvalidPlan::Total),
        (split(MAX_TOTAL_MINOR, 2, u64::MAX), InvalidPlan::Total),
        (split(MAX_TOTAL_MINOR + 1, 2, 1), InvalidPlan::Total),
        ([prizes(&[], MAX_TICKETS + 1), prizes(&[1], u32::MAX)], InvalidPlan::Tickets),
        ([prizes(&[1; 1001], 10), prizes(&[0; 2000], 10)], InvalidPlan::PrizeKinds),
    ];
    for (plans, why) in refused {
        for plan in plans {
            assert_eq!(Table::of(&plan, &SEED, None).err(), Some(why), "{plan:?}");
        }
    }
    for plan in split(10, 10, 1).into_iter().chain([prizes(&[u32::MAX; 1000], 10), prizes(&[], 0)]) {
        assert!(Table::of(&plan, &SEED, None).is_ok(), "{plan:?}");
    }
}

#[test]
fn prizes_come_first_and_then_blanks() {
    assert_eq!(prizes_table(&[1, 0, 2], 6), [1, 3, 3, BLANK, BLANK, BLANK]);
    assert_eq!(prizes_table(&[2, 2], 3), [1, 1, 2]);
    assert_eq!(prizes_table(&[], 2), [BLANK, BLANK]);
}

#[test]
fn winners_are_those_whose_award_is_a_prize() {
    for (counts, tickets) in [(vec![1, 0, 2], 500), (vec![3, 3], 4), (vec![2], 0)] {
        let plan = Plan::Prizes { counts: counts.clone(), tickets };
        let beacon = [9; 32];
        let table = Table::of(&plan, &SEED, Some(&beacon)).unwrap();
        let won: Vec<(u32, u64)> = winners(&counts, tickets, &shuffle_key(&SEED, Some(&beacon))).collect();
        let by_prize: Vec<u64> = won.iter().map(|(_, prize)| *prize).collect();
        assert!(by_prize.is_sorted());
        let looked_up = (1..=tickets).map(|unit| (unit, table.award(unit))).filter(|(_, prize)| *prize != BLANK);
        assert_eq!(won.into_iter().collect::<BTreeMap<_, _>>(), looked_up.collect());
    }
}

#[test]
fn a_beacon_changes_who_gets_what_but_not_what_there_is() {
    let plan = Plan::Drawn { total: 10_000, parts: 100, min: 1 };
    let [without, with] = [None, Some(&[3; 32])].map(|beacon| Table::of(&plan, &SEED, beacon).unwrap());
    assert_eq!(without.digest(), with.digest());
    assert_ne!(without.awards(), with.awards());
    let sorted = |table: &Table| {
        let mut awards = table.awards();
        awards.sort_unstable();
        awards
    };
    assert_eq!(sorted(&without), sorted(&with));
}

#[test]
fn one_chunk_can_be_checked_without_the_others() {
    let table = split_drawn(&SEED, 1_000_000, 10_000, 1);
    let chunks: Vec<&[u64]> = table.chunks(CHUNK_VALUES).collect();
    assert_eq!(chunks.len(), 3);
    let digests: Vec<_> = chunks.iter().map(|chunk| chunk_digest(chunk)).collect();
    assert_eq!(digest_of_chunks(10_000, &digests), digest(&table));
    for position in [0, 4095, 4096, 9999] {
        let (chunk, at) = chunk_of(position);
        assert_eq!(chunks[chunk as usize][at], table[position as usize]);
    }
    assert_eq!(values_of(&chunk_bytes(chunks[2])).as_deref(), Some(chunks[2]));
    assert_eq!(values_of(&[0; 7]), None);
    assert_eq!(values_of(&vec![0; 8 * (CHUNK_VALUES + 1)]), None);
}

#[test]
fn a_digest_is_of_every_value_and_its_place() {
    let table = split_drawn(&SEED, 1_000_000, 10_000, 1);
    let known = digest(&table);
    for at in [0, 4095, 4096, 9999] {
        let mut other = table.clone();
        other[at] += 1;
        assert_ne!(digest(&other), known);
    }
    let mut swapped = table.clone();
    let (one, two) = swapped.split_at_mut(CHUNK_VALUES);
    one.swap_with_slice(&mut two[..CHUNK_VALUES]);
    assert_ne!(digest(&swapped), known);
    assert_ne!(digest(&table[..9999]), known);
    assert_ne!(digest(&[0; CHUNK_VALUES]), digest(&[0; CHUNK_VALUES + 1]));
}

#[test]
fn a_commitment_is_to_all_that_is_in_it() {
    let table = TableDigest([4; 32]);
    let all = [
        commit("lamp", 1, &SEED, &table),
        commit("lamps", 1, &SEED, &table),
        commit("lamp", 2, &SEED, &table),
        commit("lamp", 1, &Seed([8; 32]), &table),
        commit("lamp", 1, &SEED, &TableDigest([5; 32])),
    ];
    for (n, one) in all.iter().enumerate() {
        assert!(!all[..n].contains(one), "{n}");
        assert_eq!(bytes32(&one.to_string()), Some(one.0));
    }
}

#[test]
fn the_tree_is_the_published_one() {
    // The leaves and roots of Certificate Transparency's own tests.
    let leaves: [&[u8]; 8] = [b"", b"\x00", b"\x10", b" !", b"01", b"@ABC", b"PQRSTUVW", b"`abcdefghijklmno"];
    let roots = [
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
        "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
        "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
        "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
        "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
        "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
        "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
        "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
    ];
    for (count, root) in roots.into_iter().enumerate() {
        assert_eq!(Some(merkle::root(&leaves[..count])), bytes32(root), "{count} leaves");
    }
}

/// Cases of ethereum/consensus-spec-tests, tests/mainnet/phase0/shuffling/core/shuffle: count, seed, and the SHA-256 of
/// the published `mapping.yaml`, from its Git LFS pointer.
const PUBLISHED: [(u32, &str, &str); 4] = [
    (
        10,
        "01b4f6bd5d6a06a7b74a8565ceb4f845afe0ae96a0ac05cf5e86066bf7b538ec",
        "030e863e01b804aa084bdf69a7da2ca6cad7bc51ffc5dbd50cd74e3a8910a50e",
    ),
    (
        33,
        "0623ccb9b1619bd388284a438034d8cb6431964ba727d8b1c450303105735488",
        "8b30e3470f467a1581727f3434886abb7a87e52b0f7d988208ac716fee1e889b",
    ),
    (
        100,
        "23bcd11624a07465b1c2fc1a0fe52996daae4bf87b0fb6bed45926096c644843",
        "87b4006b75ae9bdeb4bdc3e0b8d9f2d6e204bae50927ba45324baa2cb9a87d3c",
    ),
    (
        1000,
        "17fa9c7f5e9039a2d46e73e17d8e094a796ee4c313199bad42db4ee1dc30d865",
        "365897d6589317fc16a5b3878491ea25df73842cade1fe9c8b07d1ef920d0ae2",
    ),
];

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
    for (count, seed, digest) in PUBLISHED {
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
