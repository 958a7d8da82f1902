//! A mock of SQS, DynamoDB and Secrets Manager for load tests: it answers with a set delay and counts requests. It stores
//! and refuses nothing, so it is good for measurements but not for tests of correctness. Messages can go on to a queue of
//! the emulator.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::header::{AUTHORIZATION, CONTENT_TYPE};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use load::{Client, Request, Response};
use local::emulator::authorization;
use local::server::Server;
use local::upstream::target;
use parking_lot::{Mutex, RwLock};
use serde_json::{Value, json};
use tokio::sync::watch;

/// A transactional write costs double, per KB or part of one (DynamoDB developer guide, "Read and write capacity").
const TRANSACTION_FACTOR: usize = 2;
const WRITE_UNIT_BYTES: usize = 1024;

#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Asked {
    /// Requests by operation. A batch of messages counts as that many of `SendMessage`.
    pub(crate) operations: BTreeMap<String, usize>,
    /// Write units of the table itself, without its indexes.
    pub(crate) write_units: usize,
}

/// A server on the loopback interface. Dropping it stops it.
pub(crate) struct Aws {
    server: Server,
    shared: Arc<Shared>,
}

/// A queue on an emulator.
pub(crate) struct EmulatorQueue {
    client: Client,
    pub(crate) url: String,
}

struct Shared {
    queue: RwLock<Option<Arc<EmulatorQueue>>>,
    round: Value,
    pass_keys: String,
    delay: watch::Sender<Duration>,
    asked: Mutex<Asked>,
}

impl Aws {
    /// Its ledger has one published sale with the item `round`; its secret is `pass_keys`.
    pub(crate) fn start(round: Value, pass_keys: &str) -> Self {
        let shared = Arc::new(Shared {
            queue: RwLock::default(),
            round,
            pass_keys: pass_keys.to_owned(),
            delay: watch::Sender::new(Duration::ZERO),
            asked: Mutex::default(),
        });
        let routes = Router::new().fallback(answer).with_state(Arc::clone(&shared));
        Self { server: Server::http(routes), shared }
    }

    pub(crate) fn endpoint(&self) -> String {
        self.server.url()
    }

    pub(crate) fn delay(&self, delay: Duration) {
        self.shared.delay.send_replace(delay);
    }

    /// Forwards messages to this queue from now on instead of dropping them. They must name its address.
    pub(crate) fn pass_messages_to(&self, queue: Option<Arc<EmulatorQueue>>) {
        *self.shared.queue.write() = queue;
    }

    /// Requests since the last call.
    pub(crate) fn take_asked(&self) -> Asked {
        std::mem::take(&mut self.shared.asked.lock())
    }
}

impl EmulatorQueue {
    /// An empty queue of this name on the emulator at `endpoint`, over at most this many connections.
    pub(crate) async fn create(endpoint: &str, name: &str, connections: usize) -> Result<Self> {
        let queue = Self { client: Client::of_one_address(endpoint.parse()?, connections), url: String::new() };
        let made = queue.ask("CreateQueue", json!({ "QueueName": name }).to_string()).await?;
        let url = made.json()["QueueUrl"].as_str().context("the new queue has no address")?.to_owned();
        Ok(Self { url, ..queue })
    }

    pub(crate) async fn send(&self, message: &str) -> Result<()> {
        let body = json!({ "QueueUrl": self.url, "MessageBody": message }).to_string();
        self.ask("SendMessage", body).await.map(drop)
    }

    async fn ask(&self, operation: &str, body: impl Into<Bytes>) -> Result<Response> {
        let request = Request::new(Method::POST, "/")?
            .header(AUTHORIZATION, authorization("sqs").parse()?)
            .header(CONTENT_TYPE, HeaderValue::from_static("application/x-amz-json-1.0"))
            .header(HeaderName::from_static("x-amz-target"), format!("AmazonSQS.{operation}").parse()?)
            .body(body);
        let answer = self.client.send(0, &request).await?;
        ensure!(answer.status == 200, "the emulator answers {operation} with {}", answer.answer());
        Ok(answer)
    }
}

