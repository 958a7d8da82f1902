//! Draws that a beacon decides: the draw names a drand round in advance, waits until operators post its beacon, and checks it.
//!
//! The tests cannot reach drand. A key of their own stands in for drand's, with the same rounds at the same times;
//! `sale::award::beacon` tests signatures that drand published.

use axum::Router;
use axum::body::Body;
use axum::response::Response;
use blst::min_sig::SecretKey;
use fulfilment::{DrawStands, Loading, load_round};
use local::check_draw::checked;
use local::client::Client;
use sale::award::beacon::{DOMAIN, DrandKey, message};
use sale::award::drand::{AHEAD_S, CHAIN_HASH, DrandRound};
use sale::award::{Hex, Table};
use tests::Server;

use crate::draws::{free, split, tell_redis};
use crate::lotteries::{AFTER_S, draw_in, drawn_once, end, lottery, stands, winner_messages};
use crate::prelude::*;

const DRAW: &str = "/v1/sales/lamp/rounds/1/draw";
const POST: &str = "/v1/admin/sales/lamp/rounds/1/beacon";

/// Stands in for drand's secret, which no single party has.
fn secret() -> SecretKey {
    SecretKey::key_gen(&[7; 32], &[]).unwrap()
}

fn drand_key() -> DrandKey {
    DrandKey::from_bytes(&secret().sk_to_pk().compress()).unwrap()
}

pub(crate) fn signature(round: DrandRound) -> String {
    Hex(&secret().sign(&message(round), DOMAIN, &[]).compress()).to_string()
}

/// The function with the test's drand key.
pub(crate) fn believing(deps: admin::AdminDeps) -> admin::AdminDeps {
    admin::AdminDeps { drand_key: drand_key(), ..deps }
}

pub(crate) fn posting(signature: &str) -> Ask {
    Ask::post(POST).by_operator().json(&json!({ "signature": signature }))
}

async fn answered(lab: &Lab, ask: &Ask) -> Answer {
    believing(lab.admin()).answer(ask).await
}

pub(crate) async fn post(lab: &Lab) -> Answer {
    answered(lab, &posting(&signature(named(lab).await))).await.expect(200)
}

pub(crate) async fn named(lab: &Lab) -> DrandRound {
    let round = lab.round().await;
    let of_entries = lab.ledger.draw(&round.id).await.unwrap().and_then(|draw| draw.closed?.drand_round);
    round.drand_round.or(of_entries).expect("the draw has named a drand round")
}

fn with_beacon(mut terms: Terms) -> Terms {
    match &mut terms.allocation {
        Allocation::Split { beacon, .. } | Allocation::Prizes { beacon, .. } => *beacon = true,
        Allocation::Units => panic!("units have no awards"),
    }
    terms.validate().unwrap();
    terms
}

pub(crate) fn lottery_with_beacon(tickets: u32, counts: &[u32]) -> Terms {
    with_beacon(lottery(tickets, counts))
}

/// A red packet that opens with a beacon and was due to open an hour ago.
fn packet() -> Terms {
    with_beacon(rounds::from_to(-3660, 3600, free(50, split())))
}

/// Publishes a sale half an hour ago: the publication time decides which drand round is named.
async fn publish(lab: &Lab, terms: &Terms) -> EpochMs {
    rounds::draft(&lab.ledger, SALE, terms, None).await;
    let then = now().minus_s(1800);
    let request = LogEntry { at_ms: then, ..rounds::request("") };
    lab.ledger.publish(&SALE.parse().unwrap(), &request).await.unwrap().expect("the sale exists");
    lab.refresh_snapshots().await;
    then
}

/// What anyone can verify from public data over HTTP.
async fn checked_by_anybody(lab: &Lab, unit: Option<u32>) -> Result<Value, String> {
    let catalog = lab.catalog();
    let answer = async move |uri: axum::http::Uri| {
        let (parts, body) = catalog::handle(&catalog, Ask::get(uri.path()).request()).await.into_parts();
        Response::from_parts(parts, Body::from(body.to_vec()))
    };
    let server = Server::http(Router::new().fallback(answer));
    let checked = checked(&round(SALE, 1), unit, &Client::new(&server.url()).unwrap(), &drand_key()).await;
    checked.map(|checked| serde_json::to_value(checked).unwrap()).map_err(|error| format!("{error:#}"))
}

