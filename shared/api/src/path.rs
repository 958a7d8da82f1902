use lambda_http::{Request, RequestExt};

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
