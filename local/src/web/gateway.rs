//! `/v1/*`: passed on to the emulator's gateway as it is.

use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::header::{CONNECTION, CONTENT_LENGTH, HOST, TRANSFER_ENCODING};
use axum::http::{HeaderMap, Method, StatusCode, Uri};
use axum::response::{IntoResponse, Response};

use super::Shared;

/// Of one connection, and not of what is passed on.
const NOT_PASSED_ON: [axum::http::HeaderName; 4] = [CONNECTION, CONTENT_LENGTH, HOST, TRANSFER_ENCODING];

pub(super) async fn pass(
    State(shared): State<Arc<Shared>>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let path = uri.path_and_query().map_or("/", |path| path.as_str());
    let url = format!("{}{path}", shared.deployment.api_url);
    let passed = shared.http.request(method, url).headers(passed_on(headers)).body(body).send();
    match passed.await {
        Ok(answer) => back(answer).await,
        Err(error) => unreachable(&error),
    }
}

async fn back(answer: reqwest::Response) -> Response {
    let (status, headers) = (answer.status(), passed_on(answer.headers().clone()));
    match answer.bytes().await {
        Ok(body) => (status, headers, Body::from(body)).into_response(),
        Err(error) => unreachable(&error),
    }
}

fn passed_on(mut headers: HeaderMap) -> HeaderMap {
    for name in &NOT_PASSED_ON {
        headers.remove(name);
    }
    headers
}

fn unreachable(error: &reqwest::Error) -> Response {
    eprintln!("the gateway does not answer: {error}");
    StatusCode::BAD_GATEWAY.into_response()
}
