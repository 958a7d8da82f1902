//! A request as a function gets it: payload format 2.0 of HTTP APIs.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::net::IpAddr;

use axum::body::Bytes;
use axum::http::HeaderMap;
use axum::http::header::{CONNECTION, CONTENT_LENGTH, COOKIE, TRANSFER_ENCODING};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use jiff::Timestamp;
use percent_encoding::percent_decode_str;
use serde::Serialize;

use super::authorizer::TokenClaims;

/// Headers that concern one connection and are not passed on.
const NOT_PASSED_ON: [axum::http::HeaderName; 3] = [CONNECTION, COOKIE, TRANSFER_ENCODING];
const ACCOUNT: &str = "000000000000";

pub struct Asked<'a> {
    pub id: &'a str,
    pub api: &'a str,
    /// As `GET /v1/sales/{sale_id}`.
    pub route: &'a str,
    pub method: &'a str,
    /// Decoded.
    pub path: &'a str,
    /// As the client wrote it.
    pub query: &'a str,
    pub headers: &'a HeaderMap,
    pub parameters: Vec<(&'a str, &'a str)>,
    pub from: IpAddr,
    pub at: Timestamp,
    /// The token's claims, in the text form that a function gets, and its scopes, if the route needs a token.
    pub claims: Option<&'a (TokenClaims, Vec<String>)>,
    pub body: &'a Bytes,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Event<'a> {
    version: &'static str,
    route_key: &'a str,
    raw_path: &'a str,
    raw_query_string: &'a str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    cookies: Vec<&'a str>,
    headers: BTreeMap<&'a str, Cow<'a, str>>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    query_string_parameters: BTreeMap<String, String>,
    request_context: Context<'a>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    path_parameters: BTreeMap<&'a str, &'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    body: Option<Cow<'a, str>>,
    is_base64_encoded: bool,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Context<'a> {
    account_id: &'static str,
    api_id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    authorizer: Option<Authorized<'a>>,
    domain_name: &'a str,
    domain_prefix: &'a str,
    http: Http<'a>,
    request_id: &'a str,
    route_key: &'a str,
    stage: &'static str,
    time: String,
    time_epoch: i64,
}

#[derive(Serialize)]
struct Authorized<'a> {
    jwt: Jwt<'a>,
}

#[derive(Serialize)]
struct Jwt<'a> {
    claims: &'a TokenClaims,
    scopes: &'a [String],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Http<'a> {
    method: &'a str,
    path: &'a str,
    protocol: &'static str,
    source_ip: IpAddr,
    user_agent: &'a str,
}

pub fn event(asked: Asked<'_>) -> serde_json::Result<Vec<u8>> {
    let Asked { id, api, route, method, path, query, headers, parameters, from, at, claims, body } = asked;
    let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let host = header("host");
    let mut passed = passed_on(headers);
    passed.entry(CONTENT_LENGTH.as_str()).or_insert_with(|| Cow::Owned(body.len().to_string()));
    let (body, is_base64_encoded) = written(body, header("content-type"));
    let before = passed.get("x-forwarded-for").map_or_else(String::new, |before| format!("{before}, "));
    passed.insert("x-forwarded-for", Cow::Owned(format!("{before}{from}")));
    passed.insert("x-forwarded-proto", Cow::Borrowed("http"));
    let event = Event {
        version: "2.0",
        route_key: route,
        raw_path: path,
        raw_query_string: query,
        cookies: cookies(headers),
        headers: passed,
        query_string_parameters: parameters_of(query),
        request_context: Context {
            account_id: ACCOUNT,
            api_id: api,
            authorizer: claims.map(|(claims, scopes)| Authorized { jwt: Jwt { claims, scopes } }),
            domain_name: host,
            domain_prefix: host.split('.').next().unwrap_or_default(),
            http: Http { method, path, protocol: "HTTP/1.1", source_ip: from, user_agent: header("user-agent") },
            request_id: id,
            route_key: route,
            stage: "$default",
            time: at.strftime("%d/%b/%Y:%H:%M:%S +0000").to_string(),
            time_epoch: at.as_millisecond(),
        },
        path_parameters: parameters.into_iter().collect(),
        body,
        is_base64_encoded,
    };
    serde_json::to_vec(&event)
}

/// Headers by lower-case name; values of the same name are joined by commas.
fn passed_on(headers: &HeaderMap) -> BTreeMap<&str, Cow<'_, str>> {
    let mut passed: BTreeMap<&str, Cow<'_, str>> = BTreeMap::new();
    for (name, value) in headers {
        if NOT_PASSED_ON.contains(name) {
            continue;
        }
        let value = String::from_utf8_lossy(value.as_bytes());
        passed.entry(name.as_str()).and_modify(|before| *before.to_mut() += &format!(",{value}")).or_insert(value);
    }
    passed
}

fn cookies(headers: &HeaderMap) -> Vec<&str> {
    let lines = headers.get_all(COOKIE).iter().filter_map(|line| line.to_str().ok());
    lines.flat_map(|line| line.split(';')).map(str::trim).filter(|cookie| !cookie.is_empty()).collect()
}

/// Decoded; values of the same name are joined by commas.
fn parameters_of(query: &str) -> BTreeMap<String, String> {
    let decoded = |text: &str| percent_decode_str(&text.replace('+', " ")).decode_utf8_lossy().into_owned();
    let mut parameters: BTreeMap<String, String> = BTreeMap::new();
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        let value = decoded(value);
        parameters.entry(decoded(name)).and_modify(|before| *before += &format!(",{value}")).or_insert(value);
    }
    parameters
}

/// A body as text, if API Gateway treats its type as text, otherwise in base64.
fn written<'a>(body: &'a Bytes, content_type: &str) -> (Option<Cow<'a, str>>, bool) {
    if body.is_empty() {
        return (None, false);
    }
    let kind = content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let is_text = kind.starts_with("text/")
        || matches!(&*kind, "application/json" | "application/xml" | "application/javascript");
    if is_text {
        (Some(String::from_utf8_lossy(body)), false)
    } else {
        (Some(Cow::Owned(BASE64_STANDARD.encode(body))), true)
    }
}

/// A path as a function gets it: decoded, except for escaped percent signs.
pub(super) fn decoded(path: &str) -> Cow<'_, str> {
    if !path.contains('%') {
        return Cow::Borrowed(path);
    }
    let kept = path.replace("%25", "%2525");
    Cow::Owned(percent_decode_str(&kept).decode_utf8_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_decoded_but_for_the_escape_of_escapes() {
        for (path, expected) in [("/a", "/a"), ("/a%20b%C3%BC", "/a bü"), ("/a%252Eb", "/a%252Eb"), ("/%zz", "/%zz")] {
            assert_eq!(decoded(path), expected);
        }
    }

    #[test]
    fn what_comes_twice_is_joined() {
        let mut headers = HeaderMap::new();
        for (name, value) in [("X-One", "1"), ("x-one", "2"), ("cookie", "a=1; b=2"), ("cookie", "c=3")] {
            headers.append(axum::http::HeaderName::from_bytes(name.as_bytes()).unwrap(), value.parse().unwrap());
        }
        assert_eq!(passed_on(&headers)["x-one"], "1,2");
        assert!(!passed_on(&headers).contains_key("cookie"));
        assert_eq!(cookies(&headers), ["a=1", "b=2", "c=3"]);
        assert_eq!(parameters_of("a=1&b=x%20y+z&a=2&c")["a"], "1,2");
        assert_eq!(parameters_of("b=x%20y+z&c"), [("b", "x y z"), ("c", "")].map(|(n, v)| (n.into(), v.into())).into());
    }
}
