//! The audit finds discrepancies in real Redis and DynamoDB data, through the operators' route.

use crate::prelude::*;

async fn look(lab: &Lab) -> Value {
    lab.read_sale("rounds/1/audit").await
}

/// Whether it is clean, whether Redis has the round, and the numbers of units.
fn told(audit: &Value) -> (bool, bool, [u64; 6]) {
    let names = ["free", "held", "ordered", "oversold", "lost", "duplicated"];
    (audit["clean"] == true, audit["in_redis"] == true, names.map(|name| audit[name].as_u64().unwrap()))
}

#[tokio::test]
async fn a_round_that_redis_does_not_have_has_lost_units_unless_it_was_never_loaded() {
    let lab = Lab::publishing(terms(3, 1)).await;
    assert_eq!(told(&look(&lab).await), (true, false, [3, 0, 0, 0, 0, 0]));
    lab.load(SALE).await;
    lab.buy("alice").await;
    lab.reserve("bob").await;
    assert_eq!(told(&look(&lab).await), (true, true, [1, 1, 1, 0, 0, 0]));
    lab.redis(&["FLUSHALL"]).await;
    assert_eq!(told(&look(&lab).await), (false, false, [0, 0, 1, 0, 2, 0]));
}

#[tokio::test]
async fn orders_that_outlive_their_guards_are_not_lost() {
    const DAY_S: u32 = 24 * 60 * 60;
    let lab = Lab::selling(terms(3, 1)).await;
    lab.buy("alice").await;
    lab.delete_item("UNIT#lamp#1#1").await;
    let (round, now) = (lab.round().await, now());
    let audit = async |days: u32| {
        let audited = fulfilment::audit(&lab.stock, &lab.ledger, &round, now.plus_s(days * DAY_S)).await;
        let audit = audited.unwrap().audit;
        (audit.ordered, audit.lost)
    };
    assert_eq!(audit(89).await, (0, 1), "a guard must not be gone yet");
    assert_eq!(audit(91).await, (1, 0), "its time to live is over");
}

/// All at once, each on a unit of its own.
#[tokio::test]
async fn everything_that_can_be_wrong_with_a_unit_is_found() {
    const BUYERS: &str = "buyers:{lamp:1:0}";
    const FREE: &str = "free:{lamp:1:0}";
    let lab = Lab::selling(terms(9, 1)).await;
    lab.buy("guard-gone").await;
    let order_gone = lab.buy("order-gone").await;
    lab.reserve("reservation-gone").await;
    lab.buy("ordered-without-reservation").await;
    lab.buy("ordered-and-free").await;
    lab.reserve("held-and-free").await;
    let twice = lab.buy("ordered-and-held").await;
    let mut beyond = lab.reserve("beyond").await;
    assert_eq!((order_gone.unit.0, twice.unit.0, beyond.unit.0), (2, 7, 8));

    lab.delete_item("UNIT#lamp#1#1").await;
    lab.delete_item(&format!("ORDER#{}", order_gone.id)).await;
    lab.redis(&["HDEL", BUYERS, "reservation-gone"]).await;
    // An ordered unit needs no reservation in Redis: the ledger decides.
    lab.redis(&["HDEL", BUYERS, "ordered-without-reservation"]).await;
    for unit in [5, 6, 9] {
        lab.redis(&["ZADD", FREE, &unit.to_string(), &format!("{unit}-{unit}")]).await;
    }
    // As if Redis had forgotten who has this unit, and sold it again.
    lab.redis(&["HDEL", BUYERS, "ordered-and-held"]).await;
    let id = fresh_id(&round("lamp", 1)).uuid;
    let held = format!("0 h {} 7 {}", id.as_simple(), twice.reserved_at_ms.0);
    lab.redis(&["HSET", BUYERS, "somebody-else", &held]).await;
    beyond.unit = sale::Unit(10);
    lab.deliver(&[&beyond]).await;

    let audit = look(&lab).await;
    let rows = audit["discrepancies"].as_array().unwrap().iter();
    let wrong: Vec<String> = rows.map(|row| format!("{} {}", row["unit"], row["wrong"].as_str().unwrap())).collect();
    let moved = "1 lost, 2 lost, 5 duplicated, 6 duplicated, 7 duplicated, 8 lost, 9 duplicated, 10 oversold";
    assert_eq!(wrong.join(", "), format!("{moved}, 3 lost"), "what is in no place comes last");
    assert_eq!(told(&audit), (false, true, [1, 1, 3, 1, 4, 4]), "the fourth is in its place");
}
