//! A sale in the deployed system, which operators and buyers reach over HTTP.

use crate::prelude::*;

pub(crate) struct Shop {
    pub(crate) sale: String,
}

pub(crate) fn in_s(seconds: i64) -> String {
    EpochMs(now().0 + seconds * 1000).to_string()
}

/// A sale that is open for an hour, as an operator sends it, with these changes.
pub(crate) fn new_sale(sale: &str, change: &Value) -> Value {
    let sample = events::sample("admin/create");
    let mut body: Value = serde_json::from_str(sample["body"].as_str().unwrap()).unwrap();
    body["sale_id"] = json!(sale);
    body["opens_at"] = json!(in_s(-60));
    body["closes_at"] = json!(in_s(3600));
    body.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
    body
}

impl Shop {
    /// Creates, publishes and loads a sale. No other test may use its name.
    pub(crate) async fn open(name: &str, change: Value) -> Self {
        let shop = Self { sale: format!("shop-{name}") };
        let create = Ask::post("/v1/admin/sales").by_operator().json(&new_sale(&shop.sale, &change));
        create.send().await.expect(201);
        shop.publish().await;
        shop.load().await;
        shop
    }

    pub(crate) async fn publish(&self) -> Answer {
        Ask::post(format!("/v1/admin/sales/{}/publish", self.sale)).by_operator().send().await.expect(200)
    }

    /// Runs warmup until Redis has the sale.
    pub(crate) async fn load(&self) {
        let deployment = &cloud().await.deployment;
        let loaded = async || {
            deployment.invoke(&deployment.warmup_function).await.unwrap();
            (self.audit().await["in_redis"] == true).then_some(())
        };
        until("the sale is loaded", loaded).await;
    }

    pub(crate) async fn audit(&self) -> Value {
        Ask::get(format!("/v1/admin/sales/{}/rounds/1/audit", self.sale)).by_operator().send().await.expect(200).body
    }

    /// The audit's free, held and ordered units, once it is clean. When an order ends, its unit is free a moment later.
    pub(crate) async fn clean_audit(&self) -> (u64, u64, u64) {
        let audit = until("a clean audit", async || {
            let audit = self.audit().await;
            (audit["clean"] == true).then_some(audit)
        });
        let audit = audit.await;
        let number = |name: &str| audit[name].as_u64().unwrap();
        assert_eq!(number("free") + number("held") + number("ordered"), number("total"), "{audit}");
        assert_eq!(audit["discrepancies"], json!([]));
        (number("free"), number("held"), number("ordered"))
    }

    /// Reserves a unit and returns the reservation's id. Panics if there is none.
    pub(crate) async fn reserve(&self, user: &str) -> String {
        // A busy machine may exceed a limit of the functions. With a key, asking again takes no second unit.
        let ask = Ask::reserve(&self.sale, user).header("idempotency-key", Uuid::now_v7().simple().to_string());
        let answer = until("the user may ask again, and a unit is on sale", async || {
            let answer = ask.send().await;
            (!matches!(answer.status, 429 | 503) && answer.body["code"] != "sold_out").then_some(answer)
        });
        answer.await.expect(202).text("reservation_id").to_owned()
    }

    pub(crate) async fn look(&self, user: &str, id: &str) -> Answer {
        until("the user may look again", async || self.glance(user, id).await).await
    }

    pub(crate) async fn wait_for(&self, user: &str, id: &str, status: &str) -> Answer {
        until(status, async || self.glance(user, id).await.filter(|answer| answer.text("status") == status)).await
    }

    /// Looks once. If the user has looked too often, or the functions are late, waits for as long as the answer says
    /// and returns none.
    async fn glance(&self, user: &str, id: &str) -> Option<Answer> {
        let answer = Ask::get(format!("/v1/reservations/{id}")).by(user).send().await;
        if matches!(answer.status, 429 | 503) {
            let wait_s = answer.header("retry-after").parse().unwrap();
            tokio::time::sleep(Duration::from_secs(wait_s)).await;
            return None;
        }
        Some(answer.expect(200))
    }

    /// Reserves a unit and waits for its order.
    pub(crate) async fn buy(&self, user: &str) -> String {
        let id = self.reserve(user).await;
        self.wait_for(user, &id, "pending_payment").await;
        id
    }

    pub(crate) async fn cancel(&self, user: &str, id: &str) -> Answer {
        Ask::delete(format!("/v1/reservations/{id}")).by(user).send().await
    }

    /// Sends the payment provider's callback and returns its outcome.
    pub(crate) async fn pay(&self, payment: &str, id: &str, price_minor: u64) -> String {
        let key = cloud().await.deployment.payment_key().await.unwrap();
        // A provider never reuses a payment's name, and all tests share the table.
        let payment = format!("{payment}.{}", id.rsplit('.').next().unwrap());
        let answer = Ask::paid(&payment, id, price_minor, &key).send().await.expect(200);
        assert_eq!(answer.text("reservation_id"), id);
        answer.text("outcome").to_owned()
    }
}
