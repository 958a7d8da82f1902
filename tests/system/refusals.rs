//! What a refused buyer is told.

use serde_json::json;
use tests::user;

use crate::ask::Ask;
use crate::cloud::cloud;
use crate::shop::{Shop, in_s};
use crate::wait::until;

#[tokio::test]
async fn sold_out_and_the_limit() {
    let shop = Shop::open("limit", json!({ "total": 3, "per_user_limit": 2 })).await;
    let ids = [shop.reserve("alice").await, shop.reserve("alice").await];
    let problem = shop.try_to_reserve("alice").await.problem(409, "limit_reached");
    assert_eq!(problem.body["reservation_ids"], json!(ids));
    shop.reserve("bob").await;
    shop.try_to_reserve("bob").await.problem(409, "sold_out");
    shop.try_to_reserve("carol").await.problem(409, "sold_out");
}

#[tokio::test]
async fn the_same_key_is_the_same_reservation() {
    let shop = Shop::open("replay", json!({ "total": 9, "per_user_limit": 9 })).await;
    let ask = |user: &str, key: &str| Ask::reserve(&shop.sale, user).header("idempotency-key", key);
    let id = async |user: &str, key: &str| ask(user, key).send().await.expect(202).text("reservation_id").to_owned();
    let first = id("alice", "key-1").await;
    assert_eq!(id("alice", "key-1").await, first);
    shop.wait_for("alice", &first, "pending_payment").await;
    assert_eq!(id("alice", "key-1").await, first, "even once it is ordered");
    assert_ne!(id("alice", "key-2").await, first);
    assert_ne!(id("bob", "key-1").await, first);
    shop.cancel("alice", &first).await.expect(200);
    assert_eq!(id("alice", "key-1").await, first, "even once it is cancelled");
    assert_eq!(shop.look("alice", &first).await.text("status"), "cancelled");
    let derived = sale::ReservationId::derived(tests::round(&shop.sale, 1), &user("alice"), "key-1");
    assert_eq!(derived.to_string(), first);
}

#[tokio::test]
async fn before_it_opens_and_after_it_closed() {
    cloud().await;
    let opens_at = in_s(200);
    let coming = Shop::open("coming", json!({ "opens_at": opens_at })).await;
    let problem = coming.try_to_reserve("alice").await.problem(409, "not_open");
    assert_eq!(problem.text("opens_at"), opens_at);
    let retry_after_s: u32 = problem.header("retry-after").parse().unwrap();
    assert!((150..=200).contains(&retry_after_s), "{retry_after_s}");

    let closing = Shop::open("closing", json!({ "closes_at": in_s(4) })).await;
    let id = closing.reserve("alice").await;
    let mut comers = 0;
    let closed = until("it closes", async || {
        comers += 1;
        // A new user each time, since repeated cancelling is limited.
        let comer = format!("bob-{comers}");
        let answer = closing.try_to_reserve(&comer).await;
        match answer.status {
            410 => Some(answer),
            _ => {
                closing.cancel(&comer, answer.text("reservation_id")).await.expect(200);
                None
            }
        }
    });
    closed.await.problem(410, "closed");
    closing.wait_for("alice", &id, "pending_payment").await;
    assert_eq!(closing.pay("pay_1", &id, 990).await, "applied", "an order outlives its sale");
}

#[tokio::test]
async fn what_is_not_there_is_not_found() {
    Ask::post("/v1/sales/shop-nowhere/challenges").by("alice").send().await.problem(404, "unknown_sale");
    let shop = Shop::open("rounds", json!({})).await;
    // A pass proves that the round exists.
    Ask::reserve_in(&shop.sale, 2, "alice").send().await.problem(503, "overloaded");
    for path in [
        "/v1/admin/sales/shop-nowhere",
        "/v1/admin/sales/shop-nowhere/rounds/1/audit",
        &format!("/v1/admin/sales/{}/rounds/2/audit", shop.sale),
    ] {
        Ask::get(path).by_operator().send().await.problem(404, "unknown_sale");
    }
    Ask::post("/v1/admin/sales/shop-nowhere/publish").by_operator().send().await.problem(404, "unknown_sale");
}

#[tokio::test]
async fn another_users_reservation_is_not_found() {
    let shop = Shop::open_in_time("privacy", json!({})).await;
    let id = shop.buy("alice").await;
    let unknown = format!("{}.1.{}", shop.sale, "0".repeat(32));
    let path = |id: &str| format!("/v1/reservations/{id}");
    let hidden = Ask::get(path(&id)).by("mallory").send().await.problem(404, "unknown_reservation");
    let missing = Ask::get(path(&unknown)).by("mallory").send().await.problem(404, "unknown_reservation");
    assert_eq!(hidden.body, missing.body, "nothing tells them apart");
    Ask::delete(path(&id)).by("mallory").send().await.problem(404, "unknown_reservation");
    assert_eq!(Ask::get("/v1/orders").by("mallory").send().await.expect(200).body["orders"], json!([]));
    assert_eq!(shop.look("alice", &id).await.text("status"), "pending_payment");
}
