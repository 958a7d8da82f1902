//! Sales stored by the previous version: read, steered and converted; and what that version can still do with the items of
//! this one.

use std::collections::HashMap;
use std::sync::atomic::Ordering;

use aws_sdk_dynamodb::error::ProvideErrorMetadata;
use aws_sdk_dynamodb::types::AttributeValue;
use ledger::{Begun, Latest, Steered};
use runtime::Clock;
use sale::{EpochMs, OrderState, RoundNumber, SaleState, Terms};
use serde_json::{Value, json};
use tests::{round, terms};

use crate::ask::Ask;
use crate::catalog::shown;
use crate::heal::heal;
use crate::lab::{Lab, SALE};
use crate::meanwhile::ledger_with;
use crate::resources;
use crate::rounds::{self, request};

const HOUR_MS: i64 = 60 * 60 * 1000;

/// Puts an item into the table as given.
pub(crate) async fn put(lab: &Lab, item: &Value) {
    let item: HashMap<String, AttributeValue> = serde_dynamo::to_item(item).unwrap();
    lab.dynamodb.put_item().table_name(&lab.table).set_item(Some(item)).send().await.unwrap();
}

async fn item(lab: &Lab, pk: &str) -> Option<Value> {
    let item = resources::items(&lab.dynamodb, &lab.table).await.remove(pk)?;
    Some(serde_dynamo::from_item(item.into_iter().collect::<HashMap<_, _>>()).unwrap())
}

/// The terms of a round that opens and closes this many milliseconds from now.
fn stored_terms(total: u32, opens_in_ms: i64, closes_in_ms: i64) -> Value {
    let now = Clock::system().now().0;
    json!({
        "title": "A lamp", "opens_at_ms": now + opens_in_ms, "closes_at_ms": now + closes_in_ms, "total": total,
        "per_user_limit": 1, "price_minor": 990, "currency": "EUR", "payment_window_s": 900,
        "door": { "strikes": 10, "strike_window_s": 600, "denied_for_s": 3600, "unpaid_limit": 3 },
    })
}

fn with(mut item: Value, fields: Value) -> Value {
    let Value::Object(fields) = fields else { panic!("{fields}") };
    item.as_object_mut().unwrap().extend(fields);
    item
}

/// A published sale of four units, in its first round, which is open.
pub(crate) fn published() -> Value {
    let fields = json!({
        "pk": "SALE#lamp", "sale_list": "published", "id": "lamp", "state": "published", "round": 1, "version": 3,
        "paused": false, "requests": ["more restock 1 2", "restock-older"],
    });
    with(stored_terms(4, -HOUR_MS, HOUR_MS), fields)
}

/// A daily sale in its second round, which has more units than the others and closes in `closes_in_ms`.
pub(crate) async fn put_daily(lab: &Lab, closes_in_ms: i64) {
    let recurring = json!({
        "round": 2, "version": 9, "regular_terms": stored_terms(4, -6 * HOUR_MS, closes_in_ms),
        "recurrence": { "every": "day", "time_zone": "Europe/Berlin" }, "paused": true, "isolated_requests_per_s": 50,
        "requests": ["round-2", "more restock 2 3"],
    });
    put(lab, &with(with(published(), stored_terms(7, -6 * HOUR_MS, closes_in_ms)), recurring)).await;
    let fields = json!({ "pk": "ROUND#lamp#1", "sale": "lamp", "round": 1 });
    put(lab, &with(stored_terms(6, -30 * HOUR_MS, -24 * HOUR_MS), fields)).await;
}

fn ask(what: &str, key: &str, body: &Value) -> Ask {
    Ask::post(format!("/v1/admin/sales/{SALE}/{what}")).by_operator().header("idempotency-key", key).json(body)
}