async fn answer(State(shared): State<Arc<Shared>>, headers: HeaderMap, body: Bytes) -> (StatusCode, String) {
    let operation = target(&headers).rsplit('.').next().unwrap_or_default();
    let queue = shared.queue.read().clone();
    if let (true, Some(queue)) = (operation.starts_with("SendMessage"), queue) {
        return match queue.ask(operation, body).await {
            Ok(answer) => (StatusCode::OK, answer.json().to_string()),
            Err(error) => (StatusCode::SERVICE_UNAVAILABLE, format!("{error:#}")),
        };
    }
    let (mut operation, mut count) = (operation, 1);
    let answer = match operation {
        "SendMessageBatch" => {
            let batch: Value = serde_json::from_slice(&body).unwrap_or_default();
            let entries = batch["Entries"].as_array().map(Vec::as_slice).unwrap_or_default();
            (operation, count) = ("SendMessage", entries.len());
            let sent =
                entries.iter().map(|entry| json!({ "Id": entry["Id"], "MessageId": "1", "MD5OfMessageBody": "" }));
            Some(json!({ "Successful": sent.collect::<Vec<_>>(), "Failed": [] }))
        }
        "SendMessage" => Some(json!({ "MessageId": "1" })),
        "UpdateItem" if find(&body, b"\"ROUND#") => Some(json!({ "Attributes": shared.round })),
        "TransactWriteItems" | "UpdateItem" | "PutItem" => Some(json!({})),
        "GetItem" if find(&body, b"\"ROUND#") => Some(json!({ "Item": shared.round })),
        "GetItem" => Some(json!({})),
        "BatchGetItem" => {
            let request: Value = serde_json::from_slice(&body).unwrap_or_default();
            let table = request["RequestItems"].as_object().and_then(|tables| tables.keys().next());
            Some(json!({ "Responses": { table.map_or("", String::as_str): [shared.round] } }))
        }
        "Query" if find(&body, b"published#0") => Some(json!({ "Items": [shared.round], "Count": 1 })),
        "Query" => Some(json!({ "Items": [], "Count": 0 })),
        "GetSecretValue" => Some(json!({ "Name": "passes", "SecretString": shared.pass_keys })),
        _ => None,
    };
    {
        let mut asked = shared.asked.lock();
        *asked.operations.entry(operation.to_owned()).or_default() += count;
        if operation == "TransactWriteItems" {
            asked.write_units += write_units(&body);
        }
    }
    let delay = *shared.delay.borrow();
    if !delay.is_zero() {
        tokio::time::sleep(delay).await;
    }
    match answer {
        Some(answer) => (StatusCode::OK, answer.to_string()),
        None => (StatusCode::BAD_REQUEST, json!({ "__type": "UnknownOperationException" }).to_string()),
    }
}

fn find(body: &[u8], what: &[u8]) -> bool {
    body.windows(what.len()).any(|window| window == what)
}

fn write_units(body: &[u8]) -> usize {
    let request: Value = serde_json::from_slice(body).unwrap_or_default();
    let items = request["TransactItems"].as_array().into_iter().flatten().map(|item| &item["Put"]["Item"]);
    items.map(|item| item_bytes(item).div_ceil(WRITE_UNIT_BYTES) * TRANSACTION_FACTOR).sum()
}

/// DynamoDB's item size: names and values. Simplified for numbers, which count one byte per digit.
fn item_bytes(item: &Value) -> usize {
    let attributes = item.as_object().into_iter().flatten();
    attributes.map(|(name, value)| name.len() + value_bytes(value)).sum()
}

fn value_bytes(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len(),
        Value::Array(values) => values.iter().map(value_bytes).sum(),
        Value::Object(fields) => fields.values().map(value_bytes).sum(),
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_item_costs_two_units_for_each_kb_of_a_transaction() {
        let put = |length| json!({ "Put": { "Item": { "pk": { "S": "x".repeat(length) } } } });
        let body = json!({ "TransactItems": [put(10), put(1022), put(1023)] }).to_string();
        assert_eq!(write_units(body.as_bytes()), 2 + 2 + 4);
    }
}
