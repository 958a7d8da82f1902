//! The results that all implementations must agree on. `GOLDEN=write cargo test --workspace --test line_vectors`
//! rewrites `line_vectors.json`. It may only be extended.

use std::path::Path;

use pass::KeyRing;
use pass::line::{Class, LineKeys, LineOrder, Place, Range, Ticket, Watermark, commit, rank_of_early, wait_s};
use sale::award::{Hex, Seed};
use sale::{EpochMs, RoundId, RoundNumber, UserId};
use serde_json::{Value, json};

const RING: &str =
    r#"{"signing":2,"key1":"0123456789abcdef0123456789abcdef","key2":"fedcba9876543210fedcba9876543210"}"#;

fn seed(first: u8) -> Seed {
    Seed(std::array::from_fn(|n| first.wrapping_add(n as u8)))
}

fn hex(bytes: &[u8]) -> String {
    Hex(bytes).to_string()
}

fn round(sale: &str, number: u32) -> RoundId {
    RoundId { sale: sale.parse().unwrap(), number: RoundNumber(number) }
}

const USERS: [&str; 5] = ["alice", "bob", "auth0|65f1c2", "x", "a-rather-long-user-id@example.com"];

fn rounds() -> Vec<Value> {
    let of = |sale: &str, number: u32, first: u8| {
        let (id, seed) = (round(sale, number), seed(first));
        let order = LineOrder::of(&seed);
        let places = USERS.map(|user| {
            let place = order.place(&user.parse().unwrap());
            json!({"user": user, "place": format!("{:016x}", place.0), "ppb": place.ppb()})
        });
        json!({
            "sale": sale, "round": number, "seed": hex(&seed.0), "commitment": commit(&id, &seed).to_string(),
            "places": places,
        })
    };
    vec![of("lamp", 1, 1), of("lamp", 2, 1), of("a", 4_294_967_295, 200)]
}

fn keys() -> LineKeys {
    LineKeys::of(&RING.parse::<KeyRing>().unwrap())
}

fn seals() -> Value {
    let (keys, id) = (keys(), round("lamp", 7));
    let order = LineOrder::of(&seed(9));
    let derived: Vec<Value> = keys
        .all()
        .map(|(number, key)| json!({"number": number, "ticket": hex(&key.ticket), "watermark": hex(&key.watermark)}))
        .collect();
    let classes = [Class::Early, Class::Late(1_795_510_801)];
    let tickets: Vec<Value> = USERS
        .iter()
        .flat_map(|user| classes.map(|class| (user, class)))
        .map(|(user, class)| {
            let user: UserId = user.parse().unwrap();
            let ticket = Ticket { round: id.number, user, class };
            json!({
                "user": ticket.user.as_str(), "late_second": matches!(class, Class::Late(_)).then_some(1_795_510_801),
                "ticket": ticket.seal(&keys, &id.sale),
            })
        })
        .collect();
    let watermarks = [
        Watermark { early_ppb: 0, late_s: 0, late_ppb: 0 },
        Watermark { early_ppb: 500_000_000, late_s: 0, late_ppb: 0 },
        Watermark { early_ppb: 1_000_000_000, late_s: 1_795_510_801, late_ppb: 0 },
        Watermark { early_ppb: 1_000_000_000, late_s: 1_795_510_801, late_ppb: 600_000_000 },
        Watermark { early_ppb: 1_000_000_000, late_s: 1_795_510_802, late_ppb: 0 },
    ];
    let watermarks: Vec<Value> = watermarks
        .iter()
        .map(|watermark| {
            let admitted = |class| {
                let is_in = |user: &&&str| watermark.admits(class, order.place(&user.parse().unwrap()));
                USERS.iter().filter(is_in).copied().collect::<Vec<_>>()
            };
            json!({
                "early_ppb": watermark.early_ppb, "late_s": watermark.late_s, "late_ppb": watermark.late_ppb,
                "watermark": watermark.seal(&order, &keys, &id),
                "early_admitted": admitted(classes[0]), "late_admitted": admitted(classes[1]),
            })
        })
        .collect();
    json!({"ring": RING, "keys": derived, "sale": "lamp", "round": 7, "order_seed": hex(&seed(9).0), "tickets": tickets, "watermarks": watermarks})
}

fn ranges() -> Vec<Value> {
    let places = [0, 1, u64::MAX / 1000, u64::MAX / 2, u64::MAX];
    let people = [0_u64, 1, 200, 20_000, 1_000_000, 100_000_000];
    let all = places.into_iter().flat_map(|place| people.map(|people| (Place(place), people)));
    all.map(|(place, people)| {
        let rank = rank_of_early(place, people);
        let wait = wait_s(rank, Range { from: 100, to: 110 }, 50).unwrap();
        json!({
            "ppb": place.ppb(), "people": people, "rank": [rank.from, rank.to],
            "admitted": [100, 110], "per_s": 50, "wait_s": [wait.from, wait.to],
        })
    })
    .collect()
}

