use std::time::Instant;

use http::Method;
use http::header::{CONTENT_TYPE, HeaderValue};
use rand::RngExt;
use rand::distr::Alphanumeric;

use super::Crowd;
use crate::request::Request;
use crate::run::Visit;

/// The length of a pass.
const PASS_LENGTH: usize = 63;
/// How many requests a user who guesses passes sends.
const FORGERIES: usize = 5;
/// How many requests a user who does not wait sends: more than a user may send at once.
const HAMMER_BLOWS: usize = 40;

/// What misbehaving users do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mischief {
    /// Sends forged passes.
    Forges,
    /// Sends somebody else's pass.
    TakesAnothers,
    /// Does not sign in.
    IsNobody,
    /// Requests one unit after another without a pause.
    Hammers,
    /// Sends made-up ids and malformed bodies.
    SendsJunk,
    /// Clicks twice at once.
    ClicksTwice,
}

const ALL: [Mischief; 6] = [
    Mischief::Forges,
    Mischief::TakesAnothers,
    Mischief::IsNobody,
    Mischief::Hammers,
    Mischief::SendsJunk,
    Mischief::ClicksTwice,
];

/// What user `n` does if this fraction of all users misbehaves. They are spread evenly among the others, and all kinds
/// are equally frequent.
pub(super) fn of(n: usize, bad: f64) -> Option<Mischief> {
    let before = (n as f64 * bad) as usize;
    (((n + 1) as f64 * bad) as usize > before).then(|| ALL[before % ALL.len()])
}

impl Mischief {
    /// The step under which the answers are counted.
    const fn step(self) -> &'static str {
        match self {
            Self::Forges => "forged",
            Self::TakesAnothers => "another's",
            Self::IsNobody => "nobody",
            Self::Hammers => "hammer",
            Self::SendsJunk => "junk",
            Self::ClicksTwice => "two clicks",
        }
    }
}

impl Crowd {
    pub(super) async fn misbehave(&self, visit: &Visit, mischief: Mischief) {
        let step = mischief.step();
        match mischief {
            Mischief::Forges => {
                for n in 0..FORGERIES {
                    let due = if n == 0 { visit.due } else { Instant::now() };
                    self.reserve_with(visit, step, due, &forged()).await;
                }
            }
            Mischief::TakesAnothers => {
                if let Some(pass) = self.pass_of(visit, visit.n + 1).await {
                    self.reserve_with(visit, step, Instant::now(), &pass).await;
                }
            }
            Mischief::IsNobody => {
                let pass = self.credentials_of(visit.n).pass.clone().unwrap_or_else(forged);
                if let Ok(request) = Request::reserve(self.sale.as_str(), &pass) {
                    // A misbehaving user ignores the result, here and below.
                    let _ = self.send(visit, step, visit.due, &request).await;
                }
            }
            Mischief::Hammers => {
                let Some(pass) = self.pass_of(visit, visit.n).await else { return };
                for n in 0..HAMMER_BLOWS {
                    let token = &self.credentials_of(visit.n).token;
                    let Ok(request) = Request::reserve(self.sale.as_str(), &pass) else { return };
                    let request = request.token(token).key(&format!("blow-{n}"));
                    let _ = self.send(visit, step, Instant::now(), &request).await;
                }
            }
            Mischief::SendsJunk => self.send_junk(visit, step).await,
            Mischief::ClicksTwice => {
                let Some(pass) = self.pass_of(visit, visit.n).await else { return };
                let now = Instant::now();
                let click = || self.reserve_with(visit, step, now, &pass);
                futures::future::join(click(), click()).await;
            }
        }
    }

    /// Whether user `n` asks for a pass at the gate.
    pub(super) fn needs_the_gate(&self, n: usize) -> bool {
        let whose = match of(n, self.bad) {
            None | Some(Mischief::Hammers | Mischief::ClicksTwice) => n,
            Some(Mischief::TakesAnothers) => n + 1,
            Some(Mischief::Forges | Mischief::IsNobody | Mischief::SendsJunk) => return false,
        };
        self.credentials_of(whose).pass.is_none()
    }

    async fn pass_of(&self, visit: &Visit, n: usize) -> Option<String> {
        match &self.credentials_of(n).pass {
            Some(pass) => Some(pass.clone()),
            None => self.enter(visit, n, visit.due).await,
        }
    }

    async fn reserve_with(&self, visit: &Visit, step: &'static str, due: Instant, pass: &str) {
        if let Ok(request) = Request::reserve(self.sale.as_str(), pass) {
            let _ = self.send(visit, step, due, &request.token(&self.credentials_of(visit.n).token)).await;
        }
    }

    async fn send_junk(&self, visit: &Visit, step: &'static str) {
        let sale = &self.sale;
        let junk = [
            (Method::GET, "/v1/reservations/junk".to_owned(), ""),
            (Method::GET, format!("/v1/reservations/{sale}.1.00000000000040008000000000000000"), ""),
            (Method::DELETE, "/v1/reservations/%00%ff".to_owned(), ""),
            (Method::POST, format!("/v1/sales/{sale}/challenges"), "{\"kind\": "),
            (Method::POST, format!("/v1/sales/{sale}/tokens"), "[[[[[[[["),
            (Method::POST, format!("/v1/sales/{sale}/reservations/short"), "{\"units\": 1000000}"),
            (Method::PUT, "/v1/everything".to_owned(), "{}"),
        ];
        for (n, (method, path, body)) in junk.into_iter().enumerate() {
            let Ok(request) = Request::new(method, &path) else { continue };
            let request = request.token(&self.credentials_of(visit.n).token).body(body);
            let request = request.header(CONTENT_TYPE, HeaderValue::from_static("application/json"));
            let due = if n == 0 { visit.due } else { Instant::now() };
            let _ = self.send(visit, step, due, &request).await;
        }
    }
}

/// Looks like a pass but is not valid.
fn forged() -> String {
    rand::rng().sample_iter(Alphanumeric).take(PASS_LENGTH).map(char::from).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn so_many_misbehave_and_all_kinds_do() {
        for (bad, expected) in [(0.0, 0), (0.05, 50), (0.5, 500), (1.0, 1000)] {
            assert_eq!((0..1000).filter(|n| of(*n, bad).is_some()).count(), expected, "{bad}");
        }
        let seen: Vec<_> = (0..1000).filter_map(|n| of(n, 0.006)).collect();
        assert_eq!(seen, ALL);
    }

    #[test]
    fn a_forged_pass_is_as_long_as_a_real_one() {
        assert_eq!(forged().len(), PASS_LENGTH);
        assert!(Request::reserve("lamp", &forged()).is_ok());
    }
}
