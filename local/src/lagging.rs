//! DynamoDB's indexes, lagging: a proxy that answers queries of an index as of some time ago.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use anyhow::Result;
use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

/// A query that nobody has repeated for this long is forgotten; reconciliation repeats its own each minute.
const FORGOTTEN_AFTER: Duration = Duration::from_secs(90);

/// A proxy in front of the emulator, on the loopback. Dropping it stops it.
pub struct LaggingIndexes {
    address: SocketAddr,
    shared: Arc<Shared>,
    tasks: [JoinHandle<()>; 2],
}

/// The last answer to a query of an index.
struct Kept {
    headers: HeaderMap,
    answer: Bytes,
    asked: Instant,
}

struct Shared {
    upstream: String,
    client: reqwest::Client,
    kept: Mutex<HashMap<Bytes, Kept>>,
    lagged: AtomicUsize,
}

impl LaggingIndexes {
    /// A proxy in front of `upstream`. A repeated query of an index gets the same answer for `lag`, unless that was empty.
    ///
    /// # Errors
    /// If there is no free port.
    pub async fn start(upstream: &str, lag: Duration) -> Result<Self> {
        let shared = Arc::new(Shared {
            upstream: upstream.to_owned(),
            client: reqwest::Client::new(),
            kept: Mutex::default(),
            lagged: AtomicUsize::new(0),
        });
        let routes = Router::new().fallback(answer).with_state(Arc::clone(&shared));
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let serving = tokio::spawn(async move { drop(axum::serve(listener, routes).await) });
        let lagging = Arc::clone(&shared);
        let catching_up = tokio::spawn(async move {
            loop {
                tokio::time::sleep(lag).await;
                lagging.catch_up().await;
            }
        });
        Ok(Self { address, shared, tasks: [serving, catching_up] })
    }

    /// The endpoint of every service.
    pub fn endpoint(&self) -> String {
        format!("http://{}", self.address)
    }

    /// How many queries got an earlier answer.
    pub fn lagged(&self) -> usize {
        self.shared.lagged.load(Ordering::Relaxed)
    }
}

impl Drop for LaggingIndexes {
    fn drop(&mut self) {
        self.tasks.iter().for_each(JoinHandle::abort);
    }
}

impl Shared {
    fn kept(&self) -> MutexGuard<'_, HashMap<Bytes, Kept>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn ask(&self, headers: &HeaderMap, body: Bytes) -> Result<(StatusCode, HeaderMap, Bytes), reqwest::Error> {
        let mut headers = headers.clone();
        headers.remove("host");
        let answer = self.client.post(&self.upstream).headers(headers).body(body).send().await?;
        let (status, mut headers) = (answer.status(), answer.headers().clone());
        headers.remove("transfer-encoding");
        Ok((status, headers, answer.bytes().await?))
    }

    /// Asks every query again whose answer is kept.
    async fn catch_up(&self) {
        self.kept().retain(|_, kept| kept.asked.elapsed() < FORGOTTEN_AFTER);
        let queries: Vec<_> = self.kept().iter().map(|(query, kept)| (query.clone(), kept.headers.clone())).collect();
        for (query, headers) in queries {
            if let Ok((StatusCode::OK, _, answer)) = self.ask(&headers, query.clone()).await
                && let Some(kept) = self.kept().get_mut(&query)
            {
                kept.answer = answer;
            }
        }
    }
}

async fn answer(State(shared): State<Arc<Shared>>, headers: HeaderMap, body: Bytes) -> Response {
    let has = |text: &str, of: &[u8]| of.windows(text.len()).any(|part| part == text.as_bytes());
    let is_query = headers.get("x-amz-target").is_some_and(|target| target.as_bytes().ends_with(b".Query"));
    let is_of_index = is_query && has("\"IndexName\"", &body);
    if is_of_index && let Some(kept) = shared.kept().get_mut(&body) {
        kept.asked = Instant::now();
        shared.lagged.fetch_add(1, Ordering::Relaxed);
        return ([("content-type", "application/x-amz-json-1.0")], kept.answer.clone()).into_response();
    }
    match shared.ask(&headers, body.clone()).await {
        Ok((status, answered, answer)) => {
            if is_of_index && status == StatusCode::OK && has("\"pk\"", &answer) {
                let kept = Kept { headers, answer: answer.clone(), asked: Instant::now() };
                shared.kept().insert(body, kept);
            }
            (status, answered, answer).into_response()
        }
        Err(_) => StatusCode::BAD_GATEWAY.into_response(),
    }
}
