//! The results that all implementations must agree on. `GOLDEN=write cargo test --workspace --test award_vectors`
//! rewrites `award_vectors.json`. It may only be extended: published draws are verified by it.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use sale::award::drand::{self, DrandRound};
use sale::award::{
    Bytes32, Hex, Plan, Seed, Shuffle, Stream, Table, chunk_digest, commit, digest, merkle, shuffle_key, winners,
};
use serde_json::{Map, Value, json};

/// Larger tables' values or awards are in the file as a digest.
const LISTED: usize = 1_000;

/// Easily recognized bytes: `first`, and each one more than the previous one.
fn counted(first: u8) -> Bytes32 {
    std::array::from_fn(|n| first.wrapping_add(n as u8))
}

fn hex(bytes: &Bytes32) -> String {
    Hex(bytes).to_string()
}

fn draw(sale: &str, round: u32, plan: &Plan, seed: Bytes32, beacon: Option<Bytes32>) -> Value {
    let seed = Seed(seed);
    let table = Table::of(plan, &seed, beacon.as_ref()).unwrap();
    let (values, awards) = (table.values(), table.awards());
    let mut draw = json!({
        "sale": sale,
        "round": round,
        "plan": plan,
        "seed": hex(&seed.0),
        "beacon": beacon.as_ref().map(hex),
        "digest": table.digest().to_string(),
        "commitment": commit(sale, round, &seed, &table.digest()).to_string(),
        "awards_digest": digest(&awards).to_string(),
    });
    if values.len() <= LISTED {
        draw["values"] = json!(values);
        draw["awards"] = json!(awards);
    }
    if let Plan::Prizes { counts, tickets } = plan {
        let won = winners(counts, *tickets, &shuffle_key(&seed, beacon.as_ref()));
        draw["winners"] = json!(won.collect::<Vec<_>>());
    }
    draw
}

fn draws() -> Vec<Value> {
    let prizes = |counts: &[u32], tickets| Plan::Prizes { counts: counts.to_vec(), tickets };
    let (seed, beacon) = (counted(0), Some(counted(0x80)));
    vec![
        draw("packets", 1, &Plan::Drawn { total: 1_000, parts: 10, min: 1 }, seed, None),
        draw("packets", 2, &Plan::Drawn { total: 1_000, parts: 10, min: 1 }, seed, beacon),
        draw("packets", 3, &Plan::Drawn { total: 27, parts: 20, min: 1 }, counted(1), None),
        draw("packets", 4, &Plan::Drawn { total: 500, parts: 1, min: 1 }, counted(2), None),
        draw("equal", 1, &Plan::Equal { total: 1_003, parts: 7, min: 100 }, seed, None),
        draw("lottery", 1, &prizes(&[1, 0, 2], 12), seed, None),
        draw("lottery", 2, &prizes(&[1, 2, 97], 5_000), counted(3), beacon),
        draw("lottery", 3, &prizes(&[2, 3], 4), counted(4), beacon),
        draw("thousand", 4_294_967_295, &Plan::Drawn { total: 10_000_000, parts: 1_000, min: 100 }, counted(5), beacon),
        draw("packets", 5, &Plan::Drawn { total: 10_000_000, parts: 100_000, min: 1 }, counted(6), None),
        draw("packets", 6, &Plan::Drawn { total: 1_000_000_000_000, parts: 10_000, min: 1 }, counted(7), None),
        draw("packets", 7, &Plan::Drawn { total: 1_000, parts: 10, min: 1 }, seed, Some(of_drand(1000))),
    ]
}

/// What quicknet published: `/public/ROUND` of its API.
const PUBLISHED: [(u64, &str); 2] = [
    (1000, "b44679b9a59af2ec876b1a6b1ad52ea9b1615fc3982b19576350f93447cb1125e342b73a8dd2bacbe47e4b6b63ed5e39"),
    (657_413, "b713718a38ae728dfd477991af2822e08d2f305e47718cef9f7848ce4050e7be41076862b98fad56e91a6b85b89cd97b"),
];

/// The randomness of one of them.
fn of_drand(round: u64) -> Bytes32 {
    let (_, signature) = PUBLISHED.into_iter().find(|(number, _)| *number == round).unwrap();
    drand::randomness(&drand::signature(signature).unwrap())
}

fn beacons() -> Vec<Value> {
    let beacon = |(round, signature): (u64, &str)| {
        let at_ms = DrandRound(round).at_ms();
        json!({"drand_round": round, "at_s": at_ms / 1000, "signature": signature, "randomness": hex(&of_drand(round))})
    };
    PUBLISHED.map(beacon).into()
}

fn tree(entries: &[(u32, String)]) -> Value {
    let leaves: Vec<Vec<u8>> = entries.iter().map(|(unit, id)| merkle::entry(*unit, id)).collect();
    let root = merkle::root(&leaves);
    let proofs = (0..leaves.len()).map(|index| {
        let proof = merkle::proof(&leaves, index);
        assert!(merkle::verify(&root, &leaves[index], index, leaves.len(), &proof), "{index}");
        proof.iter().map(hex).collect::<Vec<_>>()
    });
    json!({"entries": entries, "root": hex(&root), "proofs": proofs.collect::<Vec<_>>()})
}

