//! An allocation as an operator writes it: JSON objects with known members only, unlike the stored form.

use api::Object;
use sale::{Allocation, DrawTime, Parts, Prize};
use serde::{Deserialize, Deserializer};

#[derive(Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
enum NewAllocation {
    /// The braces matter: without them serde would accept any other member beside the variant.
    Units {},
    Split {
        total_minor: u64,
        min_minor: u64,
        parts: Parts,
        #[serde(default)]
        beacon: bool,
    },
    Prizes {
        prizes: Vec<Object<NewPrize>>,
        #[serde(default)]
        draw: DrawTime,
        #[serde(default)]
        beacon: bool,
    },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NewPrize {
    name: String,
    count: u32,
}

pub(crate) fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Allocation, D::Error> {
    let Object(new) = Object::deserialize(deserializer)?;
    Ok(match new {
        NewAllocation::Units {} => Allocation::Units,
        NewAllocation::Split { total_minor, min_minor, parts, beacon } => {
            Allocation::Split { total_minor, min_minor, parts, beacon }
        }
        NewAllocation::Prizes { prizes, draw, beacon } => {
            let prizes = prizes.into_iter().map(|Object(NewPrize { name, count })| Prize { name, count }).collect();
            Allocation::Prizes { prizes, draw, beacon }
        }
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn documented_allocations_are_read_and_nothing_else() {
        let prize = json!({ "name": "A phone", "count": 1 });
        for good in [
            json!({ "kind": "units" }),
            json!({ "kind": "split", "total_minor": 100, "min_minor": 1, "parts": "equal" }),
            json!({ "kind": "prizes", "prizes": [prize] }),
            json!({ "kind": "prizes", "prizes": [prize], "draw": "at_end" }),
            json!({ "kind": "prizes", "prizes": [prize], "draw": "at_end", "beacon": true }),
            json!({ "kind": "split", "total_minor": 100, "min_minor": 1, "parts": "drawn", "beacon": true }),
        ] {
            assert_eq!(serde_json::to_value(read(&good).unwrap()).unwrap(), good);
        }
        for bad in [
            json!(null),
            json!("units"),
            json!(["units"]),
            json!({}),
            json!({ "kind": "coins" }),
            json!({ "kind": "units", "total_minor": 100 }),
            json!({ "kind": "split", "total_minor": 100, "min_minor": 1, "parts": "equal", "more": 1 }),
            json!({ "kind": "prizes" }),
            json!({ "kind": "prizes", "prizes": [prize], "draw": "later" }),
            json!({ "kind": "prizes", "prizes": [prize], "draw": null }),
            json!({ "kind": "prizes", "prizes": [prize], "beacon": null }),
            json!({ "kind": "prizes", "prizes": [prize], "beacon": "drand" }),
            json!({ "kind": "units", "beacon": true }),
            json!({ "kind": "prizes", "prizes": prize }),
            json!({ "kind": "prizes", "prizes": [["A phone", 1]] }),
            json!({ "kind": "prizes", "prizes": [{ "name": "A phone", "count": 1, "more": 1 }] }),
            json!({ "kind": "prizes", "prizes": [{ "name": "A phone" }] }),
            json!({ "kind": "prizes", "prizes": [{ "name": "A phone", "count": 4_294_967_296_u64 }] }),
        ] {
            assert!(read(&bad).is_err(), "{bad}");
        }
        let split = json!({ "kind": "split", "total_minor": 100, "min_minor": 1, "parts": "equal" });
        let wrong = [json!(null), json!(true), json!([]), json!({}), json!(1.5), json!(-1)];
        for member in ["kind", "total_minor", "min_minor", "parts"] {
            for wrong in wrong.iter().cloned().chain([json!("random")]) {
                let mut bad = split.clone();
                bad[member] = wrong;
                assert!(read(&bad).is_err(), "{bad}");
            }
            let mut without = split.clone();
            without.as_object_mut().unwrap().remove(member);
            assert!(read(&without).is_err(), "{without}");
        }
        for member in ["name", "count"] {
            for wrong in &wrong {
                let mut bad = prize.clone();
                bad[member] = wrong.clone();
                assert!(read(&json!({ "kind": "prizes", "prizes": [bad] })).is_err(), "{member}: {wrong}");
            }
        }
        assert!(read(&json!({ "kind": "prizes", "prizes": [{ "count": 1 }] })).is_err());
    }
}
