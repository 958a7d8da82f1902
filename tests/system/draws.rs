//! What people see of rounds with awards: what can be won, what they won and, after the end, everything that verifies it.

use sale::Parts;
use sale::award::{Seed, Table, bytes32, commit};

use crate::green_channel::expedite;
use crate::prelude::*;

const DRAW: &str = "/v1/sales/lamp/rounds/1/draw";

/// Terms that give units away, one to each user.
pub(crate) fn free(total: u32, allocation: Allocation) -> Terms {
    let mut terms = terms(total, 1);
    terms.price.price_minor = 0;
    Terms { allocation, settlement: Settlement::Free, ..terms }
}

/// A hundred euros, in parts whose size is drawn.
pub(crate) fn split() -> Allocation {
    Allocation::Split { total_minor: 10_000, min_minor: 1, parts: Parts::Drawn, beacon: false }
}

fn packet() -> Terms {
    free(5, split())
}

/// Reserves, makes the order at once and returns what its user then sees.
async fn grab(lab: &Lab, name: &str) -> Answer {
    let reservation = lab.reserve(name).await;
    let (look, cancel) = (Ask::status(&reservation), Ask::cancel(&reservation));
    let queued = ask_function(&lab.recorder, &lab.just_reserved(), &look).await.expect(200);
    assert_eq!((queued.text("status"), queued.body.get("award")), ("queued", None), "the unit may still change");
    let granted = lab.answer(&expedite(&reservation.id, name)).await.expect(200);
    assert_eq!(granted.text("status"), "granted");
    assert_eq!(lab.answer(&look).await.expect(200).body, granted.body);
    let orders = lab.answer(&Ask::get("/v1/orders").by(name)).await.expect(200);
    assert_eq!(orders.body["orders"], json!([granted.body]));
    let refused = lab.answer(&cancel).await.problem(409, "not_cancellable");
    assert_eq!(refused.body["reservation_status"], "granted");
    granted
}

/// Ends the round this many seconds ago, in the ledger alone.
pub(crate) async fn end_ago(lab: &Lab, ago_s: u32) {
    let at = now().minus_s(ago_s);
    rounds::change(&lab.ledger, &round(SALE, 1), |round| {
        (round.terms.opens_at_ms, round.terms.closes_at_ms) = (at.minus_s(60), at);
    })
    .await;
}

/// Gives Redis the round's terms from the ledger.
pub(crate) async fn tell_redis(lab: &Lab) {
    let latest = lab.round().await;
    lab.stock.round(&latest.id).amend(&latest).await.unwrap();
}

/// The draw once it has its seed.
async fn revealed(catalog: &catalog::CatalogDeps) -> Answer {
    let seen = async || {
        let draw = shown(catalog, DRAW).await;
        draw.body.get("seed").is_some().then_some(draw)
    };
    until("the seed is revealed", seen).await
}

#[tokio::test]
async fn the_seed_is_secret_until_nobody_can_grab_any_more() {
    let lab = Lab::selling(packet()).await;
    let catalog = lab.catalog();
    let stays_secret = async |catalog: &catalog::CatalogDeps, why: &str| {
        let draw = shown(catalog, DRAW).await;
        assert_eq!(draw.body.get("seed"), None, "{why}");
        assert_eq!(draw.header("cache-control"), "public, max-age=0, s-maxage=1, stale-if-error=30");
    };
    stays_secret(&catalog, "it is open").await;
    end_ago(&lab, 50).await;
    tell_redis(&lab).await;
    // Also in a new process, so the result does not depend on what one remembers.
    for catalog in [&catalog, &lab.catalog()] {
        stays_secret(catalog, "clocks differ").await;
    }

    let lab = Lab::selling(packet()).await;
    end_ago(&lab, catalog::DRAW_REVEAL_AFTER_S + 5).await;
    let catalog = lab.catalog();
    stays_secret(&catalog, "Redis still sells: it does not know of the end").await;
    tell_redis(&lab).await;
    let draw = revealed(&catalog).await;
    assert_eq!(draw.header("cache-control"), "public, max-age=0, s-maxage=86400");
    let again = catalog.answer(&Ask::get(DRAW).header("if-none-match", draw.header("etag"))).await;
    assert_eq!((again.status, again.header("cache-control")), (304, draw.header("cache-control")));
    lab.redis(&["FLUSHALL"]).await;
    assert_eq!(revealed(&lab.catalog()).await.body, draw.body, "long after the round Redis has lost it");
    let nobody = stock::Stock::new("redis://127.0.0.1:1").unwrap();
    let blind = catalog::CatalogDeps::new(&lab.another_process().with(nobody)).unwrap();
    stays_secret(&blind, "Redis does not say whether it sells").await;
}

