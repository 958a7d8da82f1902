use std::collections::BTreeMap;
use std::str::FromStr;
use std::sync::Arc;

use http::StatusCode;
use http::header::CONTENT_TYPE;
use lambda_http::request::RequestContext;
use lambda_http::{Body, Request, Response};
use runtime::{Secret, SecretError};
use subtle::{Choice, ConstantTimeEq};

use crate::Problem;

/// Proves that a request came through the CDN: a secret that the CDN writes over whatever a client sends.
const KEY_HEADER: &str = "x-door-key";
/// The client's address as the CDN saw it, also written by the CDN.
const VIEWER_HEADER: &str = "x-viewer-address";
/// The gateway's own answer.
const FORBIDDEN: &str = r#"{"message":"Forbidden"}"#;

/// The keys that the CDN may send: one, or two during a rotation.
#[derive(Debug)]
pub struct EdgeKeys(Vec<String>);

/// The secret has no key, or the wrong form.
#[derive(Debug, thiserror::Error)]
#[error("the CDN's keys must be strings in a JSON object, such as {{\"key1\": \"…\"}}")]
pub struct InvalidEdgeKeys;

impl FromStr for EdgeKeys {
    type Err = InvalidEdgeKeys;

    /// A JSON object, whose names do not matter here.
    fn from_str(text: &str) -> Result<Self, InvalidEdgeKeys> {
        let keys: BTreeMap<String, String> = serde_json::from_str(text).map_err(|_| InvalidEdgeKeys)?;
        let keys: Vec<String> = keys.into_values().collect();
        // An empty key would admit a request that sends none.
        if keys.is_empty() || keys.iter().any(String::is_empty) { Err(InvalidEdgeKeys) } else { Ok(Self(keys)) }
    }
}

impl EdgeKeys {
    /// Compares with every key, so the time reveals nothing.
    fn has(&self, given: &str) -> bool {
        let equal = |known: Choice, key: &String| known | given.as_bytes().ct_eq(key.as_bytes());
        self.0.iter().fold(Choice::from(0), equal).into()
    }
}

/// The CDN in front of the gateway, if there is one.
#[derive(Debug, Clone)]
pub struct Edge {
    keys: Option<Secret<EdgeKeys>>,
    is_only_way_in: bool,
}

impl Edge {
    /// `keys` are the CDN's, `None` without one. If it `is_only_way_in`, requests that bypassed it are refused.
    pub const fn new(keys: Option<Secret<EdgeKeys>>, is_only_way_in: bool) -> Self {
        Self { keys, is_only_way_in }
    }

    /// Replaces the gateway's view of the client address, which behind a CDN is the CDN's, by the viewer's address, if
    /// the request came through the CDN. Other requests stay as they are, or are refused if the CDN is the only way in.
    /// If the keys cannot be read, nobody can tell the two apart; then requests are refused with 503 where the CDN is
    /// the only way in. Fails with the answer to a request that bypassed the CDN, or may have.
    pub async fn let_in(&self, request: &mut Request) -> Result<(), Response<Body>> {
        let Some(keys) = &self.keys else { return Ok(()) };
        self.refusal(request, keys.get().await).map_or(Ok(()), Err)
    }

    fn refusal(&self, request: &mut Request, keys: Result<Arc<EdgeKeys>, SecretError>) -> Option<Response<Body>> {
        match keys {
            Ok(keys) if self.lets_in(request, &keys) => None,
            Ok(_) => Some(forbidden()),
            Err(error) if self.is_only_way_in => Some(Problem::unanswered(error).into_response()),
            Err(error) => {
                // One shared rate limit is better than no answer for anybody.
                let error = &error as &dyn std::error::Error;
                tracing::error!(error, "the client's address is unknown, because the CDN's keys cannot be read");
                None
            }
        }
    }

    fn lets_in(&self, request: &mut Request, keys: &EdgeKeys) -> bool {
        take_viewer_address(request, keys) || !self.is_only_way_in
    }
}

fn forbidden() -> Response<Body> {
    let response = Response::builder().status(StatusCode::FORBIDDEN).header(CONTENT_TYPE, "application/json");
    response.body(Body::from(FORBIDDEN)).expect("all of it is known")
}

