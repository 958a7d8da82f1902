//! SQS, DynamoDB and Secrets Manager as a load part: answers as late as it is told, and counts. It keeps nothing and
//! refuses nothing, so it is good for measuring and no stand-in where a test asks whether something is right.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::Result;
use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// A transactional write costs twice what a plain one does, for every KB or part of one (DynamoDB developer guide, "Read
/// and write capacity").
const TRANSACTION_FACTOR: usize = 2;
const WRITE_UNIT_BYTES: usize = 1024;

/// What was asked.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Asked {
    /// Requests by operation: `SendMessage`.
    pub(crate) operations: BTreeMap<String, usize>,
    /// Write units of the table itself, without its indexes.
    pub(crate) write_units: usize,
}

/// A server on the loopback. Dropping it ends it.
pub(crate) struct Aws {
    address: SocketAddr,
    shared: Arc<Shared>,
    server: JoinHandle<()>,
}

struct Shared {
    sale: Value,
    pass_keys: String,
    delay: watch::Sender<Duration>,
    asked: Mutex<Asked>,
}

impl Aws {
    /// One whose ledger has a single published sale, as the item `sale`, and whose secret is `pass_keys`.
    pub(crate) async fn start(sale: Value, pass_keys: &str) -> Result<Self> {
        let shared = Arc::new(Shared {
            sale,
            pass_keys: pass_keys.to_owned(),
            delay: watch::Sender::new(Duration::ZERO),
            asked: Mutex::default(),
        });
        let routes = Router::new().fallback(answer).with_state(Arc::clone(&shared));
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let server = tokio::spawn(async move { drop(axum::serve(listener, routes).await) });
        Ok(Self { address, shared, server })
    }

    pub(crate) fn endpoint(&self) -> String {
        format!("http://{}", self.address)
    }

    /// How late answers are from now on.
    pub(crate) fn delay(&self, delay: Duration) {
        self.shared.delay.send_replace(delay);
    }

    /// What was asked since the last time.
    pub(crate) fn take_asked(&self) -> Asked {
        std::mem::take(&mut self.shared.asked.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Drop for Aws {
    fn drop(&mut self) {
        self.server.abort();
    }
}

async fn answer(State(shared): State<Arc<Shared>>, headers: HeaderMap, body: Bytes) -> (StatusCode, String) {
    let target = headers.get("x-amz-target").and_then(|target| target.to_str().ok()).unwrap_or_default();
    let operation = target.rsplit('.').next().unwrap_or_default();
    let answer = match operation {
        "SendMessage" => Some(json!({ "MessageId": "1" })),
        "TransactWriteItems" | "UpdateItem" | "PutItem" => Some(json!({})),
        "GetItem" if find(&body, b"\"SALE#") => Some(json!({ "Item": shared.sale })),
        "GetItem" => Some(json!({})),
        "Query" if find(&body, b"sales_by_close") => Some(json!({ "Items": [shared.sale], "Count": 1 })),
        "Query" => Some(json!({ "Items": [], "Count": 0 })),
        "GetSecretValue" => Some(json!({ "Name": "passes", "SecretString": shared.pass_keys })),
        _ => None,
    };
    {
        let mut asked = shared.asked.lock().unwrap_or_else(PoisonError::into_inner);
        *asked.operations.entry(operation.to_owned()).or_default() += 1;
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

/// The names and the values, as DynamoDB counts an item's size, but for numbers: their digits.
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
