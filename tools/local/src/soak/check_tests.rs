//! Plants errors into the samples of a good run. A check must find each.

use messaging::queue::Depth;

use super::*;
use crate::soak::keys::{Keys, OfRound};

const RUN_S: f64 = 3600.0;

/// An hour in which all is well: a sample every ten seconds.
fn good() -> Vec<Sample> {
    (0..360_u64)
        .map(|n| {
            // Noise, so that nothing is flat merely because it is constant.
            let noise = n * 7919 % 100;
            let memory = [
                ("reservation, old gateway", 40_000 + noise * 20),
                ("order", 30_000 + noise * 10),
                (EMULATOR, 100_000 + n * 1_000),
            ];
            let round = OfRound { keys: 6, bytes: 20_000, lanes: 1 };
            let keys = Keys {
                by_kind: [("sale", 1), ("rate", 100 + noise)].map(|(kind, count)| (kind.to_owned(), count)).into(),
                by_round: [("daily.1".to_owned(), round)].into(),
                bytes: 20_000 + noise * 100,
                used_bytes: 2_000_000 + noise * 1000,
                ..Keys::default()
            };
            let depth = |waiting| Depth { waiting, ..Depth::default() };
            Sample {
                at_s: n as f64 * 10.0,
                memory_kb: memory.map(|(kind, kb)| (kind.to_owned(), kb)).into(),
                keys: Some(keys),
                items: Some(n),
                queues: [("orders", depth(if n == 359 { 0 } else { 3 })), ("orders, dead", depth(u64::from(n == 100)))]
                    .into(),
            }
        })
        .collect()
}

fn opened() -> Vec<Opened> {
    vec![Opened { round: "daily.1".to_owned(), lanes: 1, over_s: 400.0 }]
}

/// The names of the checks that fail.
fn failing(samples: &[Sample]) -> Vec<&'static str> {
    let mut checks = vec![memory(samples, RUN_S).0, rounds(samples, &opened())];
    checks.extend(redis(samples, RUN_S));
    checks.extend(lives(samples));
    checks.extend(queues(samples));
    checks.into_iter().filter(|check| !check.passed).map(|check| check.name).collect()
}

fn planted(plant: impl Fn(u64, &mut Sample)) -> Vec<&'static str> {
    let mut samples = good();
    samples.iter_mut().zip(0..).for_each(|(sample, n)| plant(n, sample));
    failing(&samples)
}

fn in_keys(plant: impl Fn(u64, &mut Keys)) -> Vec<&'static str> {
    planted(|n, sample| plant(n, sample.keys.as_mut().unwrap()))
}

#[test]
fn a_good_run_passes() {
    assert_eq!(failing(&good()), [""; 0]);
    // A run also passes if Redis did not answer for a while and a function started late.
    let gaps = planted(|n, sample| {
        if (50..55).contains(&n) {
            sample.keys = None;
        }
        if n > 150 {
            sample.memory_kb.insert("reservation, new gateway".to_owned(), 45_000);
        }
    });
    assert_eq!(gaps, [""; 0]);
}

#[test]
fn memory_that_grows_is_found() {
    // 30 kB in ten seconds, which is 10 MB in an hour, and twice that.
    let leak = |kb| planted(move |n, sample| *sample.memory_kb.get_mut("order").unwrap() += n * kb);
    assert_eq!(leak(30), [""; 0], "within what an allocator may do");
    assert_eq!(leak(60), ["memory is flat"]);
    // A process that only exists in the second half of the run.
    let late = planted(|n, sample| {
        if n >= 180 {
            sample.memory_kb.insert("reservation, new gateway".to_owned(), 40_000 + (n - 180) * 200);
        }
    });
    assert_eq!(late, ["memory is flat"]);
    let nothing = planted(|_, sample| sample.memory_kb.clear());
    assert_eq!(nothing, ["memory is flat"], "there are no samples");
}

#[test]
fn a_process_that_dies_now_and_then_hides_a_steep_leak_no_better() {
    // It leaks 1.5 MB in ten seconds until it is killed, and each life is longer than the last.
    let sawtooth = planted(|n, sample| {
        let life = match n {
            ..90 => 30,
            90..180 => 45,
            _ => 180,
        };
        sample.memory_kb.insert("order".to_owned(), 30_000 + n % life * 1_500);
    });
    assert_eq!(sawtooth, ["memory is flat"]);
}

#[test]
fn redis_that_grows_is_found() {
    assert_eq!(in_keys(|n, keys| keys.used_bytes += n * 50_000), ["Redis's memory beyond its keys is flat"]);
    let more = in_keys(|n, keys| *keys.by_kind.get_mut("rate").unwrap() += n);
    assert_eq!(more, ["the number of short-lived keys is flat"]);
    let blind: Vec<Sample> = good().into_iter().map(|sample| Sample { keys: None, ..sample }).collect();
    assert!(redis(&blind, RUN_S).iter().all(|check| !check.passed && check.wrong == ["too few samples"]));
}

#[test]
fn keys_that_live_too_long_are_found() {
    let once = |n: u64, names: &mut Vec<String>| {
        if n == 200 {
            names.push("planted".to_owned());
        }
    };
    assert_eq!(in_keys(|n, keys| once(n, &mut keys.without_ttl)), ["no key lacks a TTL"]);
    assert_eq!(in_keys(|n, keys| once(n, &mut keys.too_long)), ["no key outlives the limit of its kind"]);
    assert_eq!(in_keys(|n, keys| once(n, &mut keys.unknown)), ["every key is of a kind listed in lua/README.md"]);
    let blind = planted(|_, sample| sample.keys = None);
    assert!(blind.contains(&"no key lacks a TTL"), "{blind:?}");
}

#[test]
fn a_round_that_grows_is_found() {
    let bounded = "a round's keys are bounded, and do not grow once it is over";
    let of_round =
        |plant: fn(u64, &mut OfRound)| in_keys(move |n, keys| plant(n, keys.by_round.get_mut("daily.1").unwrap()));
    assert_eq!(of_round(|n, round| round.bytes += n * 100), [bounded], "it is over");
    assert_eq!(of_round(|n, round| round.keys += n / 300 * 3), [bounded], "more keys than kinds");
    assert_eq!(of_round(|n, round| round.lanes += n / 300), [bounded], "a lane that it does not have");
    let stray = in_keys(|_, keys| {
        keys.by_round.insert("nobody.7".to_owned(), OfRound::default());
    });
    assert_eq!(stray, [bounded]);
    let early: Vec<Sample> = good().into_iter().filter(|sample| sample.at_s < 400.0).collect();
    assert_eq!(rounds(&early, &opened()).wrong, ["no round was sampled after its end"]);
}

#[test]
fn messages_that_are_left_are_found() {
    let left = |queue: &'static str| planted(move |_, sample| sample.queues.get_mut(queue).unwrap().delayed = 1);
    assert_eq!(left("orders"), ["the backlog drains"]);
    assert_eq!(left("orders, dead"), ["no dead letter is left"]);
}

#[test]
fn errors_count_while_nothing_happens() {
    let errors = |count| [("reserve: 500 no_code".to_owned(), count)].into();
    assert!(calm(0, &BTreeMap::new()).passed && calm(1_000, &errors(10)).passed);
    assert_eq!(calm(1_000, &errors(11)).wrong, ["11 × reserve: 500 no_code"]);
}
