use std::time::Instant;

use http::Method;
use http::header::{CONTENT_TYPE, HeaderValue};
use rand::RngExt;
use rand::distr::Alphanumeric;

use super::Crowd;
use crate::request::Request;
use crate::run::Visit;

const PASS_LENGTH: usize = 63;
/// How many requests a user who guesses passes sends.
const FORGERIES: usize = 5;
/// How many requests a user who does not wait sends: more than a user may send at once.
const HAMMER_BLOWS: usize = 40;

/// What misbehaving users do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mischief {
    Forges,
    TakesAnothers,
    IsNobody,
    Hammers,
    SendsJunk,
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
///
/// Users without a pass are there to go through the gate, so users with one misbehave. If `bad` is a twentieth, that is
/// the last user with a pass in every twenty, or just the last one if nobody among them has a pass.
fn of(n: usize, bad: f64, has_pass: impl Fn(usize) -> bool) -> Option<Mischief> {
    // Users with the same number are in one group, and its last one is followed by a larger number.
    let group = |n: usize| (n as f64 * bad) as usize;
    let is_last = |n: usize| group(n + 1) > group(n);
    if bad <= 0.0 {
        return None;
    }
    let does = if has_pass(n) {
        // There is an end to it: somebody has the same credentials again.
        let mut next = n;
        while !is_last(next) && !has_pass(next + 1) {
            next += 1;
        }
        is_last(next)
    } else {
        is_last(n) && !(0..n).rev().take_while(|before| group(*before) == group(n)).any(&has_pass)
    };
    does.then(|| ALL[group(n) % ALL.len()])
}

impl Crowd {
    pub(super) fn mischief_of(&self, n: usize) -> Option<Mischief> {
        of(n, self.bad, |n| self.has_pass(n))
    }

    /// The number of the user whose pass user `n` steals: the next user with a pass.
    fn next_to(&self, n: usize) -> usize {
        (n + 1..n + self.credentials.len()).find(|n| self.has_pass(*n)).unwrap_or(n + 1)
    }

    pub(super) async fn misbehave(&self, visit: &Visit, mischief: Mischief) {
        match mischief {
            Mischief::Forges => {
                for n in 0..FORGERIES {
                    let due = if n == 0 { visit.due } else { Instant::now() };
                    self.reserve_with(visit, "forged", due, &forged()).await;
                }
            }
            Mischief::TakesAnothers => {
                if let Some(pass) = self.pass_of(visit, self.next_to(visit.n)).await {
                    self.reserve_with(visit, "another's", Instant::now(), &pass).await;
                }
            }
            Mischief::IsNobody => {
                let pass = self.credentials_of(visit.n).pass.clone().unwrap_or_else(forged);
                if let Ok(request) = Request::reserve(self.sale.as_str(), &pass) {
                    // A misbehaving user ignores the result, here and below.
                    let _ = self.send(visit, "nobody", visit.due, &request).await;
                }
            }
            Mischief::Hammers => {
                let Some(pass) = self.pass_of(visit, visit.n).await else { return };
                let Ok(request) = Request::reserve(self.sale.as_str(), &pass) else { return };
                let request = request.token(&self.credentials_of(visit.n).token);
                for n in 0..HAMMER_BLOWS {
                    let request = request.clone().key(&format!("blow-{n}"));
                    let _ = self.send(visit, "hammer", Instant::now(), &request).await;
                }
            }
            Mischief::SendsJunk => self.send_junk(visit).await,
            Mischief::ClicksTwice => {
                let Some(pass) = self.pass_of(visit, visit.n).await else { return };
                let now = Instant::now();
                let click = || self.reserve_with(visit, "two clicks", now, &pass);
                futures::future::join(click(), click()).await;
            }
        }
    }

    /// Whether user `n` asks for a pass at the gate.
    pub(super) fn needs_the_gate(&self, n: usize) -> bool {
        let whose = match self.mischief_of(n) {
            None | Some(Mischief::Hammers | Mischief::ClicksTwice) => n,
            Some(Mischief::TakesAnothers) => self.next_to(n),
            Some(Mischief::Forges | Mischief::IsNobody | Mischief::SendsJunk) => return false,
        };
        !self.has_pass(whose)
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

    async fn send_junk(&self, visit: &Visit) {
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
            let _ = self.send(visit, "junk", due, &request).await;
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
    use crate::users::Credentials;

    #[test]
    fn so_many_misbehave_and_all_kinds_do() {
        for (bad, expected) in [(0.0, 0), (0.05, 50), (0.5, 500), (1.0, 1000)] {
            for every in [1, 2, 3, 20, 50, 2_000] {
                let has_pass = |n: usize| !(n + 1).is_multiple_of(every);
                let does = (0..1000).filter(|n| of(*n, bad, has_pass).is_some()).count();
                assert_eq!(does, expected, "{bad}, every {every}th without a pass");
            }
        }
        let seen: Vec<_> = (0..1000).filter_map(|n| of(n, 0.006, |_| true)).collect();
        assert_eq!(seen, ALL);
    }

    #[test]
    fn whoever_has_no_pass_goes_through_the_gate() {
        // In the form of `./flash load`: every tenth user has no pass, and with them every other misbehaving one would.
        let line = |n: usize| if n.is_multiple_of(10) { "token" } else { "token pass" };
        let credentials = || -> Vec<Credentials> { (1..=1_000).map(|n| line(n).parse().unwrap()).collect() };
        let client = || crate::Client::new("http://127.0.0.1:9".parse().unwrap());
        for bad in [0.0, 0.05, 0.2] {
            let crowd = Crowd::new(client(), "lamp".parse().unwrap(), credentials(), bad).unwrap();
            assert_eq!((crowd.through_the_gate(1_000), crowd.past_the_gate(1_000)), (100, 0), "{bad}");
        }
        let nobody = vec!["token".parse().unwrap()];
        let crowd = Crowd::new(client(), "lamp".parse().unwrap(), nobody, 0.05).unwrap();
        // Three of six kinds of mischief need no pass.
        assert_eq!((crowd.through_the_gate(1_200), crowd.past_the_gate(1_200)), (1_170, 30));
    }

    #[test]
    fn a_forged_pass_is_as_long_as_a_real_one() {
        assert_eq!(forged().len(), PASS_LENGTH);
        assert!(Request::reserve("lamp", &forged()).is_ok());
    }
}
