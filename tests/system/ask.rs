use std::time::{SystemTime, UNIX_EPOCH};

use lambda_http::Request;
use standardwebhooks::Webhook;

use crate::passes::{self, PassOf};
use crate::prelude::*;

/// The sale of every lab.
pub(crate) const SALE: &str = "lamp";

#[derive(Debug, Clone, Default)]
pub(crate) enum Who {
    #[default]
    Nobody,
    User(String),
    Operator(String),
}

/// A request, sent through the gateway or given to a handler as the gateway would.
#[derive(Debug, Clone, Default)]
pub(crate) struct Ask {
    pub(crate) method: &'static str,
    /// As the client writes it: percent-encoded, with the query.
    pub(crate) path: String,
    pub(crate) headers: Vec<(&'static str, String)>,
    pub(crate) body: Vec<u8>,
    pub(crate) who: Who,
    /// The pass that is put into the path when the request is sent.
    pub(crate) pass: Option<PassOf>,
    /// The source address, if not the usual one. Handlers only.
    pub(crate) address: Option<String>,
}

impl Ask {
    fn new(method: &'static str, path: impl Into<String>) -> Self {
        Self { method, path: path.into(), ..Self::default() }
    }

    pub(crate) fn get(path: impl Into<String>) -> Self {
        Self::new("GET", path)
    }

    pub(crate) fn post(path: impl Into<String>) -> Self {
        Self::new("POST", path)
    }

    pub(crate) fn delete(path: impl Into<String>) -> Self {
        Self::new("DELETE", path)
    }

    pub(crate) fn cancel(reservation: &Reservation) -> Self {
        Self::delete(format!("/v1/reservations/{}", reservation.id)).by(reservation.user.as_str())
    }

    pub(crate) fn status(reservation: &Reservation) -> Self {
        Self::get(format!("/v1/reservations/{}", reservation.id)).by(reservation.user.as_str())
    }

    /// An operator's change of the lab's sale.
    pub(crate) fn post_sale(what: &str) -> Self {
        Self::post(format!("/v1/admin/sales/{SALE}/{what}")).by_operator()
    }

    /// An operator's change of the first round of the lab's sale, under a key of its own.
    pub(crate) fn update(what: &str, mut change: Value) -> Self {
        change["round"] = json!(1);
        Self::post_sale(what).header("idempotency-key", Uuid::now_v7().to_string()).json(&change)
    }

    /// An attempt to reserve a unit of round 1, as `user`.
    pub(crate) fn reserve(sale: &str, user: &str) -> Self {
        Self::reserve_in(sale, 1, user)
    }

    pub(crate) fn reserve_in(sale: &str, round: u32, user: &str) -> Self {
        let pass = PassOf { sale: sale.to_owned(), round, user: user.to_owned(), issued_at: None };
        let ask = Self::post(format!("/v1/sales/{sale}/reservations/{}", passes::PLACE)).by(user);
        Self { pass: Some(pass), ..ask }
    }

    pub(crate) fn let_in_at(self, issued_at: EpochMs) -> Self {
        let pass = self.pass.map(|pass| PassOf { issued_at: Some(issued_at), ..pass });
        Self { pass, ..self }
    }

    pub(crate) fn sealed(&self, ring: &pass::KeyRing) -> Self {
        let sealed = self.pass.as_ref().and_then(|pass| pass.seal(ring));
        let path = sealed.map_or_else(|| self.path.clone(), |token| self.path.replace(passes::PLACE, &token));
        Self { path, pass: None, ..self.clone() }
    }

    pub(crate) fn by(self, user: &str) -> Self {
        Self { who: Who::User(user.to_owned()), ..self }
    }

    pub(crate) fn coming_from(self, address: &str) -> Self {
        Self { address: Some(address.to_owned()), ..self }
    }

    pub(crate) fn by_operator(self) -> Self {
        Self { who: Who::Operator("olga".to_owned()), ..self }
    }

