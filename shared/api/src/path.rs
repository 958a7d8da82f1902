use lambda_http::{Request, RequestExt};

/// The path in pieces: `/v1/sales/lamp` is `["v1", "sales", "lamp"]`.
///
/// Functions route by these instead of the gateway's route, so that they answer alike behind the gateway, under
/// `cargo lambda watch` and in tests. Nothing is decoded: every id of this system is written in plain characters.
pub fn segments(request: &Request) -> Vec<&str> {
    request.raw_http_path().trim_matches('/').split('/').collect()
}

/// The last piece of the path.
pub fn last_segment(request: &Request) -> &str {
    request.raw_http_path().trim_matches('/').rsplit('/').next().unwrap_or_default()
}