/// Whether the request came through the CDN. If so, takes over the viewer's address.
fn take_viewer_address(request: &mut Request, keys: &EdgeKeys) -> bool {
    let header = |name: &str| request.headers().get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
    if !keys.has(header(KEY_HEADER)) {
        return false;
    }
    // The CDN sends the viewer's address with every request, except for those whose answers are shared by viewers.
    let viewer = header(VIEWER_HEADER).to_owned();
    if let Some(RequestContext::ApiGatewayV2(context)) = request.extensions_mut().get_mut::<RequestContext>()
        && !viewer.is_empty()
    {
        context.http.source_ip = Some(viewer);
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client_ip;

    const KEY: &str = "0123456789abcdef0123456789abcdef";
    const NEXT: &str = "fedcba9876543210fedcba9876543210";
    /// The secret with the first key alone.
    const KEYS: &str = r#"{"key1":"0123456789abcdef0123456789abcdef"}"#;

    fn request(headers: &str) -> Request {
        let event = format!(
            r#"{{"version":"2.0","rawPath":"/","headers":{{{headers}}},
               "requestContext":{{"http":{{"method":"GET","path":"/","sourceIp":"192.0.2.1"}}}}}}"#
        );
        lambda_http::request::from_str(&event).unwrap()
    }

    /// The client address of a request that is let in.
    fn seen(edge: &Edge, keys: &str, headers: &str) -> Result<Option<String>, StatusCode> {
        let mut request = request(headers);
        let is_in = edge.lets_in(&mut request, &keys.parse().unwrap());
        if is_in { Ok(client_ip(&request)) } else { Err(forbidden().status()) }
    }

    fn edge(is_only_way_in: bool) -> Edge {
        Edge::new(None, is_only_way_in)
    }

    fn through(key: &str) -> String {
        format!(r#""x-door-key":"{key}","x-viewer-address":"2001:db8:1:2:3::4""#)
    }

    #[test]
    fn the_cdn_says_where_a_request_came_from() {
        for only in [false, true] {
            assert_eq!(seen(&edge(only), KEYS, &through(KEY)).unwrap().as_deref(), Some("2001:db8:1:2::/64"));
        }
        // A shared answer has no viewer.
        assert_eq!(seen(&edge(true), KEYS, &format!(r#""x-door-key":"{KEY}""#)).unwrap().as_deref(), Some("192.0.2.1"));
    }

    #[test]
    fn a_client_does_not_and_is_refused_where_the_cdn_is_the_only_way_in() {
        let wrong = KEY.replace('0', "1");
        for headers in [
            String::new(),
            r#""x-viewer-address":"198.51.100.9""#.to_owned(),
            r#""x-door-key":"","x-viewer-address":"198.51.100.9""#.to_owned(),
            format!(r#""x-door-key":"{wrong}","x-viewer-address":"198.51.100.9""#),
            format!(r#""x-door-key":"{}","x-viewer-address":"198.51.100.9""#, &KEY[1..]),
        ] {
            assert_eq!(seen(&edge(false), KEYS, &headers).unwrap().as_deref(), Some("192.0.2.1"), "{headers}");
            assert_eq!(seen(&edge(true), KEYS, &headers), Err(StatusCode::FORBIDDEN), "{headers}");
        }
    }

    #[test]
    fn whoever_cannot_be_told_apart_waits_where_the_cdn_is_the_only_way_in() {
        let refusal = edge(true).refusal(&mut request(""), Err(SecretError::InVain)).unwrap();
        assert_eq!(refusal.status(), StatusCode::SERVICE_UNAVAILABLE);
        assert!(refusal.headers().contains_key(http::header::RETRY_AFTER));
        // Where there is another way in, one shared rate limit is better than no answer for anybody.
        assert!(edge(false).refusal(&mut request(""), Err(SecretError::InVain)).is_none());
    }

    /// The steps of a key rotation: at each, functions accept the CDN's key, whichever of two secrets they have read.
    #[test]
    fn a_key_is_changed_without_a_gap() {
        let first = KEYS.to_owned();
        let both = format!(r#"{{"key1":"{KEY}","key2":"{NEXT}"}}"#);
        let last = format!(r#"{{"key2":"{NEXT}"}}"#);
        for (sent, known) in
            [(KEY, [&first, &first]), (KEY, [&first, &both]), (NEXT, [&both, &both]), (NEXT, [&both, &last])]
        {
            for keys in known {
                assert!(seen(&edge(true), keys, &through(sent)).is_ok(), "{sent} {keys}");
            }
        }
        assert!(seen(&edge(true), &last, &through(KEY)).is_err(), "the old one still opens");
    }

    #[test]
    fn a_secret_without_a_key_lets_nobody_in() {
        for text in ["", KEY, "{}", r#"{"key1":""}"#, r#"{"key1":"a","key2":""}"#, r#"{"key1":1}"#, "{"] {
            assert!(text.parse::<EdgeKeys>().is_err(), "{text}");
        }
    }
}
