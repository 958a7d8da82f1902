//! Classifies the result of a request.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;

/// The longest accepted code. The API's codes are shorter; anything else that a server sends must not fill the report.
const MAX_CODE_LENGTH: usize = 40;
/// Replaces the missing code of an answer that should have one.
const NO_CODE: &str = "no_code";

/// The result of a request, as counted in reports.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Answer {
    /// `None` if there was no answer.
    pub status: Option<u16>,
    /// A problem's code; for a request without an answer, the reason; otherwise empty.
    pub code: Cow<'static, str>,
}

#[derive(Debug, Clone, thiserror::Error)]
pub enum Failure {
    #[error("no answer in time")]
    Timeout,
    #[error("no connection: {0}")]
    Connect(String),
    /// The connection broke before the answer was complete, or what came was not HTTP.
    #[error("the connection broke: {0}")]
    Broken(String),
}

#[derive(Deserialize)]
struct Problem<'a> {
    #[serde(borrow)]
    code: Option<Cow<'a, str>>,
}

impl Failure {
    pub(crate) const fn code(&self) -> &'static str {
        match self {
            Self::Timeout => "timeout",
            Self::Connect(_) => "no_connection",
            Self::Broken(_) => "broken",
        }
    }
}

impl Answer {
    /// An answer that is not a problem.
    pub const fn status(status: u16) -> Self {
        Self { status: Some(status), code: Cow::Borrowed("") }
    }

    pub(crate) fn read(status: u16, body: &[u8]) -> Self {
        if status < 400 {
            return Self::status(status);
        }
        let problem: Option<Problem<'_>> = serde_json::from_slice(body).ok();
        let code = match problem.and_then(|problem| problem.code) {
            Some(code) if is_code(&code) => Cow::Owned(code.into_owned()),
            _ => Cow::Borrowed(NO_CODE),
        };
        Self { status: Some(status), code }
    }

    /// Whether it counts as an error: 500 or above, or no answer.
    pub fn is_error(&self) -> bool {
        self.status.is_none_or(|status| status >= 500)
    }
}

fn is_code(text: &str) -> bool {
    (1..=MAX_CODE_LENGTH).contains(&text.len())
        && text.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
}

impl From<&Failure> for Answer {
    fn from(failure: &Failure) -> Self {
        Self { status: None, code: Cow::Borrowed(failure.code()) }
    }
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.status, &*self.code) {
            (Some(status), "") => write!(f, "{status}"),
            (Some(status), code) => write!(f, "{status} {code}"),
            (None, code) => write!(f, "{code}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_has_a_status_and_a_code() {
        let name = |status, body: &str| Answer::read(status, body.as_bytes()).to_string();
        assert_eq!(name(202, r#"{"reservation_id":"x","status":"queued"}"#), "202");
        assert_eq!(name(409, r#"{"status":409,"title":"Sold out","code":"sold_out"}"#), "409 sold_out");
        // A gateway's own answer, and anything that is not a code.
        for body in [r#"{"message":"Forbidden"}"#, "", "<html>", r#"{"code":"<b>"}"#, r#"{"code":7}"#] {
            assert_eq!(name(403, body), "403 no_code");
        }
        assert_eq!(Answer::from(&Failure::Timeout).to_string(), "timeout");
    }

    #[test]
    fn errors_are_the_servers() {
        assert!(Answer::status(503).is_error() && Answer::from(&Failure::Timeout).is_error());
        assert!(!Answer::status(202).is_error() && !Answer::status(429).is_error());
    }
}
