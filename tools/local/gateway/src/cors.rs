//! CORS of an HTTP API: the gateway answers preflights itself, and says on every other answer who may read it
//! ("Configure CORS for HTTP APIs in API Gateway").

use axum::body::Body;
use axum::http::header::{
    ACCESS_CONTROL_ALLOW_CREDENTIALS, ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS,
    ACCESS_CONTROL_ALLOW_ORIGIN, ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ORIGIN, VARY,
};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Response, StatusCode};
use serde::Deserialize;

const SAID_BY_THE_GATEWAY: [HeaderName; 3] =
    [ACCESS_CONTROL_ALLOW_ORIGIN, ACCESS_CONTROL_ALLOW_CREDENTIALS, ACCESS_CONTROL_EXPOSE_HEADERS];

#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub(super) struct Cors {
    allow_credentials: bool,
    allow_headers: Vec<String>,
    allow_methods: Vec<String>,
    allow_origins: Vec<String>,
    expose_headers: Vec<String>,
    max_age: Option<u32>,
}

impl Cors {
    /// The answer to a preflight, without the permitting headers if the origin is not allowed.
    pub(super) fn preflight(&self, asked: &HeaderMap) -> Response<Body> {
        let mut response = Response::new(Body::empty());
        *response.status_mut() = StatusCode::NO_CONTENT;
        self.allow(asked, response.headers_mut());
        if response.headers().contains_key(ACCESS_CONTROL_ALLOW_ORIGIN) {
            put(response.headers_mut(), ACCESS_CONTROL_ALLOW_METHODS, &self.allow_methods.join(","));
            put(response.headers_mut(), ACCESS_CONTROL_ALLOW_HEADERS, &self.allow_headers.join(","));
            if let Some(seconds) = self.max_age {
                response.headers_mut().insert(ACCESS_CONTROL_MAX_AGE, seconds.into());
            }
        }
        response
    }

    /// Adds headers that say who may read an answer. A function's own such headers do not count.
    pub(super) fn allow(&self, asked: &HeaderMap, headers: &mut HeaderMap) {
        for name in SAID_BY_THE_GATEWAY {
            headers.remove(name);
        }
        let Some(origin) = asked.get(ORIGIN) else { return };
        let named = origin.to_str().unwrap_or_default();
        let everybody = self.allow_origins.iter().any(|each| each == "*") && !self.allow_credentials;
        if everybody {
            headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
        } else if self.allow_origins.iter().any(|each| each.eq_ignore_ascii_case(named)) {
            headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin.clone());
            headers.append(VARY, HeaderValue::from_static("Origin"));
        } else {
            return;
        }
        if self.allow_credentials {
            headers.insert(ACCESS_CONTROL_ALLOW_CREDENTIALS, HeaderValue::from_static("true"));
        }
        put(headers, ACCESS_CONTROL_EXPOSE_HEADERS, &self.expose_headers.join(","));
    }
}

fn put(headers: &mut HeaderMap, name: HeaderName, value: &str) {
    if !value.is_empty()
        && let Ok(value) = HeaderValue::from_str(value)
    {
        headers.insert(name, value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allowed(cors: &Cors, origin: &str) -> Option<String> {
        let asked = HeaderMap::from_iter([(ORIGIN, origin.parse().unwrap())]);
        let answer = cors.preflight(&asked);
        assert_eq!(answer.status(), 204);
        Some(answer.headers().get(ACCESS_CONTROL_ALLOW_ORIGIN)?.to_str().unwrap().to_owned())
    }

    #[test]
    fn origins_that_may_ask_hear_so() {
        let origins = |origin: &str| Cors { allow_origins: vec![origin.to_owned()], ..Cors::default() };
        let some = Cors { allow_credentials: true, ..origins("https://shop.example") };
        assert_eq!(allowed(&some, "https://shop.example").as_deref(), Some("https://shop.example"));
        assert_eq!(allowed(&some, "https://other.example"), None);
        assert_eq!(allowed(&origins("*"), "https://other.example").as_deref(), Some("*"));
    }

    #[test]
    fn nobody_asked_and_nobody_is_told() {
        let mut headers = HeaderMap::new();
        Cors { allow_origins: vec!["*".to_owned()], ..Cors::default() }.allow(&HeaderMap::new(), &mut headers);
        assert!(headers.is_empty());
    }
}
