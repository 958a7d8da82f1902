//! Requests and responses.

use std::str::FromStr;
use std::time::Duration;

use http::header::{AUTHORIZATION, CONTENT_TYPE, HOST, HeaderName, HeaderValue, USER_AGENT};
use http::uri::{InvalidUri, PathAndQuery};
use http::{HeaderMap, Method, Uri};
use http_body_util::Full;
use hyper::body::Bytes;
use serde_json::{Value, json};
use tokio::task::{JoinError, spawn_blocking};
use uuid::Uuid;

use crate::answer::Answer;
use crate::target::Target;

const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");
const AGENT: HeaderValue = HeaderValue::from_static("flash-sale-load");
const JSON: HeaderValue = HeaderValue::from_static("application/json");

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token(HeaderValue);

/// A text that cannot be in a header.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a token: must be printable ASCII without spaces")]
pub struct InvalidToken;

#[derive(Debug, Clone)]
pub struct Request {
    pub method: Method,
    path: PathAndQuery,
    headers: HeaderMap,
    pub body: Bytes,
}

#[derive(Debug, Clone)]
pub struct Response {
    pub status: u16,
    pub headers: HeaderMap,
    pub body: Bytes,
}

impl FromStr for Token {
    type Err = InvalidToken;

    fn from_str(text: &str) -> Result<Self, InvalidToken> {
        if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(InvalidToken);
        }
        HeaderValue::from_str(&format!("Bearer {text}")).map(Self).map_err(|_| InvalidToken)
    }
}

impl Request {
    /// A request without a body. The path begins with a slash.
    pub fn new(method: Method, path: &str) -> Result<Self, InvalidUri> {
        let headers = HeaderMap::from_iter([(USER_AGENT, AGENT)]);
        Ok(Self { method, path: path.parse()?, headers, body: Bytes::new() })
    }

    /// To reserve a unit of a sale with a pass.
    pub fn reserve(sale: &str, pass: &str) -> Result<Self, InvalidUri> {
        Self::new(Method::POST, &format!("/v1/sales/{sale}/reservations/{pass}"))
    }

    /// To read a reservation, or to cancel it.
    pub fn reservation(method: Method, id: &str) -> Result<Self, InvalidUri> {
        Self::new(method, &format!("/v1/reservations/{id}"))
    }

    /// To ask the gate of a sale for work.
    pub fn challenge(sale: &str) -> Result<Self, InvalidUri> {
        Ok(Self::new(Method::POST, &format!("/v1/sales/{sale}/challenges"))?.json(&json!({ "kind": "work" })))
    }

    /// To get a pass for [`solved`] work.
    pub fn pass(sale: &str, solved: &Value) -> Result<Self, InvalidUri> {
        Ok(Self::new(Method::POST, &format!("/v1/sales/{sale}/tokens"))?.json(solved))
    }

    #[must_use]
    pub fn token(self, token: &Token) -> Self {
        self.header(AUTHORIZATION, token.0.clone())
    }

    /// Adds an `Idempotency-Key`. One that cannot be in a header is left out.
    #[must_use]
    pub fn key(self, key: &str) -> Self {
        match HeaderValue::from_str(key) {
            Ok(key) => self.header(IDEMPOTENCY_KEY, key),
            Err(_) => self,
        }
    }

    #[must_use]
    pub fn header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.insert(name, value);
        self
    }

    #[must_use]
    pub fn json(self, body: &Value) -> Self {
        self.header(CONTENT_TYPE, JSON).body(body.to_string())
    }

    #[must_use]
    pub fn body(self, body: impl Into<Bytes>) -> Self {
        Self { body: body.into(), ..self }
    }

    /// With the query.
    pub fn path(&self) -> &str {
        self.path.as_str()
    }

    pub fn idempotency_key(&self) -> Option<&str> {
        self.headers.get(IDEMPOTENCY_KEY)?.to_str().ok()
    }

    pub(crate) fn to(&self, target: &Target) -> http::Request<Full<Bytes>> {
        let mut request = http::Request::new(Full::new(self.body.clone()));
        *request.method_mut() = self.method.clone();
        *request.headers_mut() = self.headers.clone();
        request.headers_mut().insert(HOST, target.host_header.clone());
        let path = if target.prefix.is_empty() {
            Some(self.path.clone())
        } else {
            format!("{}{}", target.prefix, self.path).parse().ok()
        };
        *request.uri_mut() = path.map_or_else(Uri::default, Uri::from);
        request
    }
}

/// Does the work of a challenge: the body of the request for the pass.
pub async fn solved(challenge: Uuid) -> Result<Value, JoinError> {
    let answer = spawn_blocking(move || pass::work(challenge)).await?;
    Ok(json!({ "challenge_id": challenge.as_simple().to_string(), "answer": answer }))
}

impl Response {
    pub fn answer(&self) -> Answer {
        Answer::read(self.status, &self.body)
    }

    pub const fn is_success(&self) -> bool {
        matches!(self.status, 200..300)
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// The seconds of `Retry-After`.
    pub fn retry_after(&self) -> Option<Duration> {
        self.header("retry-after")?.parse().ok().map(Duration::from_secs)
    }

    pub fn text(&self, name: &str) -> Option<String> {
        self.json()[name].as_str().map(str::to_owned)
    }

    /// The body, or null if it is not JSON.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_goes_below_that_of_the_api() {
        let target = "https://example.org/prod/".parse().unwrap();
        let request = Request::reserve("lamp", "pass").unwrap().key("a").to(&target);
        assert_eq!(request.uri(), "/prod/v1/sales/lamp/reservations/pass");
        assert_eq!(
            (&request.headers()[HOST], &request.headers()["idempotency-key"]),
            (&"example.org".parse().unwrap(), &"a".parse().unwrap())
        );
    }

    #[test]
    fn a_token_is_one_word() {
        for text in ["", "a b", "a\n", "é"] {
            assert_eq!(text.parse::<Token>(), Err(InvalidToken), "{text:?}");
        }
        assert_eq!("a.b.c".parse::<Token>().unwrap().0, "Bearer a.b.c");
    }
}
