//! The answers to clients: a function's, or the gateway's own.

use std::borrow::Cow;
use std::collections::BTreeMap;

use axum::body::Body;
use axum::http::header::{CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, SET_COOKIE, TRANSFER_ENCODING, WWW_AUTHENTICATE};
use axum::http::{HeaderName, HeaderValue, Response, StatusCode};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde::Deserialize;
use serde_json::Value;

use super::authorizer::AuthError;

const JSON: HeaderValue = HeaderValue::from_static("application/json");

/// The gateway's own answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Own {
    Auth(AuthError),
    Status(StatusCode),
}

impl Own {
    pub(super) fn response(self) -> Response<Body> {
        let status = match self {
            Self::Auth(AuthError::Scope) => StatusCode::FORBIDDEN,
            Self::Auth(_) => StatusCode::UNAUTHORIZED,
            Self::Status(status) => status,
        };
        let message = match status {
            // As HTTP called it once.
            StatusCode::PAYLOAD_TOO_LARGE => "Request Entity Too Large",
            _ => status.canonical_reason().unwrap_or_default(),
        };
        let mut response = Response::new(Body::from(format!(r#"{{"message":"{message}"}}"#)));
        *response.status_mut() = status;
        response.headers_mut().insert(CONTENT_TYPE, JSON);
        if let Self::Auth(error) = self {
            response.headers_mut().insert(WWW_AUTHENTICATE, challenge(error));
        }
        response
    }
}

fn challenge(refusal: AuthError) -> HeaderValue {
    let (error, description) = match refusal {
        AuthError::NoToken => return HeaderValue::from_static("Bearer"),
        AuthError::BadToken(why) => ("invalid_token", why),
        AuthError::Scope => ("insufficient_scope", "the token has none of the scopes of this route"),
    };
    let text = format!(r#"Bearer scope="" error="{error}" error_description="{description}""#);
    HeaderValue::from_str(&text).unwrap_or(HeaderValue::from_static("Bearer"))
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Made<'a> {
    status_code: u16,
    headers: Option<BTreeMap<String, Value>>,
    #[serde(borrow, default)]
    cookies: Option<Vec<Cow<'a, str>>>,
    #[serde(borrow, default)]
    body: Option<Cow<'a, str>>,
    #[serde(default)]
    is_base64_encoded: bool,
}

/// Parses a function's answer. `None` if it is invalid.
pub(super) fn of_function(made: &[u8]) -> Option<Response<Body>> {
    // Without a status, all of it is the body.
    let value: Result<Made<'_>, _> = serde_json::from_slice(made);
    let Ok(made) = value else {
        let value: Value = serde_json::from_slice(made).ok()?;
        if value.get("statusCode").is_some() || value.get("errorMessage").is_some() {
            return None;
        }
        let body = match value {
            Value::String(text) => Body::from(text),
            _ => Body::from(made.to_vec()),
        };
        let mut response = Response::new(body);
        response.headers_mut().insert(CONTENT_TYPE, JSON);
        return Some(response);
    };
    let body = match made.body {
        None => Body::empty(),
        Some(body) if made.is_base64_encoded => Body::from(BASE64_STANDARD.decode(&*body).ok()?),
        Some(body) => Body::from(body.into_owned()),
    };
    let mut response = Response::new(body);
    *response.status_mut() = StatusCode::from_u16(made.status_code).ok()?;
    let headers = response.headers_mut();
    for (name, value) in made.headers.into_iter().flatten() {
        let value = match value {
            Value::String(text) => text,
            other => other.to_string(),
        };
        headers.insert(HeaderName::from_bytes(name.as_bytes()).ok()?, HeaderValue::from_str(&value).ok()?);
    }
    for cookie in made.cookies.into_iter().flatten() {
        headers.append(SET_COOKIE, HeaderValue::from_str(&cookie).ok()?);
    }
    // The gateway sets the length of a body, and its type if the function did not.
    for name in [CONTENT_LENGTH, TRANSFER_ENCODING, CONNECTION] {
        headers.remove(name);
    }
    headers.entry(CONTENT_TYPE).or_insert(JSON);
    Some(response)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_answers_with_a_status() {
        let made = r#"{"statusCode":202,"headers":{"X-A":"b","retry-after":3},"cookies":["a=1","b=2"],"body":"aGk=","isBase64Encoded":true}"#;
        let response = of_function(made.as_bytes()).unwrap();
        assert_eq!(response.status(), 202);
        assert_eq!(["x-a", "retry-after"].map(|name| &response.headers()[name]), ["b", "3"]);
        assert_eq!(response.headers().get_all(SET_COOKIE).iter().count(), 2);
        assert_eq!(response.headers()[CONTENT_TYPE], "application/json");
    }

    #[test]
    fn what_is_no_answer_is_none() {
        for made in [
            "",
            "{",
            r#"{"statusCode":"ok"}"#,
            r#"{"statusCode":1000}"#,
            r#"{"statusCode":200,"headers":{"a b":"c"}}"#,
            r#"{"statusCode":200,"body":"!","isBase64Encoded":true}"#,
        ] {
            assert!(of_function(made.as_bytes()).is_none(), "{made}");
        }
    }

    #[test]
    fn a_refused_token_is_told_why() {
        let header = |error| Own::Auth(error).response().headers()[WWW_AUTHENTICATE].to_str().unwrap().to_owned();
        assert_eq!(header(AuthError::NoToken), "Bearer");
        let expired = header(AuthError::BadToken("the token has expired"));
        assert!(expired.contains(r#"error_description="the token has expired""#), "{expired}");
    }
}
