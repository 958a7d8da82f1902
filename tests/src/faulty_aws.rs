//! A faulty AWS: it refuses, throttles, is slow, or never answers.

use std::collections::HashMap;
use std::future::pending;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use local::server::Server;
use local::upstream::{Upstream, target};
use tokio::sync::watch;

/// A service that fails often still answers one request in this many.
const WELL_ONE_IN: usize = 3;

/// A service, identified by the first word of `x-amz-target`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Service {
    Sqs,
    DynamoDb,
    /// The webhook's key.
    SecretsManager,
}

impl Service {
    fn of(target: &str) -> Option<Self> {
        match target.split(['.', '_']).next()? {
            "AmazonSQS" => Some(Self::Sqs),
            "DynamoDB" => Some(Self::DynamoDb),
            "secretsmanager" => Some(Self::SecretsManager),
            _ => None,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Conduct {
    Answers,
    /// Refuses each one with the service's typical error.
    Fails,
    /// Refuses two of three.
    FailsOften,
    /// Accepts each one, but neither performs nor answers it.
    Hangs,
    HangsEverySecond,
    /// Finds no message for who does not wait for one: a short poll asks only a part of SQS's servers.
    MissesShortPolls,
    /// Leaves all keys of each batch of reads unprocessed, as DynamoDB does for a partition that is busy.
    LeavesBatches,
    /// Performs each one, and answers after this delay.
    AnswersAfter(Duration),
    /// Performs the next one, but answers it with an error. From then on it answers.
    LosesOneAnswer,
}

/// A proxy in front of the emulator, on the loopback interface. Dropping it stops it.
pub struct FaultyAws {
    shared: Arc<Shared>,
    server: Server,
}

struct Shared {
    upstream: Upstream,
    faults: Mutex<Faults>,
    answered: watch::Sender<HashMap<String, usize>>,
}

#[derive(Default)]
struct Faults {
    conduct: HashMap<Service, Conduct>,
    /// The conduct for requests whose body contains a text.
    with_text: Option<(String, Conduct)>,
    asked: usize,
    unanswered: usize,
}

impl Shared {
    fn faults(&self) -> MutexGuard<'_, Faults> {
        self.faults.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn count_answer(&self, target: &str) {
        self.answered.send_modify(|answered| *answered.entry(target.to_owned()).or_default() += 1);
    }
}

impl FaultyAws {
    /// A proxy in front of `upstream`, without faults at first.
    pub async fn start(upstream: &str) -> Self {
        let (faults, answered) = (Mutex::default(), watch::Sender::default());
        let shared = Arc::new(Shared { upstream: Upstream::new(upstream), faults, answered });
        let routes = Router::new().fallback(answer).with_state(Arc::clone(&shared));
        Self { shared, server: Server::http(routes) }
    }

    pub fn endpoint(&self) -> String {
        self.server.url()
    }

    pub fn set(&self, service: Service, conduct: Conduct) {
        self.shared.faults().conduct.insert(service, conduct);
    }

    /// Sets the conduct for requests whose body contains `text`, whatever else is set.
    pub fn set_for_those_with(&self, text: &str, conduct: Conduct) {
        self.shared.faults().with_text = Some((text.to_owned(), conduct));
    }

    /// How many requests hang since their service does.
    pub fn unanswered(&self) -> usize {
        self.shared.faults().unanswered
    }

    /// How many requests with this `x-amz-target` the emulator has answered.
    pub fn answered(&self, target: &str) -> usize {
        self.shared.answered.borrow().get(target).copied().unwrap_or_default()
    }

    /// Waits until the emulator has answered `number` requests with this `x-amz-target`.
    pub async fn done(&self, target: &str, number: usize) {
        let mut answered = self.shared.answered.subscribe();
        let enough = |counts: &HashMap<String, usize>| counts.get(target).is_some_and(|count| *count >= number);
        answered.wait_for(enough).await.expect("the sender is in self");
    }
}

async fn answer(State(shared): State<Arc<Shared>>, headers: HeaderMap, body: Bytes) -> Response {
    let target = target(&headers);
    let service = Service::of(target);
    let (number, conduct) = {
        let mut faults = shared.faults();
        faults.asked += 1;
        let conduct = match &faults.with_text {
            Some((text, conduct)) if has(&body, text) => *conduct,
            _ => service.and_then(|service| faults.conduct.get(&service).copied()).unwrap_or(Conduct::Answers),
        };
        if let (Some(service), Conduct::LosesOneAnswer) = (service, conduct) {
            faults.conduct.insert(service, Conduct::Answers);
        }
        faults.unanswered += usize::from(conduct == Conduct::Hangs);
        (faults.asked, conduct)
    };
    match (service, conduct) {
        (Some(service), Conduct::Fails) => return refusal(service, number),
        (Some(service), Conduct::FailsOften) if !number.is_multiple_of(WELL_ONE_IN) => return refusal(service, number),
        (_, Conduct::MissesShortPolls) if target.ends_with(".ReceiveMessage") && !has(&body, "WaitTimeSeconds") => {
            return json(StatusCode::OK, "{}".to_owned());
        }
        (_, Conduct::LeavesBatches) if target.ends_with(".BatchGetItem") => {
            shared.count_answer(target);
            let asked: serde_json::Value = serde_json::from_slice(&body).expect("a request of the SDK");
            let left = serde_json::json!({ "Responses": {}, "UnprocessedKeys": asked["RequestItems"] });
            return json(StatusCode::OK, left.to_string());
        }
        (_, Conduct::Hangs) => pending().await,
        (_, Conduct::HangsEverySecond) if !number.is_multiple_of(2) => pending().await,
        _ => {}
    }
    let passed = shared.upstream.pass(&headers, body).await.unwrap_or_else(|_| StatusCode::BAD_GATEWAY.into_response());
    shared.count_answer(target);
    match conduct {
        Conduct::AnswersAfter(late) => tokio::time::sleep(late).await,
        // Clients retry only the first: what was not performed must not look like a lost answer.
        Conduct::LosesOneAnswer if passed.status().is_success() => {
            return StatusCode::INTERNAL_SERVER_ERROR.into_response();
        }
        Conduct::LosesOneAnswer => return StatusCode::BAD_REQUEST.into_response(),
        _ => {}
    }
    passed
}

fn json(status: StatusCode, body: String) -> Response {
    (status, [("content-type", "application/x-amz-json-1.0")], body).into_response()
}

/// The service's error. Rotates if there are several.
fn refusal(service: Service, number: usize) -> Response {
    let (status, kind) = match (service, number % 2) {
        (Service::Sqs, 0) => (500, "com.amazonaws.sqs#InternalFailure"),
        (Service::Sqs, _) => (503, "com.amazonaws.sqs#ServiceUnavailable"),
        (Service::DynamoDb, 0) => (400, "com.amazonaws.dynamodb.v20120810#ProvisionedThroughputExceededException"),
        (Service::DynamoDb, _) => (400, "com.amazon.coral.availability#ThrottlingException"),
        (Service::SecretsManager, _) => (500, "InternalServiceError"),
    };
    let status = StatusCode::from_u16(status).expect("a status");
    json(status, format!(r#"{{"__type":"{kind}","message":"Rate exceeded"}}"#))
}

fn has(body: &[u8], text: &str) -> bool {
    body.windows(text.len()).any(|part| part == text.as_bytes())
}
