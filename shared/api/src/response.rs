use http::StatusCode;
use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use lambda_http::{Body, Response};
use serde::Serialize;

use crate::Problem;

pub type Reply = Result<Response<Body>, Problem>;

/// A JSON response that must not be cached.
pub fn json(status: StatusCode, body: &impl Serialize) -> Response<Body> {
    let body = serde_json::to_string(body).expect("answers have text keys and plain values only");
    let response = Response::builder().status(status).header(CONTENT_TYPE, "application/json");
    let response = response.header(CACHE_CONTROL, "no-store").body(Body::Text(body));
    response.expect("every header above is a plain value")
}

pub fn respond(reply: Reply) -> Response<Body> {
    reply.unwrap_or_else(Problem::into_response)
}