/// A line for each vector, which makes differences easy to find.
fn written(value: &Value, indent: usize) -> String {
    let inner = indent + 2;
    let (items, [open, close]): (Vec<String>, _) = match value {
        Value::Array(items) => (items.iter().map(Value::to_string).collect(), ["[", "]"]),
        Value::Object(fields) => {
            let written = fields.iter().map(|(name, value)| format!("\"{name}\": {}", written(value, inner)));
            (written.collect(), ["{", "}"])
        }
        _ => return value.to_string(),
    };
    let items = items.join(&format!(",\n{:inner$}", ""));
    format!("{open}\n{:inner$}{items}\n{:indent$}{close}", "", "")
}

#[test]
fn the_vectors_are_what_this_version_computes() {
    let vectors = json!({"rounds": rounds(), "seals": seals(), "ranges": ranges()});
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("line_vectors.json");
    if std::env::var_os("GOLDEN").is_some() {
        std::fs::write(&path, written(&vectors, 0) + "\n").unwrap();
    }
    let kept: Value = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
    assert_eq!(kept, vectors);
}

#[test]
fn what_was_sealed_opens_and_nothing_else_does() {
    let (keys, id) = (keys(), round("lamp", 7));
    let other: sale::SaleId = "lam".parse().unwrap();
    for class in [Class::Early, Class::Late(17)] {
        let ticket = Ticket { round: id.number, user: "alice".parse().unwrap(), class };
        let text = ticket.seal(&keys, &id.sale);
        assert_eq!(Ticket::open(&text, &keys, &id.sale), Ok(ticket));
        assert!(Ticket::open(&text, &keys, &other).is_err(), "of another sale");
        forged(&text, |text| Ticket::open(text, &keys, &id.sale).is_ok());
    }
    let (watermark, order) = (Watermark { early_ppb: 3, late_s: 4, late_ppb: 5 }, LineOrder::of(&seed(9)));
    let text = watermark.seal(&order, &keys, &id);
    assert_eq!(Watermark::open(&text, &keys, &id.sale), Ok((id.number, order, watermark)));
    assert!(Watermark::open(&text, &keys, &other).is_err());
    assert!(Ticket::open(&text, &keys, &id.sale).is_err(), "a watermark is no ticket");
    forged(&text, |text| Watermark::open(text, &keys, &id.sale).is_ok());
}

/// Changes each character in turn.
fn forged(text: &str, opens: impl Fn(&str) -> bool) {
    for at in 0..text.len() {
        let other = if &text[at..=at] == "A" { "B" } else { "A" };
        let changed = format!("{}{other}{}", &text[..at], &text[at + 1..]);
        // The last character may have unused bits. The text differs all the same, and must be refused too.
        assert!(!opens(&changed), "{changed}");
    }
    for wrong in ["", "A", &text[1..], &format!("{text}A"), &"A".repeat(10_000)] {
        assert!(!opens(wrong), "{wrong}");
    }
}

#[test]
fn who_came_before_the_opening_is_early_whatever_the_opening_was() {
    let ticket = |class| Ticket { round: RoundNumber(1), user: "alice".parse().unwrap(), class };
    let at = |class, opens_at| ticket(class).class_at(EpochMs(opens_at));
    assert_eq!(at(Class::Early, 5_000), Class::Early);
    assert_eq!([4_000, 5_000, 5_999].map(|opens_at| at(Class::Late(5), opens_at)), [Class::Late(5); 3]);
    assert_eq!([6_000, 9_000].map(|opens_at| at(Class::Late(5), opens_at)), [Class::Early; 2]);
    assert_eq!(at(Class::Late(u64::MAX), 9_000), Class::Late(u64::MAX));
}

#[test]
fn a_ticket_outlives_a_change_of_keys_as_long_as_its_key_is_known() {
    let keys = |text: &str| LineKeys::of(&text.parse::<KeyRing>().unwrap());
    let (old, new) = ("0123456789abcdef0123456789abcdef", "fedcba9876543210fedcba9876543210");
    let before = keys(&format!(r#"{{"signing":1,"key1":"{old}"}}"#));
    let meanwhile = keys(&format!(r#"{{"signing":2,"key1":"{old}","key2":"{new}"}}"#));
    let after = keys(&format!(r#"{{"signing":2,"key2":"{new}"}}"#));
    let id = round("lamp", 7);
    let ticket = Ticket { round: id.number, user: "alice".parse().unwrap(), class: Class::Early };
    let text = ticket.seal(&before, &id.sale);
    assert_eq!(Ticket::open(&text, &meanwhile, &id.sale), Ok(ticket.clone()));
    assert!(Ticket::open(&text, &after, &id.sale).is_err());
    assert_eq!(Ticket::open(&ticket.seal(&meanwhile, &id.sale), &after, &id.sale), Ok(ticket));
}