#[tokio::test]
async fn a_sale_of_the_version_before_sells_as_it_is() {
    let lab = Lab::new().await;
    put(&lab, &published()).await;
    lab.refresh_snapshots().await;
    let before = item(&lab, "SALE#lamp").await;
    assert_eq!(warmup::handle(&lab.warmup()).await.unwrap().loaded, 1);
    let alice = lab.buy("alice").await;
    assert_eq!(lab.order_of(&alice).await.price.unwrap().price_minor, 990);
    let running = lab.ledger.round(&round(SALE, 1)).await.unwrap().expect("it is in the sale");
    assert_eq!((running.id, running.terms.total), (round(SALE, 1), 4));
    let seen = lab.answer(&Ask::get(format!("/v1/admin/sales/{SALE}")).by_operator()).await.expect(200).body;
    assert_eq!((&seen["state"], &seen["total"], &seen["version"]), (&json!("published"), &json!(4), &json!(3)));
    let list = lab.answer(&Ask::get("/v1/admin/sales").by_operator()).await.expect(200).body;
    assert_eq!(list["sales"].as_array().unwrap().len(), 1);
    assert_eq!(shown(&lab.catalog(), &format!("/v1/sales/{SALE}")).await.body["state"], "open");
    lab.redis(&["FLUSHALL"]).await;
    assert_eq!(reconciliation::handle(&lab.reconciliation()).await.unwrap().rebuilt, 1);
    assert_eq!(lab.clean_audit().await, (3, 0, 1));
    // A repeat of an earlier request still changes nothing, and none of these requests writes.
    for (key, units) in [("more", 2), ("older", 5)] {
        let again = ask("restock", key, &json!({ "round": 1, "units": units }));
        assert_eq!(lab.answer(&again).await.expect(200).body["total"], 4);
    }
    lab.answer(&ask("restock", "more", &json!({ "round": 1, "units": 3 }))).await.problem(409, "key_reused");
    lab.answer(&ask("pause", "p", &json!({ "round": 2 }))).await.problem(409, "round_changed");
    assert_eq!((item(&lab, "SALE#lamp").await, item(&lab, "ROUND#lamp#1").await), (before, None));
}

#[tokio::test]
async fn the_first_change_makes_it_an_offer_and_a_round() {
    let lab = Lab::new().await;
    put(&lab, &published()).await;
    lab.refresh_snapshots().await;
    lab.load(SALE).await;
    lab.buy("alice").await;
    let restock = ask("restock", "some", &json!({ "round": 1, "units": 5 }));
    for _ in 0..2 {
        let seen = lab.answer(&restock).await.expect(200).body;
        assert_eq!((&seen["total"], &seen["version"], &seen["round_version"]), (&json!(9), &json!(3), &json!(4)));
    }
    let offer = item(&lab, "SALE#lamp").await.unwrap();
    assert_eq!((&offer["offer_version"], offer.get("sale_list")), (&json!(3), None));
    let latest = lab.round().await;
    assert!(latest.loaded_at_ms.is_some(), "it may be loaded, but the previous version did not note when");
    let listed = lab.ledger.published_rounds(Clock::system().now()).await.unwrap();
    assert_eq!(listed, [latest]);
    // Requests from before the conversion are still known.
    for key in ["more", "older"] {
        let again = ask("restock", key, &json!({ "round": 1, "units": 2 }));
        assert_eq!(lab.answer(&again).await.expect(200).body["total"], 9);
    }
    lab.buy("bob").await;
    assert_eq!(lab.clean_audit().await, (7, 0, 2));
    lab.answer(&ask("close", "c", &json!({ "round": 1 }))).await.expect(200);
    lab.answer(&Ask::reserve(SALE, "late")).await.problem(410, "closed");
}

#[tokio::test]
async fn a_draft_of_the_version_before_is_published() {
    let lab = Lab::new().await;
    let mut draft = with(published(), json!({ "state": "draft", "version": 1, "requests": [] }));
    draft.as_object_mut().unwrap().remove("sale_list");
    put(&lab, &draft).await;
    lab.answer(&ask("pause", "p", &json!({ "round": 1 }))).await.problem(409, "not_amendable");
    assert_eq!(item(&lab, "SALE#lamp").await, Some(draft));
    for _ in 0..2 {
        let publish = Ask::post(format!("/v1/admin/sales/{SALE}/publish")).by_operator();
        let seen = lab.answer(&publish).await.expect(200).body;
        assert_eq!(
            (&seen["state"], &seen["version"], &seen["round_version"]),
            (&json!("published"), &json!(2), &json!(1))
        );
    }
    lab.load(SALE).await;
    lab.buy("alice").await;
}

#[tokio::test]
async fn the_round_after_one_of_the_version_before_begins_on_the_regular_terms() {
    let lab = Lab::new().await;
    put_daily(&lab, -1000).await;
    let reset = async || daily_reset::handle(&daily_reset::Deps::new(&lab.another_process()).unwrap()).await.unwrap();
    let summary = reset().await;
    assert_eq!((summary.begun, summary.failed), (1, 0));
    assert_eq!(reset().await.begun, 0);
    let (offer, third) = (lab.offer().await, lab.round().await);
    assert_eq!((offer.latest_round, offer.terms.total, offer.version), (RoundNumber(3), 4, 10));
    assert_eq!((third.id, third.terms.total, third.version), (round(SALE, 3), 4, 1));
    assert_eq!((third.paused, third.isolated_requests_per_s), (true, Some(50)));
    assert!(third.terms.opens_at_ms > Clock::system().now());
    // Each round is audited against its own total.
    for (number, total) in [(1, 6), (2, 7)] {
        let audit = Ask::get(format!("/v1/admin/sales/{SALE}/rounds/{number}/audit")).by_operator();
        let seen = lab.answer(&audit).await.expect(200).body;
        assert_eq!((&seen["total"], seen.get("total_is_assumed")), (&json!(total), None), "{seen}");
    }
    let again = ask("restock", "more", &json!({ "round": 2, "units": 3 }));
    assert_eq!(lab.answer(&again).await.expect(200).body["total"], 4, "the third round's total is unchanged");
}