#[tokio::test]
async fn what_was_granted_is_what_the_seed_says() {
    let lab = Lab::selling(packet()).await;
    let catalog = lab.catalog();
    let card = shown(&catalog, "/v1/sales/lamp").await.body;
    let draw = json!({
        "units": 5, "label": "commitment_only", "commitment": card["draw"]["commitment"],
        "allocation": { "kind": "split", "total_minor": 10_000, "min_minor": 1, "parts": "drawn" },
    });
    assert_eq!((&card["settlement"], &card["draw"]), (&json!("free"), &draw));
    let mut granted: Vec<Value> = Vec::new();
    for n in 0..5 {
        granted.push(grab(&lab, &format!("buyer-{n}")).await.body);
    }
    let amount = |order: &Value| order["award"]["amount_minor"].as_u64().unwrap();
    assert_eq!(granted.iter().map(amount).sum::<u64>(), 10_000);
    assert!(granted.iter().all(|order| order["award"]["currency"] == "EUR" && order["price_minor"] == 0));

    end_ago(&lab, 100).await;
    tell_redis(&lab).await;
    let revealed = revealed(&catalog).await.body;
    assert_eq!((&revealed["commitment"], &revealed["encoding"]), (&card["draw"]["commitment"], &json!(1)));
    let seed = Seed(bytes32(revealed["seed"].as_str().unwrap()).unwrap());
    let plan = packet().plan().unwrap();
    let table = Table::of(&plan, &seed, None).unwrap();
    assert_eq!(commit(SALE, 1, &seed, &table.digest()).to_string(), revealed["commitment"]);
    for order in &granted {
        let unit = u32::try_from(order["unit"].as_u64().unwrap()).unwrap();
        assert_eq!(table.award(unit), amount(order), "unit {unit}");
    }
}

#[tokio::test]
async fn a_prize_is_told_by_its_name() {
    let prizes = [("A phone", 1), ("A cup", 2)].map(|(name, count)| Prize { name: name.to_owned(), count });
    let prizes = Allocation::Prizes { prizes: prizes.into(), draw: DrawTime::Instant, beacon: false };
    let lab = Lab::selling(free(4, prizes)).await;
    let mut awards = Vec::new();
    for n in 0..4 {
        awards.push(grab(&lab, &format!("buyer-{n}")).await.body["award"].to_string());
    }
    awards.sort();
    let cup = r#"{"kind":"prize","prize":"A cup"}"#;
    assert_eq!(awards, [r#"{"kind":"blank"}"#, cup, cup, r#"{"kind":"prize","prize":"A phone"}"#]);
}

#[tokio::test]
async fn what_is_free_and_the_same_for_all_has_no_award_and_no_draw() {
    let lab = Lab::selling(free(3, Allocation::Units)).await;
    let catalog = lab.catalog();
    let card = shown(&catalog, "/v1/sales/lamp").await.body;
    assert_eq!((&card["settlement"], card.get("draw")), (&json!("free"), None));
    assert_eq!(grab(&lab, "alice").await.body.get("award"), None);
    catalog.answer(&Ask::get(DRAW)).await.problem(404, "unknown_sale");
    let round = lab.round().await;
    assert_eq!((round.commitment, lab.ledger.seed(&round.id).await.unwrap()), (None, None));
    assert_eq!((lab.audited(&round).await.awarded, lab.clean_audit().await), (None, (2, 0, 1)));
}

#[tokio::test]
async fn rounds_to_come_are_looked_up_nowhere() {
    let lab = Lab::selling(packet()).await;
    let catalog = lab.catalog();
    shown(&catalog, "/v1/sales/lamp").await;
    lab.calls.take();
    for number in ["2", "3", "4294967295"] {
        let draw = catalog.answer(&Ask::get(format!("/v1/sales/lamp/rounds/{number}/draw"))).await;
        assert_eq!(draw.header("cache-control"), "public, max-age=0, s-maxage=1");
        draw.problem(404, "unknown_sale");
    }
    // What is published may have been read again meanwhile, but no round.
    let reads: Vec<_> = lab.calls.take().into_iter().filter(|call| call.target.ends_with("GetItem")).collect();
    assert!(reads.iter().all(|read| !read.body.to_string().contains(SALE)), "{reads:?}");
    assert_eq!(catalog.answer(&Ask::get("/v1/sales/lamp/rounds/1/draw")).await.status, 200);
}
