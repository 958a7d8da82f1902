use std::time::{Duration, Instant};

use http::Method;
use rand::RngExt;
use uuid::Uuid;

use super::Crowd;
use crate::request::{Request, Response, solved};
use crate::run::Visit;

/// How often a request is tried at most, including the first attempt.
pub const TRIES: u32 = 8;
/// A user who is told to wait longer than this gives up.
pub const LONGEST_WAIT: Duration = Duration::from_secs(60);
/// The wait before a second attempt if the server does not say how long. It doubles each time.
const FIRST_WAIT: Duration = Duration::from_millis(500);
/// The largest random addition to a wait, as a fraction: users told to wait a second do not all return at once.
const JITTER: f64 = 0.2;
/// How often a user with a reservation polls whether it has become an order, and how many times.
const POLL_EVERY: Duration = Duration::from_secs(1);
const POLLS: usize = 30;

impl Crowd {
    /// A user who wants a unit and follows the rules. Returns the reservation's id, once it is an order.
    ///
    /// Rare steps are boxed: thousands of these futures are created every second, and small ones are cheap.
    pub async fn buy(&self, visit: &Visit) -> Option<String> {
        let mine = self.credentials_of(visit.n);
        let key = Uuid::new_v4().to_string();
        let mut reserved = None;
        if let Some(pass) = &mine.pass {
            reserved = self.reserve(visit, visit.due, pass, &key).await;
            if reserved.as_ref().is_some_and(|response| response.answer().code != "bad_token") {
                return Box::pin(self.follow(visit, reserved)).await;
            }
        }
        // The user had no pass, or it has expired.
        let due = if reserved.is_some() { Instant::now() } else { visit.due };
        Box::pin(self.buy_through_the_gate(visit, due, &key)).await
    }

    async fn buy_through_the_gate(&self, visit: &Visit, due: Instant, key: &str) -> Option<String> {
        let pass = self.enter(visit, visit.n, due).await?;
        let reserved = self.reserve(visit, Instant::now(), &pass, key).await;
        self.follow(visit, reserved).await
    }

    /// Goes through the gate in the name of user `n`. Returns the pass.
    pub(super) async fn enter(&self, visit: &Visit, n: usize, due: Instant) -> Option<String> {
        visit.at_the_gate(self.ask_for_a_pass(visit, n, due)).await
    }

    async fn ask_for_a_pass(&self, visit: &Visit, n: usize, due: Instant) -> Option<String> {
        let (sale, token) = (self.sale.as_str(), &self.credentials_of(n).token);
        let ask = Request::challenge(sale).ok()?.token(token);
        let challenge_of = |response: Response| response.text("challenge_id")?.parse::<Uuid>().ok();
        let mut id = challenge_of(self.insist(visit, "challenge", due, &ask).await?)?;
        let asked = Instant::now();
        let solved = {
            let mut computing = visit.computes();
            let _core = visit.core().await;
            // A real user would not have waited for others, so the answer must not be late because of that.
            if asked.elapsed() >= self.challenge_lasts {
                drop(computing);
                id = challenge_of(self.insist(visit, "challenge", Instant::now(), &ask).await?)?;
                computing = visit.computes();
            }
            let solved = solved(id).await.ok()?;
            drop(computing);
            solved
        };
        let request = Request::pass(sale, &solved).ok()?.token(token);
        self.insist(visit, "token", Instant::now(), &request).await?.text("token")
    }

    async fn reserve(&self, visit: &Visit, due: Instant, pass: &str, key: &str) -> Option<Response> {
        let token = &self.credentials_of(visit.n).token;
        let request = Request::reserve(self.sale.as_str(), pass).ok()?.token(token).key(key);
        self.insist(visit, "reserve", due, &request).await
    }

    /// Polls a reservation, if there is one, until it is an order. Returns its id then.
    async fn follow(&self, visit: &Visit, reserved: Option<Response>) -> Option<String> {
        let id = reserved.filter(|response| response.status == 202)?.text("reservation_id")?;
        let poll = Request::reservation(Method::GET, &id).ok()?.token(&self.credentials_of(visit.n).token);
        for _ in 0..POLLS {
            tokio::time::sleep(POLL_EVERY).await;
            match &*self.insist(visit, "poll", Instant::now(), &poll).await?.text("status")? {
                "queued" => {}
                "pending_payment" | "granted" => return Some(id),
                _ => return None,
            }
        }
        None
    }