/// The index does not know when the old round closed, so it is found through the round after it.
#[tokio::test]
async fn what_is_left_of_a_round_that_the_version_before_ended_is_looked_after() {
    let lab = Lab::selling(terms(6, 1)).await;
    let late = lab.reserve("alice").await;
    lab.delete_item("SALE#lamp").await;
    put_daily(&lab, HOUR_MS).await;
    // As stored, then converted.
    for _ in 0..2 {
        assert_eq!(lab.ledger.published_rounds(EpochMs(0)).await.unwrap().len(), 1);
        let summary = reconciliation::handle(&lab.reconciliation()).await.unwrap();
        assert!(summary.rounds.contains_key("lamp.1") && summary.sent == 1, "{summary:?}");
        lab.answer(&ask("resume", "r", &json!({ "round": 2 }))).await.expect(200);
    }
    heal(&lab).await;
    assert_eq!(lab.order_of(&late).await.state, OrderState::Pending);
}

/// The sale has moved on, and the ledger has no item of this round.
#[tokio::test]
async fn a_round_that_nobody_kept_is_audited_by_what_the_offer_says() {
    let lab = Lab::new().await;
    put_daily(&lab, HOUR_MS).await;
    lab.delete_item("ROUND#lamp#1").await;
    let audit = Ask::get(format!("/v1/admin/sales/{SALE}/rounds/1/audit")).by_operator();
    let seen = lab.answer(&audit).await.expect(200).body;
    assert_eq!((&seen["total_is_assumed"], &seen["clean"], &seen["total"]), (&json!(true), &json!(true), &json!(4)));
}

#[tokio::test(flavor = "multi_thread")]
async fn of_two_who_convert_it_at_once_each_sees_what_the_other_did() {
    let lab = Lab::new().await;
    put(&lab, &published()).await;
    let (ledger, happened) = ledger_with(&lab, "TransactWriteItems", |ledger| {
        Box::pin(async move { rounds::change(&ledger, &round(SALE, 1), "three", |round| round.terms.total += 3).await })
    })
    .await;
    let paused = ledger.steer_round(&round(SALE, 1), &request("p"), |round, _| Ok(round.pause())).await.unwrap();
    assert!(happened.load(Ordering::Relaxed));
    let Steered::Made(latest) = paused else { panic!("{paused:?}") };
    let Latest { round: Some(round), offer } = *latest else { panic!("a round") };
    assert_eq!((round.paused, round.terms.total, round.version, offer.version), (true, 7, 5, 3));
}

/// As the previous version writes it: on condition of the version that it read.
#[tokio::test(flavor = "multi_thread")]
async fn what_the_version_before_does_as_it_is_converted_is_kept() {
    let lab = Lab::new().await;
    put(&lab, &published()).await;
    let (dynamodb, table) = (lab.dynamodb.clone(), lab.table.clone());
    let (ledger, happened) = ledger_with(&lab, "TransactWriteItems", move |_| {
        Box::pin(async move {
            let pause = dynamodb.update_item().table_name(table).key("pk", AttributeValue::S("SALE#lamp".to_owned()));
            let pause =
                pause.update_expression("SET paused = :true ADD version :one").condition_expression("version = :read");
            let pause = pause.expression_attribute_values(":true", AttributeValue::Bool(true));
            let pause = pause.expression_attribute_values(":one", AttributeValue::N("1".to_owned()));
            pause.expression_attribute_values(":read", AttributeValue::N("3".to_owned())).send().await.unwrap();
        })
    })
    .await;
    let isolated = ledger.steer_round(&round(SALE, 1), &request("i"), |round, _| round.isolate(Some(7))).await.unwrap();
    assert!(matches!(isolated, Steered::Made(_)) && happened.load(Ordering::Relaxed));
    let round = lab.round().await;
    assert_eq!((round.paused, round.isolated_requests_per_s, round.version), (true, Some(7), 5));
}

