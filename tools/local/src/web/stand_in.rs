//! Stand-ins for an issuer's login page and a payment provider, only for this machine.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use sale::{Currency, EpochMs, Price, ReservationId, UserId};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::client::Client;
use crate::deployment::Deployment;
use crate::gateway::Served;
use crate::identity::{Issuer, OPERATORS};

/// What all answers of the web server are made from.
pub(super) struct Shared {
    pub(super) deployment: Deployment,
    pub(super) issuer: Issuer,
    pub(super) client: Client,
    pub(super) api: Arc<Served>,
    pub(super) headers: HeaderMap,
}

type Refusal = (StatusCode, String);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Login {
    user: UserId,
    #[serde(default)]
    operator: bool,
}

pub(super) async fn login(State(shared): State<Arc<Shared>>, Json(login): Json<Login>) -> Result<Json<Value>, Refusal> {
    let groups: &[&str] = if login.operator { &[OPERATORS] } else { &[] };
    let claims = shared.issuer.claims(login.user.as_str(), groups);
    let token = shared.issuer.sign(&claims).map_err(|error| (StatusCode::INTERNAL_SERVER_ERROR, error.to_string()))?;
    let expires_at = EpochMs(i64::try_from(claims.exp * 1000).unwrap_or(i64::MAX)).to_string();
    Ok(Json(json!({ "token": token, "expires_at": expires_at })))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Pay {
    reservation_id: ReservationId,
    price_minor: u64,
    currency: Currency,
}

/// Reports a payment to the API, as the provider would. Paying the same again is the same payment.
pub(super) async fn pay(State(shared): State<Arc<Shared>>, Json(pay): Json<Pay>) -> Result<Json<Value>, Refusal> {
    let refused = |error: anyhow::Error| (StatusCode::BAD_GATEWAY, format!("{error:#}"));
    let key = shared.deployment.payment_key().await.map_err(refused)?;
    let Pay { reservation_id: id, price_minor, currency } = pay;
    let (payment, price) = (format!("stand-in-{}", id.uuid.as_simple()), Price { price_minor, currency });
    let outcome = shared.client.tell_of_payment(&key, &payment, &id.to_string(), price).await.map_err(refused)?;
    Ok(Json(json!({ "outcome": outcome })))
}