fn vectors() -> Vec<(&'static str, Vec<Value>)> {
    let shuffles = [1, 2, 5, 10, 33, 600].map(|count| {
        let key = counted(count as u8);
        json!({"key": hex(&key), "count": count, "places": Shuffle::new(count, &key).all()})
    });
    let keys = [None, Some(counted(0x80))].map(|beacon| {
        let seed = Seed(counted(0));
        let key = shuffle_key(&seed, beacon.as_ref());
        json!({"seed": hex(&seed.0), "beacon": beacon.as_ref().map(hex), "key": hex(&key)})
    });
    // 64-bit numbers are strings, since JavaScript reads numbers as doubles.
    let streams = [1, 10, 1 << 32, 1 << 63, (1 << 63) + 1, u64::MAX].map(|bound| {
        let seed = Seed(counted(0));
        let mut stream = Stream::new(&seed, "test");
        let numbers: Vec<String> = (0..10).map(|_| stream.below(bound).to_string()).collect();
        json!({"seed": hex(&seed.0), "label": "test", "bound": bound.to_string(), "numbers": numbers})
    });
    let trees = [0, 1, 2, 3, 7, 8].map(|count| {
        let entry = |unit: u32| (unit * 3, format!("lottery.2.018f{unit:028x}"));
        tree(&(1..=count).map(entry).collect::<Vec<_>>())
    });
    vec![
        ("shuffles", shuffles.into()),
        ("keys", keys.into()),
        ("streams", streams.into()),
        ("draws", draws()),
        ("trees", trees.into()),
        ("beacons", beacons()),
    ]
}

/// JSON with a line for each vector, which makes differences easy to find.
fn text(vectors: &[(&str, Vec<Value>)]) -> String {
    let mut text = String::from("{\n");
    for (n, (name, of)) in vectors.iter().enumerate() {
        let lines: Vec<String> = of.iter().map(|vector| format!("    {vector}")).collect();
        let comma = if n + 1 < vectors.len() { "," } else { "" };
        writeln!(text, "  \"{name}\": [\n{}\n  ]{comma}", lines.join(",\n")).unwrap();
    }
    text + "}\n"
}

#[test]
fn everything_is_as_it_was() {
    let vectors = vectors();
    let text = text(&vectors);
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("award_vectors.json");
    if std::env::var_os("GOLDEN").is_some_and(|value| value == "write") {
        fs::write(&path, &text).unwrap();
    }
    let written = fs::read_to_string(&path).unwrap();
    let parsed: Map<String, Value> = serde_json::from_str(&written).unwrap();
    for (name, of) in &vectors {
        for (n, vector) in of.iter().enumerate() {
            assert_eq!(Some(vector), parsed[*name].get(n), "{name} {n}");
        }
    }
    assert_eq!(written, text);
}

#[test]
fn the_worked_example_has_these_numbers() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/draws.md");
    let page = fs::read_to_string(path).unwrap();
    let (_, example) = page.split_once("## A worked example").unwrap();
    let listed = |values: &[u64]| values.iter().map(u64::to_string).collect::<Vec<_>>().join(" ");
    let (plan, seed) = (Plan::Drawn { total: 1_000, parts: 10, min: 1 }, Seed(counted(0)));
    let beacon = counted(0x80);
    let [alone, with_beacon] = [None, Some(&beacon)].map(|beacon| Table::of(&plan, &seed, beacon).unwrap());
    let places: Vec<u64> = (1..=10).map(|unit| u64::from(alone.position(unit))).collect();
    let mut lines = vec![
        format!("seed  = {}", hex(&seed.0)),
        listed(alone.values()),
        hex(&chunk_digest(alone.values())),
        alone.digest().to_string(),
        commit("packets", 1, &seed, &alone.digest()).to_string(),
        hex(&shuffle_key(&seed, None)),
        listed(&places),
        listed(&alone.awards()),
        hex(&shuffle_key(&seed, Some(&beacon))),
        listed(&with_beacon.awards()),
    ];
    let mut words = Stream::new(&seed, "award/1/split");
    let block: String = (0..4).map(|_| format!("{:016x}", words.word())).collect();
    lines.push(block);
    let leaves: Vec<Vec<u8>> = (1..=3).map(|n| merkle::entry(3 * n, &format!("lottery.2.018f{n:028x}"))).collect();
    lines.push(leaves[0].iter().map(|byte| format!("{byte:02x}")).collect());
    lines.push(hex(&merkle::leaf_hash(&leaves[0])));
    lines.push(hex(&merkle::root(&leaves)));
    for line in lines {
        assert!(example.lines().any(|of_page| of_page.trim() == line), "the page has no line {line}");
    }
    let mut words = Stream::new(&seed, "award/1/split");
    let mut rest = 990;
    for (left, part) in (2..=10).rev().zip(alone.values()) {
        let row = format!("| {left} | {rest} | {} | {} | {} | {part} |", 2 * rest / left + 1, words.word(), part - 1);
        assert!(example.contains(&row), "the page has no row {row}");
        rest -= part - 1;
    }
}
