//! The audit finds discrepancies in real Redis and DynamoDB data, through the operators' route.

use runtime::Clock;
use serde_json::{Value, json};
use tests::terms;

use crate::ask::Ask;
use crate::lab::Lab;

/// Three units: alice's is ordered, bob's is held and the third is free.
async fn lab() -> Lab {
    let lab = Lab::selling(terms(3, 1)).await;
    lab.buy("alice").await;
    lab.reserve("bob").await;
    let audit = look(&lab).await;
    assert_eq!((&audit["clean"], &audit["in_redis"]), (&json!(true), &json!(true)));
    assert_eq!(numbers(&audit), [1, 1, 1, 0, 0, 0]);
    lab
}

async fn look(lab: &Lab) -> Value {
    lab.answer(&Ask::get("/v1/admin/sales/lamp/rounds/1/audit").by_operator()).await.expect(200).body
}

fn numbers(audit: &Value) -> [u64; 6] {
    ["free", "held", "ordered", "oversold", "lost", "duplicated"].map(|name| audit[name].as_u64().unwrap())
}

/// The audit's discrepancies, by unit.
async fn found(lab: &Lab) -> Vec<(u64, String)> {
    let audit = look(lab).await;
    assert_eq!(audit["clean"], false, "{audit}");
    let discrepancies = audit["discrepancies"].as_array().unwrap();
    let counted: u64 = numbers(&audit)[3..].iter().sum();
    assert_eq!(counted as usize, discrepancies.len());
    let rows =
        discrepancies.iter().map(|row| (row["unit"].as_u64().unwrap(), row["wrong"].as_str().unwrap().to_owned()));
    rows.collect()
}

fn wrong(unit: u64, what: &str) -> Vec<(u64, String)> {
    vec![(unit, what.to_owned())]
}

#[tokio::test]
async fn a_round_that_was_never_loaded_has_lost_nothing() {
    let lab = Lab::new().await;
    lab.publish("lamp", &terms(3, 1)).await;
    let audit = look(&lab).await;
    assert_eq!((&audit["clean"], &audit["in_redis"]), (&json!(true), &json!(false)));
    assert_eq!(numbers(&audit), [3, 0, 0, 0, 0, 0]);
}

#[tokio::test]
async fn orders_that_outlive_their_guards_are_not_lost() {
    const DAY_S: u32 = 24 * 60 * 60;
    let lab = lab().await;
    lab.delete_item("UNIT#lamp#1#1").await;
    let (round, now) = (lab.round().await, Clock::system().now());
    let audit = async |days: u32| {
        let audited = fulfilment::audit(&lab.stock, &lab.ledger, &round, now.plus_s(days * DAY_S)).await;
        let audit = audited.unwrap().audit;
        (audit.ordered, audit.lost)
    };
    assert_eq!(audit(89).await, (0, 1), "a guard must not be gone yet");
    assert_eq!(audit(91).await, (1, 0), "its time to live is over");
}

#[tokio::test]
async fn a_guard_that_is_gone() {
    let lab = lab().await;
    lab.delete_item("UNIT#lamp#1#1").await;
    assert_eq!(found(&lab).await, wrong(1, "lost"));
}

#[tokio::test]
async fn an_order_that_is_gone() {
    let lab = Lab::selling(terms(3, 1)).await;
    let alice = lab.buy("alice").await;
    lab.delete_item(&format!("ORDER#{}", alice.id)).await;
    assert_eq!(found(&lab).await, wrong(1, "lost"));
}

#[tokio::test]
async fn a_hold_that_is_gone() {
    let lab = lab().await;
    lab.redis(&["HDEL", "buyers:{lamp:1:0}", "bob"]).await;
    assert_eq!(found(&lab).await, wrong(2, "lost"));
    // An ordered unit needs no hold in Redis: the ledger decides.
    let lab = Lab::selling(terms(3, 1)).await;
    lab.buy("alice").await;
    lab.redis(&["HDEL", "buyers:{lamp:1:0}", "alice"]).await;
    assert_eq!(lab.clean_audit().await, (2, 0, 1));
}

#[tokio::test]
async fn a_unit_that_is_free_and_taken() {
    for (unit, holder) in [(1, "alice, who ordered it"), (2, "bob, who holds it")] {
        let lab = lab().await;
        lab.redis(&["ZADD", "free:{lamp:1:0}", &unit.to_string(), &format!("{unit}-{unit}")]).await;
        assert_eq!(found(&lab).await, wrong(unit, "duplicated"), "{holder}");
    }
}

#[tokio::test]
async fn a_unit_that_is_free_twice() {
    let lab = lab().await;
    lab.redis(&["ZADD", "free:{lamp:1:0}", "3", "3-3"]).await;
    assert_eq!(found(&lab).await, wrong(3, "duplicated"));
}

#[tokio::test]
async fn a_unit_that_two_hold() {
    let lab = Lab::selling(terms(3, 1)).await;
    let before = lab.contents().await.keys;
    lab.buy("alice").await;
    lab.rewind(&before).await;
    lab.reserve("bob").await;
    assert_eq!(found(&lab).await, wrong(1, "duplicated"));
}

#[tokio::test]
async fn a_unit_that_the_round_never_had() {
    let lab = lab().await;
    let mut carol = lab.reserve("carol").await;
    let real = carol.unit.0.into();
    carol.unit = sale::Unit(4);
    lab.deliver(&[&carol]).await;
    assert_eq!(found(&lab).await, [wrong(real, "lost"), wrong(4, "oversold")].concat());
}

#[tokio::test]
async fn a_round_that_redis_does_not_have() {
    let lab = lab().await;
    lab.redis(&["FLUSHALL"]).await;
    let audit = look(&lab).await;
    assert_eq!((&audit["clean"], &audit["in_redis"]), (&json!(false), &json!(false)));
    assert_eq!(numbers(&audit), [0, 0, 1, 0, 2, 0]);
}

/// Unsold units do not count as lost when the round is over and its keys are gone.
#[tokio::test]
async fn a_round_that_is_over_and_gone_has_its_unsold_units_free() {
    let lab = Lab::selling(terms(3, 1)).await;
    let alice = lab.buy("alice").await;
    lab.buy("bob").await;
    // A free unit on either side of the one that is sold.
    lab.answer(&Ask::delete(format!("/v1/reservations/{}", alice.id)).by("alice")).await.expect(200);
    lab.answer(&Ask::post("/v1/admin/sales/lamp/close").by_operator().json(&json!({ "round": 1 }))).await.expect(200);
    lab.redis(&["FLUSHALL"]).await;
    let audit = look(&lab).await;
    assert_eq!((&audit["clean"], &audit["in_redis"]), (&json!(true), &json!(false)), "{audit}");
    assert_eq!(numbers(&audit), [2, 0, 1, 0, 0, 0]);
    assert_eq!(audit["discrepancies"], json!([]));
}
