//! DynamoDB's indexes, lagging: a proxy that answers queries of an index as of some time ago. In the index of live orders
//! only changes and removals are late, not what is new: an index learns of each item on its own.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use parking_lot::Mutex;
use serde_json::Value;
use tokio::task::JoinSet;

use crate::server::Server;
use crate::upstream::{Upstream, target};

/// A query that nobody has repeated for this long is forgotten; reconciliation repeats its own each minute.
const FORGOTTEN_AFTER: Duration = Duration::from_secs(90);
const JSON: &str = "application/x-amz-json-1.0";

/// A proxy in front of the emulator, on the loopback. Dropping it stops it.
pub struct LaggingIndexes {
    server: Server,
    shared: Arc<Shared>,
    _catching_up: JoinSet<()>,
}

/// The last answer to a query of an index.
struct Kept {
    headers: HeaderMap,
    answer: Bytes,
    asked: Instant,
}

struct Shared {
    upstream: Upstream,
    kept: Mutex<HashMap<Bytes, Kept>>,
    lagged: AtomicUsize,
}

impl LaggingIndexes {
    /// A proxy in front of `upstream`. What an index says about an item may be as old as `lag`.
    pub fn start(upstream: &str, lag: Duration) -> Self {
        let upstream = Upstream::new(upstream);
        let shared = Arc::new(Shared { upstream, kept: Mutex::default(), lagged: AtomicUsize::new(0) });
        let routes = Router::new().fallback(answer).with_state(Arc::clone(&shared));
        let lagging = Arc::clone(&shared);
        let catching_up = async move {
            loop {
                tokio::time::sleep(lag).await;
                lagging.catch_up().await;
            }
        };
        Self { server: Server::http(routes), shared, _catching_up: JoinSet::from_iter([catching_up]) }
    }

    pub fn endpoint(&self) -> String {
        self.server.url()
    }

    /// How many queries got an earlier answer.
    pub fn lagged(&self) -> usize {
        self.shared.lagged.load(Ordering::Relaxed)
    }
}

impl Shared {
    async fn catch_up(&self) {
        self.kept.lock().retain(|_, kept| kept.asked.elapsed() < FORGOTTEN_AFTER);
        let queries: Vec<_> =
            self.kept.lock().iter().map(|(query, kept)| (query.clone(), kept.headers.clone())).collect();
        for (query, headers) in queries {
            if let Ok((StatusCode::OK, _, answer)) = self.upstream.ask(&headers, query.clone()).await
                && let Some(kept) = self.kept.lock().get_mut(&query)
            {
                kept.answer = answer;
            }
        }
    }
}

async fn answer(State(shared): State<Arc<Shared>>, headers: HeaderMap, body: Bytes) -> Response {
    let has = |text: &str| body.windows(text.len()).any(|part| part == text.as_bytes());
    let is_of_index = target(&headers).ends_with(".Query") && has("\"IndexName\"");
    let earlier = shared.kept.lock().get_mut(&body).map(|kept| {
        kept.asked = Instant::now();
        kept.answer.clone()
    });
    if let Some(earlier) = &earlier {
        shared.lagged.fetch_add(1, Ordering::Relaxed);
        if !has("\"orders_by_round\"") {
            return ([("content-type", JSON)], earlier.clone()).into_response();
        }
    }
    match shared.upstream.ask(&headers, body.clone()).await {
        Ok((StatusCode::OK, _, answer)) if is_of_index => {
            let Some(earlier) = earlier else {
                let kept = Kept { headers, answer: answer.clone(), asked: Instant::now() };
                shared.kept.lock().insert(body, kept);
                return ([("content-type", JSON)], answer).into_response();
            };
            ([("content-type", JSON)], with_earlier(&answer, &earlier)).into_response()
        }
        Ok((status, answered, answer)) => (status, answered, answer).into_response(),
        Err(_) => StatusCode::BAD_GATEWAY.into_response(),
    }
}

/// An answer with the items of an earlier one as they were then.
fn with_earlier(answer: &[u8], earlier: &[u8]) -> Vec<u8> {
    let [mut now, mut then] = [answer, earlier].map(|text| serde_json::from_slice::<Value>(text).unwrap_or_default());
    let items = |answer: &mut Value| answer["Items"].as_array_mut().map(std::mem::take).unwrap_or_default();
    let (new, mut all) = (items(&mut now), items(&mut then));
    let known: Vec<Value> = all.iter().map(|item| item["pk"].clone()).collect();
    all.extend(new.into_iter().filter(|item| !known.contains(&item["pk"])));
    now["Count"] = all.len().into();
    now["ScannedCount"] = all.len().into();
    now["Items"] = all.into();
    now.to_string().into_bytes()
}
