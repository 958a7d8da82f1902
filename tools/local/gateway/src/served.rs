//! What a gateway serves: a request, its route, and the answer.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::Request;
use axum::http::header::{AUTHORIZATION, CONTENT_LENGTH, HeaderValue};
use axum::http::request::Parts;
use axum::http::{HeaderName, Method, Response, StatusCode};
use governor::DefaultDirectRateLimiter;
use http_body_util::{BodyExt, Limited};
use jiff::Timestamp;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout_at};
use uuid::Uuid;

use super::answer::{self, Own};
use super::authorizer::Authorizer;
use super::cors::Cors;
use super::event::{self, Asked, decoded};
use super::pool::{MAX_PAYLOAD_BYTES, Pool, Refused};
use super::routes::Routes;
use super::server;

/// The largest body (quotas of HTTP APIs).
const MAX_BODY_BYTES: usize = 10 * 1024 * 1024;
/// The largest request line and headers together (quotas of HTTP APIs).
const MAX_HEAD_BYTES: usize = 10_240;
const REQUEST_ID: HeaderName = HeaderName::from_static("apigw-requestid");

pub struct Served {
    pub(super) api: String,
    pub(super) max_timeout: Duration,
    pub(super) routes: Routes<Route>,
    pub(super) cors: Option<Cors>,
    pub(super) pools: BTreeMap<String, Arc<Pool>>,
}

pub(super) struct Route {
    /// `POST /v1/sales/{sale_id}`, or `$default`.
    pub(super) key: String,
    pub(super) authorizer: Option<Arc<Authorizer>>,
    /// If not empty, a token must have one of them.
    pub(super) scopes: Vec<String>,
    pub(super) throttle: Option<DefaultDirectRateLimiter>,
    pub(super) pool: Arc<Pool>,
    pub(super) timeout: Duration,
}

impl Served {
    /// Serves all connections until it is aborted. HTTP/1.1 only: API Gateway only offers HTTP/2 over TLS.
    pub(super) fn serve(self: Arc<Self>, listener: TcpListener) -> JoinHandle<()> {
        server::serve(listener, Some(self.max_timeout), move |from, request| {
            let served = Arc::clone(&self);
            async move { served.answer(from, request.map(Body::new)).await }
        })
    }

    pub async fn answer(&self, from: IpAddr, request: Request) -> Response<Body> {
        let id = Uuid::now_v7().as_simple().to_string();
        let (parts, body) = request.into_parts();
        let answer = async || self.routed(&id, from, &parts, body).await.unwrap_or_else(Own::response);
        let mut response = match &self.cors {
            None => answer().await,
            Some(cors) if parts.method == Method::OPTIONS => cors.preflight(&parts.headers),
            Some(cors) => {
                let mut response = answer().await;
                cors.allow(&parts.headers, response.headers_mut());
                response
            }
        };
        if let Ok(id) = HeaderValue::from_str(&id) {
            response.headers_mut().insert(REQUEST_ID, id);
        }
        response
    }

    async fn routed(&self, id: &str, from: IpAddr, parts: &Parts, body: Body) -> Result<Response<Body>, Own> {
        let deadline = Instant::now() + self.max_timeout;
        let target = parts.uri.path_and_query().map_or("/", |target| target.as_str());
        let head = parts.headers.iter().map(|(name, value)| name.as_str().len() + value.len()).sum::<usize>();
        if target.len() + head > MAX_HEAD_BYTES {
            return Err(Own::Status(StatusCode::URI_TOO_LONG));
        }
        let path = decoded(parts.uri.path());
        // Extra slashes at the beginning are ignored.
        let routed =
            if path.starts_with("//") { &path[path.len() - path.trim_start_matches('/').len() - 1..] } else { &path };
        let found = self.routes.find(parts.method.as_str(), routed);
        let (route, parameters) = found.ok_or(Own::Status(StatusCode::NOT_FOUND))?;
        let Route { key, authorizer, scopes, throttle, pool, timeout } = route;
        if throttle.as_ref().is_some_and(|throttle| throttle.check().is_err()) {
            return Err(Own::Status(StatusCode::TOO_MANY_REQUESTS));
        }
        let claims = match authorizer {
            None => None,
            Some(authorizer) => {
                let header = parts.headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok());
                Some(authorizer.check(header, scopes).await.map_err(Own::Auth)?)
            }
        };
        let body = read(parts, body, deadline).await?;
        let asked = Asked {
            id,
            api: &self.api,
            route: key,
            method: parts.method.as_str(),
            path: &path,
            query: parts.uri.query().unwrap_or_default(),
            headers: &parts.headers,
            parameters,
            from,
            claims: claims.as_ref(),
            body: &body,
            at: Timestamp::now(),
        };
        let event = event::event(asked).map_err(|_| Own::Status(StatusCode::INTERNAL_SERVER_ERROR))?;
        if event.len() > MAX_PAYLOAD_BYTES {
            return Err(Own::Status(StatusCode::PAYLOAD_TOO_LARGE));
        }
        let deadline = deadline.min(Instant::now() + *timeout);
        let made = match timeout_at(deadline, pool.invoke(event)).await {
            Err(_) | Ok(Err(Refused::Full)) => return Err(Own::Status(StatusCode::SERVICE_UNAVAILABLE)),
            Ok(made) => made.ok().filter(|made| made.len() <= MAX_PAYLOAD_BYTES),
        };
        made.and_then(|made| answer::of_function(&made)).ok_or(Own::Status(StatusCode::INTERNAL_SERVER_ERROR))
    }
}

async fn read(parts: &Parts, body: Body, deadline: Instant) -> Result<Bytes, Own> {
    let length = parts.headers.get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse::<usize>().ok());
    match length {
        Some(0) => return Ok(Bytes::new()),
        Some(length) if length > MAX_BODY_BYTES => return Err(Own::Status(StatusCode::PAYLOAD_TOO_LARGE)),
        _ => {}
    }
    match timeout_at(deadline, Limited::new(body, MAX_BODY_BYTES).collect()).await {
        Ok(Ok(body)) => Ok(body.to_bytes()),
        Ok(Err(error)) if error.is::<http_body_util::LengthLimitError>() => {
            Err(Own::Status(StatusCode::PAYLOAD_TOO_LARGE))
        }
        Ok(Err(_)) => Err(Own::Status(StatusCode::BAD_REQUEST)),
        Err(_) => Err(Own::Status(StatusCode::SERVICE_UNAVAILABLE)),
    }
}