    /// Repeats a request until the answer is final, and waits between attempts as the API asks. `None` if there was no answer.
    async fn insist(&self, visit: &Visit, step: &'static str, mut due: Instant, request: &Request) -> Option<Response> {
        for tried in 0..TRIES {
            let response = self.send(visit, step, due, request).await.ok();
            let Some(wait) = wait_after(response.as_ref(), tried) else { return response };
            if wait > LONGEST_WAIT || tried + 1 == TRIES {
                return response;
            }
            tokio::time::sleep(with_jitter(wait)).await;
            due = Instant::now();
        }
        None
    }
}

fn with_jitter(wait: Duration) -> Duration {
    wait.mul_f64(1.0 + JITTER * rand::rng().random::<f64>())
}

fn wait_after(response: Option<&Response>, tried: u32) -> Option<Duration> {
    let unsaid = FIRST_WAIT * 2_u32.pow(tried);
    let Some(response) = response else { return Some(unsaid) };
    match response.retry_after() {
        // `Retry-After: 0` says that another attempt is welcome, not that a thousand users may retry without end.
        Some(Duration::ZERO) => Some(unsaid),
        None => matches!(response.status, 429 | 500..).then_some(unsaid),
        said => said,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::client::Client;

    #[test]
    fn a_wait_is_a_little_longer_than_told() {
        for _ in 0..100 {
            let wait = with_jitter(FIRST_WAIT);
            assert!(wait >= FIRST_WAIT && wait <= FIRST_WAIT.mul_f64(1.0 + JITTER), "{wait:?}");
        }
    }

    #[tokio::test]
    async fn a_user_is_small() {
        let client = Client::new("http://127.0.0.1:9".parse().unwrap());
        let credentials = vec!["token pass".parse().unwrap()];
        let crowd = Crowd::new(client, "lamp".parse().unwrap(), credentials, 0.0).unwrap();
        let visit = Visit::of_a_test();
        let size = std::mem::size_of_val(&crowd.visit(&visit));
        assert!(size <= 4_000, "{size} bytes");
    }

    /// Counts the challenges that it gives, whose ids ask for little work, and refuses to take a pass.
    async fn server() -> (String, std::sync::Arc<std::sync::atomic::AtomicUsize>) {
        use axum::http::{StatusCode, Uri};
        use std::sync::atomic::Ordering;
        let given = std::sync::Arc::<std::sync::atomic::AtomicUsize>::default();
        let counted = std::sync::Arc::clone(&given);
        let answer = move |uri: Uri| async move {
            if uri.path().ends_with("/challenges") {
                let id = format!("00000000000080008000{:010x}0c", counted.fetch_add(1, Ordering::Relaxed));
                return (StatusCode::CREATED, json!({ "challenge_id": id }).to_string());
            }
            let admitted = uri.path().ends_with("/tokens");
            let status = if admitted { StatusCode::CREATED } else { StatusCode::GONE };
            (status, json!({ "token": "pass", "code": "closed" }).to_string())
        };
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        tokio::spawn(async move { axum::serve(listener, axum::Router::new().fallback(answer)).await });
        (url, given)
    }

    #[tokio::test]
    async fn a_challenge_that_is_over_before_the_turn_comes_is_replaced() {
        for (lasts, expected) in [(Duration::from_secs(60), 1), (Duration::ZERO, 2)] {
            let (url, given) = server().await;
            let client = Client::new(url.parse().unwrap());
            let mut crowd = Crowd::new(client, "lamp".parse().unwrap(), vec!["token".parse().unwrap()], 0.0).unwrap();
            crowd.challenge_lasts = lasts;
            let visit = Visit::of_a_test();
            assert_eq!(crowd.enter(&visit, 0, visit.due).await, Some("pass".to_owned()));
            assert_eq!(given.load(std::sync::atomic::Ordering::Relaxed), expected, "{lasts:?}");
        }
    }

    #[test]
    fn who_is_told_to_wait_waits_and_who_is_refused_goes() {
        let response = |status, retry_after: Option<u64>| {
            let headers = retry_after.map(|seconds| (http::header::RETRY_AFTER, seconds.into())).into_iter().collect();
            Response { status, headers, body: Default::default() }
        };
        for (status, retry_after, tried, expected_ms) in [
            (202, None, 0, None),
            (409, None, 0, None),
            (409, Some(3), 0, Some(3_000)),
            (429, Some(1), 5, Some(1_000)),
            (429, None, 0, Some(500)),
            (429, Some(0), 0, Some(500)),
            (409, Some(0), 3, Some(4_000)),
            (503, None, 2, Some(2_000)),
        ] {
            let wait = wait_after(Some(&response(status, retry_after)), tried);
            assert_eq!(wait, expected_ms.map(Duration::from_millis), "{status} {retry_after:?} {tried}");
        }
        assert_eq!(wait_after(None, 1), Some(Duration::from_secs(1)));
    }
}
