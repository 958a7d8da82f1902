//! Purchases through the deployed API.

use crate::prelude::*;

#[tokio::test]
async fn a_sale_is_created_and_published_once() {
    let body = new_sale("shop-twice", &json!({}));
    let create = Ask::post("/v1/admin/sales").by_operator().json(&body);
    let created = create.send().await.expect(201).body;
    assert_eq!((&created["state"], &created["version"], &created["round"]), (&json!("draft"), &json!(1), &json!(1)));
    // A time may have zeros at its end.
    let plain = |value: &Value| Some(value.as_str()?.parse::<jiff::Timestamp>().map_err(|_| value.to_string()));
    for (name, value) in body.as_object().unwrap() {
        assert_eq!(plain(&created[name]), plain(value), "{name}");
    }
    assert_eq!(create.send().await.expect(200).body, created, "the same terms again");
    let other = new_sale("shop-twice", &json!({ "total": 101 }));
    Ask::post("/v1/admin/sales").by_operator().json(&other).send().await.problem(409, "sale_exists");

    let shop = Shop { sale: "shop-twice".to_owned() };
    let challenge = Ask::post(format!("/v1/sales/{}/challenges", shop.sale)).by("alice");
    challenge.send().await.problem(404, "unknown_sale");
    let published = shop.publish().await.body;
    assert_eq!((&published["state"], &published["version"]), (&json!("published"), &json!(2)));
    assert_eq!(shop.publish().await.body, published);
    let mut shown = Ask::get("/v1/admin/sales/shop-twice").by_operator().send().await.expect(200).body;
    let log = shown.as_object_mut().unwrap().remove("log").unwrap();
    let actions: Vec<_> = log.as_array().unwrap().iter().map(|entry| entry["action"].clone()).collect();
    assert_eq!(actions, ["create", "publish"], "{log}");
    assert_eq!(shown, published);
    let listed = Ask::get("/v1/admin/sales").by_operator().send().await.expect(200).body;
    assert!(listed["sales"].as_array().unwrap().contains(&published));
    shop.load().await;
    shop.load().await;
    assert_eq!(shop.clean_audit().await, (100, 0, 0));
}

#[tokio::test]
async fn reserved_ordered_paid() {
    let shop = Shop::open("paid", json!({ "total": 2 })).await;
    let answer = Ask::reserve(&shop.sale, "alice").send().await.expect(202);
    let id = answer.text("reservation_id").to_owned();
    assert_eq!((answer.text("status"), answer.header("location")), ("queued", &*format!("/v1/reservations/{id}")));

    let pending = shop.wait_for("alice", &id, "pending_payment").await.body;
    let told = ["unit", "price_minor", "currency"].map(|member| pending[member].clone());
    assert_eq!(json!(told), json!([1, 990, "EUR"]));
    assert!(pending["pay_by"].is_string() && pending["ended_at"].is_null(), "{pending}");
    assert_eq!(shop.clean_audit().await, (1, 0, 1));

    assert_eq!(shop.pay("pay_1", &id, 990).await, "applied");
    let paid = shop.look("alice", &id).await.body;
    assert_eq!((&paid["status"], &paid["pay_by"], &paid["refund_due"]), (&json!("paid"), &json!(null), &json!(null)));
    assert_eq!(shop.pay("pay_1", &id, 990).await, "applied", "the same callback again");
    assert_eq!(shop.look("alice", &id).await.body, paid);

    assert_eq!(shop.pay("pay_2", &id, 990).await, "refund_due");
    assert_eq!(shop.pay("pay_1", &id, 990).await, "applied");
    let twice_paid = shop.look("alice", &id).await.body;
    assert_eq!((&twice_paid["status"], &twice_paid["refund_due"]), (&json!("paid"), &json!(true)));

    let problem = shop.cancel("alice", &id).await.problem(409, "not_cancellable");
    assert_eq!(problem.text("reservation_status"), "paid");
    assert_eq!(shop.clean_audit().await, (1, 0, 1));
}
