//! One purchase through the emulator's own gateway. The other tests use this machine's gateway; this one shows that the
//! deployment also works there, with functions that the emulator starts.

use crate::prelude::*;

async fn send(ask: &Ask, user: &str) -> Answer {
    let cloud = cloud().await;
    let token = cloud.issuer.token(user).unwrap();
    // A busy machine may exceed a limit of the functions, and then says so.
    until("an answer that is final", async || {
        let answer = ask.send_through(&cloud.deployment.emulator_api_url, Some(&token)).await;
        (answer.status != 503).then_some(answer)
    })
    .await
}

#[tokio::test]
async fn a_purchase_from_the_gate_to_the_payment() {
    let shop = Shop::open("emulators-gateway", json!({ "total": 1 })).await;
    let sale = &shop.sale;
    let challenge = Ask::post(format!("/v1/sales/{sale}/challenges")).json(&json!({ "kind": "work" }));
    let challenge = send(&challenge, "alice").await.expect(201);
    let id = challenge.text("challenge_id").to_owned();
    let work = pass::work(id.parse().unwrap());
    let answered = Ask::post(format!("/v1/sales/{sale}/tokens")).json(&json!({ "challenge_id": id, "answer": work }));
    let pass = send(&answered, "alice").await.expect(201).text("token").to_owned();

    let reserve =
        |pass: &str| Ask::post(format!("/v1/sales/{sale}/reservations/{pass}")).header("idempotency-key", "key-1");
    let reserved = send(&reserve(&pass), "alice").await.expect(202).text("reservation_id").to_owned();
    send(&reserve(&pass), "bob").await.problem(403, "bad_token");
    let look = Ask::get(format!("/v1/reservations/{reserved}"));
    until("the order is made", async || {
        (send(&look, "alice").await.expect(200).text("status") == "pending_payment").then_some(())
    })
    .await;
    let orders: Value = send(&Ask::get("/v1/orders"), "alice").await.expect(200).body;
    assert!(orders["orders"].as_array().unwrap().iter().any(|order| order["reservation_id"] == *reserved), "{orders}");
    send(&look, "bob").await.problem(404, "unknown_reservation");

    assert_eq!(shop.pay("pay_1", &reserved, 990).await, "applied");
    assert_eq!(send(&look, "alice").await.expect(200).text("status"), "paid");
    assert_eq!(shop.clean_audit().await, (0, 0, 1));
}