/// The previous version ends the recurrence while this one begins the next round.
#[tokio::test(flavor = "multi_thread")]
async fn a_recurrence_that_the_version_before_ends_meanwhile_is_ended() {
    let lab = Lab::new().await;
    put_daily(&lab, -1000).await;
    let (dynamodb, table) = (lab.dynamodb.clone(), lab.table.clone());
    let (ledger, happened) = ledger_with(&lab, "TransactWriteItems", move |_| {
        Box::pin(async move {
            let end = dynamodb.update_item().table_name(table).key("pk", AttributeValue::S("SALE#lamp".to_owned()));
            let end = end.update_expression("REMOVE recurrence ADD version :one");
            end.expression_attribute_values(":one", AttributeValue::N("1".to_owned())).send().await.unwrap();
        })
    })
    .await;
    assert_eq!(ledger.begin_next(&round(SALE, 2), Clock::system().now()).await.unwrap(), Begun::Not);
    assert!(happened.load(Ordering::Relaxed));
}

/// The previous version's conditions do not hold on an offer, so it overwrites nothing.
#[tokio::test]
async fn the_version_before_neither_steers_nor_publishes_what_is_new() {
    let lab = Lab::new().await;
    rounds::draft(&lab.ledger, SALE, &terms(4, 1), None).await;
    let refused = async |condition: &str, name: Option<(&str, &str)>, value: AttributeValue| {
        let put = lab.dynamodb.put_item().table_name(&lab.table).condition_expression(condition);
        let item: HashMap<String, AttributeValue> = serde_dynamo::to_item(published()).unwrap();
        let put = put.set_item(Some(item)).expression_attribute_values(":value", value);
        let put = name.into_iter().fold(put, |put, (short, name)| put.expression_attribute_names(short, name));
        let error = put.send().await.unwrap_err();
        assert_eq!(error.code(), Some("ConditionalCheckFailedException"), "{condition}");
    };
    let is_draft = async || {
        refused("#state = :value", Some(("#state", "state")), AttributeValue::S("draft".to_owned())).await;
    };
    is_draft().await;
    for version in 1..4 {
        refused("version = :value", None, AttributeValue::N(version.to_string())).await;
    }
    rounds::publish(&lab.ledger, SALE).await;
    for version in 1..4 {
        refused("version = :value", None, AttributeValue::N(version.to_string())).await;
    }
    is_draft().await;
    assert_eq!(lab.offer().await.state, SaleState::Published);
}

/// What the previous version reads of a published sale, copied from its source.
#[derive(serde::Deserialize)]
#[expect(dead_code, reason = "the test only checks that they can be read")]
struct SaleBefore {
    id: sale::SaleId,
    state: SaleState,
    round: RoundNumber,
    version: u32,
    #[serde(default)]
    paused: bool,
    #[serde(default)]
    isolated_requests_per_s: Option<u32>,
    #[serde(default)]
    recurrence: Option<sale::Recurrence>,
    #[serde(default)]
    requests: Vec<String>,
    #[serde(flatten)]
    terms: Terms,
    #[serde(default)]
    regular_terms: Option<Terms>,
}

/// What it reads of a round that is over.
#[derive(serde::Deserialize)]
struct RoundBefore {
    sale: sale::SaleId,
    round: RoundNumber,
    #[serde(flatten)]
    terms: Terms,
}

#[tokio::test]
async fn the_version_before_reads_a_new_round_as_its_sale_and_no_offer() {
    let lab = Lab::selling(terms(4, 1)).await;
    rounds::change(&lab.ledger, &round(SALE, 1), "p", |round| round.paused = true).await;
    let known = lab.round().await;
    let items = resources::items(&lab.dynamodb, &lab.table).await;
    let stored = |pk: &str| items[pk].clone().into_iter().collect::<HashMap<_, _>>();
    let list = stored("ROUND#lamp#1")["sale_list"].clone();
    assert_eq!(list, AttributeValue::S("published".to_owned()), "the previous version's index has it");
    let sale: SaleBefore = serde_dynamo::from_item(stored("ROUND#lamp#1")).unwrap();
    assert_eq!((sale.id, sale.state, sale.round), (known.id.sale.clone(), SaleState::Published, known.id.number));
    assert_eq!((sale.version, sale.paused, sale.recurrence, &sale.terms), (known.version, true, None, &known.terms));
    let over: RoundBefore = serde_dynamo::from_item(stored("ROUND#lamp#1")).unwrap();
    assert_eq!((over.sale, over.round, over.terms), (known.id.sale, known.id.number, known.terms));
    assert!(serde_dynamo::from_item::<_, SaleBefore>(stored("SALE#lamp")).is_err(), "that version retries it");
}