    pub(crate) fn header(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    pub(crate) fn body(self, body: impl Into<Vec<u8>>) -> Self {
        Self { body: body.into(), ..self }
    }

    pub(crate) fn json(self, body: &Value) -> Self {
        self.header("content-type", "application/json").body(body.to_string())
    }

    pub(crate) fn path_and_query(&self) -> (&str, &str) {
        self.path.split_once('?').unwrap_or((&self.path, ""))
    }

    /// A query parameter, not decoded: no valid parameter needs it.
    pub(crate) fn queried(&self, name: &str) -> Option<&str> {
        let mut pairs = self.path_and_query().1.split('&').filter_map(|pair| pair.split_once('='));
        pairs.find(|pair| pair.0 == name).map(|pair| pair.1)
    }

    pub(crate) fn header_value(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map(|(_, value)| &**value)
    }

    /// A callback of the payment provider with this body, signed with `key` now.
    pub(crate) fn callback(body: impl Into<Vec<u8>>, key: &str) -> Self {
        let body = body.into();
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs() as i64;
        let webhook = Webhook::from_bytes(key.as_bytes().to_vec()).unwrap();
        // A body that is not UTF-8 is signed as the text that the gateway turns it into.
        let signature = webhook.sign("msg_1", now, String::from_utf8_lossy(&body).as_bytes()).unwrap();
        Self::post("/v1/payments/webhook")
            .header("webhook-signature", signature)
            .header("webhook-id", "msg_1")
            .header("webhook-timestamp", now.to_string())
            .header("content-type", "application/json")
            .body(body)
    }

    pub(crate) fn paid(payment: &str, reservation: &str, price_minor: u64, key: &str) -> Self {
        let mut body = events::sample("messages/payment");
        body["data"] = json!({
            "payment_id": payment, "reservation_id": reservation, "price_minor": price_minor, "currency": "EUR"
        });
        Self::callback(body.to_string(), key)
    }

    /// The callback that reports the payment of a reservation, at the price of `tests::terms`.
    pub(crate) fn paid_for(payment: &str, reservation: &Reservation, key: &str) -> Self {
        Self::paid(payment, &reservation.id.to_string(), 990, key)
    }

    /// The gateway's event for it, without the body.
    pub(crate) fn event(&self) -> Value {
        let mut event = sample("reservation/reserve");
        let (path, query) = self.path_and_query();
        // The gateway decodes paths.
        let path = percent_encoding::percent_decode_str(path).decode_utf8_lossy().into_owned();
        event["rawPath"] = json!(path);
        event["rawQueryString"] = json!(query);
        event["requestContext"]["http"]["path"] = json!(path);
        event["requestContext"]["http"]["method"] = json!(self.method);
        if let Some(address) = &self.address {
            event["requestContext"]["http"]["sourceIp"] = json!(address);
        }
        let claims = &mut event["requestContext"]["authorizer"]["jwt"]["claims"];
        match &self.who {
            Who::User(user) => claims["sub"] = json!(user),
            Who::Operator(user) => {
                claims["sub"] = json!(user);
                claims["groups"] = json!("[operators]");
            }
            Who::Nobody => {
                event["requestContext"].as_object_mut().unwrap().remove("authorizer");
            }
        }
        let headers = event["headers"].as_object_mut().unwrap();
        headers.remove("idempotency-key");
        headers.extend(self.headers.iter().map(|(name, value)| ((*name).to_owned(), json!(value))));
        event
    }

    /// The request as a handler gets it.
    pub(crate) fn request(&self) -> Request {
        let mut request = events::request(&self.sealed(&passes::LAB_RING).event());
        let content_type = request.headers().get("content-type").map_or("", |value| value.to_str().unwrap());
        // The gateway passes bodies of other content types on as bytes.
        let text = content_type.starts_with("application/json") || content_type.starts_with("text/");
        *request.body_mut() = match (self.body.is_empty(), text) {
            (true, _) => Body::Empty,
            (_, true) => Body::Text(String::from_utf8_lossy(&self.body).into_owned()),
            (_, false) => Body::Binary(self.body.clone()),
        };
        request
    }

    /// Sends it to the deployed API with a token for `who`.
    pub(crate) async fn send(&self) -> Answer {
        let issuer = &cloud().await.issuer;
        let token = match &self.who {
            Who::Nobody => None,
            Who::User(user) => Some(issuer.token(user).unwrap()),
            Who::Operator(user) => Some(issuer.operator_token(user).unwrap()),
        };
        self.send_with(token.as_deref()).await
    }

    pub(crate) async fn send_with(&self, token: Option<&str>) -> Answer {
        self.send_through(&cloud().await.deployment.api_url, token).await
    }

    pub(crate) async fn send_through(&self, api_url: &str, token: Option<&str>) -> Answer {
        let path = match &self.pass {
            Some(_) => self.sealed(passes::deployed_ring().await).path,
            None => self.path.clone(),
        };
        let url = format!("{api_url}{path}");
        let method = reqwest::Method::from_bytes(self.method.as_bytes()).unwrap();
        let mut request = reqwest::Client::new().request(method, url).body(self.body.clone());
        for (name, value) in &self.headers {
            request = request.header(*name, value);
        }
        if let Some(token) = token {
            request = request.bearer_auth(token);
        }
        Answer::of_gateway(self, request.send().await.expect("the gateway answers")).await
    }
}