#[tokio::test]
async fn a_lottery_waits_for_its_beacon_and_goes_on_with_it() {
    let lab = Lab::selling(lottery_with_beacon(20, &[1, 3])).await;
    for n in 0..7 {
        lab.buy(&format!("user-{n}")).await;
    }
    let draw = async || shown(&lab.catalog(), DRAW).await;
    let open = draw().await.body;
    assert_eq!((&open["label"], open.get("drand"), open.get("beacon")), (&json!("beacon"), None, None));
    let too_early = answered(&lab, &posting(&signature(DrandRound(1)))).await.problem(409, "not_amendable");
    assert!(too_early.text("detail").contains("no round of drand is named yet"));
    assert_eq!(lab.ledger.beacon(&round(SALE, 1)).await.unwrap(), None);

    end(&lab).await;
    assert_eq!(draw_in(&lab, AFTER_S).await, stands(DrawStands::AwaitingBeacon));
    let closed = lab.ledger.draw(&round(SALE, 1)).await.unwrap().unwrap().closed.unwrap();
    let (named, ahead_ms) = (named(&lab).await, AHEAD_S * 1000);
    assert!((closed.at_ms.0 + ahead_ms..closed.at_ms.0 + ahead_ms + 3000).contains(&named.at_ms()), "{closed:?}");
    let waiting = draw().await;
    assert_eq!(waiting.header("cache-control"), shown(&lab.catalog(), "/v1/sales/lamp").await.header("cache-control"));
    let waiting = waiting.body;
    assert_eq!(waiting["at_end"]["state"], "awaiting_beacon");
    assert_eq!(waiting["at_end"]["closed"]["winners"], json!([]), "the winners are not known yet");
    assert_eq!((&waiting["drand"]["round"], &waiting["drand"]["chain_hash"]), (&json!(named.0), &json!(CHAIN_HASH)));
    assert!(waiting["seed"].is_string(), "with the beacon, anyone can compute the winners");
    let live = Ask::get("/v1/admin/sales/lamp/live").by_operator();
    assert_eq!(answered(&lab, &live).await.expect(200).body["awaits_beacon"], waiting["drand"]);
    assert!(checked_by_anybody(&lab, None).await.unwrap_err().contains("the beacon is not posted yet"));
    let later = draw::handle(&lab.draw_in(7200)).await.unwrap();
    assert_eq!((later.drawn, later.late, later.failed), (0, 1, 0));
    assert!(winner_messages(&lab).await.is_empty());
    assert_eq!(named, self::named(&lab).await, "the drand round is named once");

    let posted = post(&lab).await.body;
    assert_eq!(draw_in(&lab, AFTER_S).await, stands(DrawStands::Drawn));
    assert_eq!(drawn_once(&lab).await, 4);
    let drawn = draw().await.body;
    assert_eq!((&drawn["beacon"], &drawn["drand"]), (&posted["beacon"], &posted["drand"]));
    assert_eq!(drawn["at_end"]["state"], "drawn");
    assert_eq!(drawn["at_end"]["closed"]["winners"].as_array().unwrap().len(), 4);
    assert!(answered(&lab, &live).await.expect(200).body.get("awaits_beacon").is_none());

    let checked = checked_by_anybody(&lab, None).await.unwrap();
    assert_eq!((&checked["entries"], &checked["drand"]["round"]), (&json!(7), &json!(named.0)));
    for winner in checked["winners"].as_array().unwrap() {
        let id = lab.ledger.owner_of(&round(SALE, 1), sale::Unit(winner["unit"].as_u64().unwrap() as u32)).await;
        let order = lab.ledger.order(&id.unwrap().unwrap()).await.unwrap().unwrap();
        let seen = lab.answer(&Ask::status(&order.reservation)).await.expect(200).body;
        assert_eq!(seen["award"], json!({ "kind": "prize", "prize": winner["prize"] }));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_counting_takes_does_not_shorten_the_minute_before_the_beacon() {
    let lab = Lab::selling(lottery_with_beacon(20, &[1])).await;
    lab.buy("alice").await;
    end(&lab).await;
    let (clock, moved_ms) = movable_clock();
    moved_ms.store(AFTER_S * 1000, Ordering::Relaxed);
    let counting = lab.meanwhile("\"leaves\"", move |_| async {
        moved_ms.fetch_add(AHEAD_S * 10_000, Ordering::Relaxed);
    });
    let began = clock.now();
    let deps = draw::DrawDeps { clock, ledger: counting.clone(), ..lab.draw_in(AFTER_S) };
    let summary = draw::handle(&deps).await.unwrap();
    assert_eq!(summary.failed, 0, "{summary:?}");
    assert!(named(&lab).await.at_ms() >= began.0 + AHEAD_S * 11_000);
}

#[tokio::test]
async fn only_the_right_signature_is_taken_and_it_is_taken_once() {
    let lab = Lab::selling(lottery_with_beacon(20, &[1, 3])).await;
    lab.buy("alice").await;
    end(&lab).await;
    assert_eq!(draw_in(&lab, AFTER_S).await, stands(DrawStands::AwaitingBeacon));
    let (named, before) = (named(&lab).await, lab.contents().await);
    let right = signature(named);
    let flipped = format!("{}{}", &right[..95], if right.ends_with('0') { "1" } else { "0" });
    let next = signature(DrandRound(named.0 + 1));
    // Drand's own signature of its round 1000, valid under another key.
    let drands = "b44679b9a59af2ec876b1a6b1ad52ea9b1615fc3982b19576350f93447cb1125e342b73a8dd2bacbe47e4b6b63ed5e39";
    for wrong in [drands, &flipped, &next, &"0".repeat(96)] {
        let refused = answered(&lab, &posting(wrong)).await.problem(422, "wrong_beacon");
        assert!(refused.text("detail").ends_with(&format!("round {named}")), "{refused:?}");
    }
    for malformed in ["", &right[2..], &right.to_uppercase(), &format!("{right}00"), &"g".repeat(96)] {
        answered(&lab, &posting(malformed)).await.problem(400, "invalid_request");
    }
    // A function with drand's key rejects the test's signatures.
    lab.admin().answer(&posting(&right)).await.problem(422, "wrong_beacon");
    assert_eq!(lab.contents().await, before, "nothing changed");

    let ask = posting(&right);
    let all = join_all((0..4).map(|_| answered(&lab, &ask))).await;
    let first = all[0].clone().expect(200).body;
    for answer in all {
        assert_eq!(answer.expect(200).body, first);
    }
    let kept = lab.ledger.beacon(&round(SALE, 1)).await.unwrap().unwrap();
    assert_eq!(Hex(&kept.signature).to_string(), right);
    let looked_at = answered(&lab, &Ask::get("/v1/admin/sales/lamp").by_operator()).await.expect(200);
    let log = looked_at.body["log"].as_array().unwrap().iter();
    let noted: Vec<&Value> = log.filter(|entry| entry["action"] == "beacon").collect();
    assert_eq!(noted.len(), 1);
    assert_eq!((&noted[0]["parameters"], &noted[0]["by"]), (&json!(named.to_string()), &json!(kept.by.as_str())));

    let plain = Lab::selling(lottery(5, &[1])).await;
    let none = answered(&plain, &posting(&right)).await.problem(409, "not_amendable");
    assert!(none.text("detail").contains("uses no beacon"));
    let elsewhere = Ask { path: "/v1/admin/sales/nothing/rounds/1/beacon".into(), ..posting(&right) };
    answered(&plain, &elsewhere).await.problem(404, "unknown_sale");
}

#[tokio::test]
async fn an_instant_round_opens_with_its_beacon_and_not_before() {
    let lab = Lab::new().await;
    let published_at = publish(&lab, &packet()).await;
    let (named, ahead_ms) = (named(&lab).await, AHEAD_S * 1000);
    assert!((published_at.0 + ahead_ms..published_at.0 + ahead_ms + 3000).contains(&named.at_ms()), "{named}");
    let waits = load_round(&lab.stock, &lab.ledger, &lab.round().await, now()).await.unwrap();
    assert_eq!(waits, Loading::AwaitsBeacon);
    let (nothing, run) = (warmup::WarmupSummary::default(), async || warmup::handle(&lab.warmup()).await.unwrap());
    assert_eq!(run().await, warmup::WarmupSummary { awaiting_beacon: 1, ..nothing });
    reconciliation::handle(&reconciliation::ReconciliationDeps::new(&lab.another_process()).unwrap()).await.unwrap();
    assert!(!lab.stock.round(&round(SALE, 1)).is_loaded().await.unwrap());
    assert_eq!(lab.round().await.loaded_at_ms, None);
    lab.answer(&Ask::reserve(SALE, "alice")).await.problem(503, "paused");
    assert_eq!(shown(&lab.catalog(), "/v1/sales/lamp").await.body["state"], "paused");
    let mine = lab.answer(&Ask::get(format!("/v1/sales/{SALE}/reservation")).by("alice")).await.expect(200);
    assert_eq!(mine.body.get("restoring"), None, "it was never loaded, so nothing is lost");
    let unopened = draw::handle(&lab.draw_in(0)).await.unwrap();
    assert_eq!((unopened.late, unopened.failed), (1, 0), "this alarms operators");
    assert_eq!(unopened.draws.into_iter().next(), Some(("lamp.1".to_owned(), stands(DrawStands::AwaitingBeacon))));
    let shown_draw = shown(&lab.catalog(), DRAW).await.body;
    assert_eq!((&shown_draw["label"], &shown_draw["drand"]["round"]), (&json!("beacon"), &json!(named.0)));
    assert_eq!(shown(&lab.catalog(), "/v1/sales/lamp").await.body["draw"]["label"], "beacon");

    post(&lab).await;
    assert_eq!(run().await, warmup::WarmupSummary { loaded: 1, ..nothing });
    assert_eq!(draw::handle(&lab.draw_in(0)).await.unwrap().late, 0);
    let randomness = lab.ledger.beacon(&round(SALE, 1)).await.unwrap().unwrap().randomness();
    let round = lab.round().await;
    let seed = lab.ledger.seed(&round.id).await.unwrap().unwrap().seed;
    let plan = round.terms.plan().unwrap();
    let [table, without] = [Some(&randomness), None].map(|beacon| Table::of(&plan, &seed, beacon).unwrap());
    assert_ne!(table.awards(), without.awards());
    for user in 0..3 {
        let order = lab.order_of(&lab.buy(&format!("user-{user}")).await).await;
        let won = round.terms.allocation.award(table.award(order.reservation.unit.0));
        assert_eq!((order.award, won.is_some()), (won, true));
    }

    // Redis is reloaded with the same beacon.
    lab.redis(&["FLUSHALL"]).await;
    assert_eq!(run().await, warmup::WarmupSummary { loaded: 1, ..nothing });
    let order = lab.order_of(&lab.buy("late").await).await;
    assert_eq!(order.award, round.terms.allocation.award(table.award(order.reservation.unit.0)));
    assert_eq!(lab.clean_audit().await, (46, 0, 4));
    assert!(lab.audited(&round).await.awarded.unwrap().is_exact());

    let ended_at = now().minus_s(65);
    rounds::change(&lab.ledger, &round.id, |round| round.terms.closes_at_ms = ended_at).await;
    tell_redis(&lab).await;
    let checked = checked_by_anybody(&lab, Some(order.reservation.unit.0)).await.unwrap();
    assert_eq!((&checked["sum_minor"], &checked["drand"]["round"]), (&json!(10_000), &json!(named.0)));
    assert_eq!(Some(&checked["unit"]["amount_minor"]), serde_json::to_value(order.award).unwrap().get("amount_minor"));
}

#[tokio::test]
async fn an_order_whose_beacon_cannot_be_read_is_tried_again() {
    let lab = Lab::new().await;
    publish(&lab, &packet()).await;
    post(&lab).await;
    lab.load(SALE).await;
    let reservation = lab.reserve("alice").await;
    let taken = items(&lab.dynamodb, &lab.table).await.remove("BEACON#lamp#1").unwrap();
    lab.delete_item("BEACON#lamp#1").await;
    let order = order::OrderDeps::new(&lab.another_process()).unwrap();
    assert_eq!(order::handle(&order, message_batch([&reservation])).await.batch_item_failures.len(), 1);
    assert_eq!(lab.ledger.order(&reservation.id).await.unwrap(), None, "the order has not failed");
    lab.put_item(taken).await;
    assert!(order::handle(&order, message_batch([&reservation])).await.batch_item_failures.is_empty());
    assert!(lab.order_of(&reservation).await.award.is_some());
}

#[tokio::test]
async fn a_sale_that_recurs_has_a_beacon_only_if_it_is_drawn_at_its_end() {
    let lab = Lab::new().await;
    let split = json!({ "kind": "split", "total_minor": 100, "min_minor": 1, "parts": "drawn", "beacon": true });
    let prizes =
        |draw| json!({ "kind": "prizes", "prizes": [{ "name": "A cup", "count": 1 }], "draw": draw, "beacon": true });
    let create = async |allocation: Value| {
        let daily = json!({
            "allocation": allocation, "settlement": "free", "price_minor": 0, "per_user_limit": 1,
            "recurrence": { "every": "day", "time_zone": "Etc/UTC" },
        });
        lab.operate("sales", &new_sale("daily", &daily)).await
    };
    for instant in [split, prizes("instant")] {
        let refused = create(instant).await.problem(400, "invalid_request");
        assert!(refused.text("detail").contains("recurs"), "{refused:?}");
    }
    assert_eq!(create(prizes("at_end")).await.expect(201).body["allocation"]["beacon"], true);
}
