use lambda_http::{Request, RequestExt};

use crate::Problem;

/// Header in which a client names its attempt, so that a retry gets the same answer
/// (draft-ietf-httpapi-idempotency-key-header).
const HEADER: &str = "idempotency-key";
const MAX_LENGTH: usize = 64;

/// The path's segments: `/v1/sales/lamp` is `["v1", "sales", "lamp"]`.
///
/// Functions route by these rather than by the gateway's route, so they behave the same behind the gateway, under
/// `cargo lambda watch` and in tests. Nothing is decoded: ids of this system need no escaping.
pub fn segments(request: &Request) -> Vec<&str> {
    request.raw_http_path().trim_matches('/').split('/').collect()
}

pub fn last_segment(request: &Request) -> &str {
    request.raw_http_path().trim_matches('/').rsplit('/').next().unwrap_or_default()
}

/// The client's idempotency key, if any. Fails with 400 if it is not 1 to 64 printable ASCII characters without spaces.
pub fn idempotency_key(request: &Request) -> Result<Option<&str>, Problem> {
    let Some(value) = request.headers().get(HEADER) else { return Ok(None) };
    let key = value.to_str().unwrap_or_default();
    if (1..=MAX_LENGTH).contains(&key.len()) && key.bytes().all(|b| b.is_ascii_graphic()) {
        Ok(Some(key))
    } else {
        Err(Problem::invalid(format!("{HEADER}: 1 to {MAX_LENGTH} printable ASCII characters without spaces")))
    }
}
