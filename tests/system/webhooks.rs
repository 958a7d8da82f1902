//! Events sent to the merchant's address: signed, retried until it takes them, and sent nowhere else.

use std::process::Stdio;

use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::{any, post};
use standardwebhooks::Webhook;
use tests::Server;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::Command;
use webhook::RETRY_DELAYS_S;

use crate::batches::{is_hidden, put_offs};
use crate::events::{received, sqs};
use crate::prelude::*;

/// How a receiver treats the next request.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Conduct {
    Answers(StatusCode),
    /// To an address that must get no request.
    Redirects,
    Hangs,
    /// Takes the event, and answers with a body that never ends.
    AnswersWithoutEnd,
}

#[derive(Default)]
pub(crate) struct Receiver {
    key: String,
    /// For the next requests. After these it takes whatever is signed.
    conduct: Mutex<Vec<Conduct>>,
    /// What was taken, with its id.
    pub(crate) took: Mutex<Vec<(String, Value)>>,
    pub(crate) asked: Mutex<Vec<Asked>>,
    /// Requests to where a redirect leads.
    pub(crate) led_astray: AtomicUsize,
}

pub(crate) struct Asked {
    pub(crate) id: String,
    pub(crate) idempotency_key: Option<String>,
    timestamp: String,
    pub(crate) body: String,
}

async fn take(State(receiver): State<Arc<Receiver>>, headers: HeaderMap, body: String) -> Response {
    let header = |name: &str| headers.get(name).map(|value| value.to_str().unwrap().to_owned());
    let (id, timestamp) = (header("webhook-id").unwrap(), header("webhook-timestamp").unwrap());
    let asked = Asked { id: id.clone(), idempotency_key: header("idempotency-key"), timestamp, body: body.clone() };
    receiver.asked.lock().unwrap().push(asked);
    let conduct = receiver.conduct.lock().unwrap().pop();
    match conduct {
        Some(Conduct::Answers(status)) => return status.into_response(),
        Some(Conduct::Redirects) => return Redirect::temporary("/astray").into_response(),
        Some(Conduct::Hangs) => std::future::pending::<()>().await,
        Some(Conduct::AnswersWithoutEnd) | None => {}
    }
    // The standard's own algorithm, which also checks the time.
    let webhook = Webhook::from_bytes(receiver.key.as_bytes().to_vec()).unwrap();
    if webhook.verify(body.as_bytes(), &headers).is_err() {
        return StatusCode::UNAUTHORIZED.into_response();
    }
    receiver.took.lock().unwrap().push((id, serde_json::from_str(&body).unwrap()));
    if conduct.is_none() {
        return StatusCode::OK.into_response();
    }
    Body::from_stream(stream::repeat_with(|| Ok::<_, std::io::Error>("more and more "))).into_response()
}

async fn receiver(lab: &Lab, conduct: &[Conduct]) -> (Arc<Receiver>, webhook::WebhookDeps) {
    let (receiver, url) = listening(lab, conduct).await;
    (receiver, function(lab, &url).unwrap())
}

pub(crate) async fn listening(lab: &Lab, conduct: &[Conduct]) -> (Arc<Receiver>, String) {
    let conduct = Mutex::new(conduct.iter().rev().copied().collect());
    let receiver = Arc::new(Receiver { key: lab.payment_key.clone(), conduct, ..Receiver::default() });
    let astray = async |State(receiver): State<Arc<Receiver>>| {
        receiver.led_astray.fetch_add(1, Ordering::Relaxed);
    };
    let router = Router::new().route("/events", post(take)).route("/astray", any(astray));
    let router = router.with_state(Arc::clone(&receiver));
    (receiver, format!("{}/events", Server::http(router).keep()))
}

fn function(lab: &Lab, url: &str) -> Result<webhook::WebhookDeps, ContextError> {
    let settings = lab.settings().with("WEBHOOK_URL", url);
    let context = Context::new(settings, lab.another_process().aws().clone(), Clock::system());
    let counted = lab.sqs.config().to_builder().interceptor(lab.calls.hook());
    webhook::WebhookDeps::new(&context.with(aws_sdk_sqs::Client::from_conf(counted.build())))
}

pub(crate) fn message() -> String {
    sample("webhook/one")["Records"][0]["body"].as_str().unwrap().to_owned()
}

fn delivery(number: usize) -> SqsEvent {
    let mut event = sample("webhook/one");
    event["Records"][0]["attributes"]["ApproximateReceiveCount"] = json!(number.to_string());
    sqs(&event)
}

async fn failures(deps: &webhook::WebhookDeps, batch: SqsEvent) -> usize {
    webhook::handle(deps, batch).await.batch_item_failures.len()
}

#[tokio::test]
async fn a_receiver_that_fails_is_slow_and_redirects_gets_it_in_the_end() {
    let lab = Lab::new().await;
    let bad_day = [
        Conduct::Answers(StatusCode::INTERNAL_SERVER_ERROR),
        Conduct::Hangs,
        Conduct::Redirects,
        Conduct::Answers(StatusCode::GONE),
        Conduct::AnswersWithoutEnd,
    ];
    let (receiver, deps) = receiver(&lab, &bad_day).await;
    for number in 1..bad_day.len() {
        assert_eq!(failures(&deps, delivery(number)).await, 1, "{:?}", bad_day[number - 1]);
    }
    assert_eq!(failures(&deps, delivery(bad_day.len())).await, 0, "an answer's body is not read");
    assert_eq!(receiver.led_astray.load(Ordering::Relaxed), 0);
    let asked = receiver.asked.lock().unwrap();
    let event: Value = serde_json::from_str::<Value>(&message()).unwrap()["detail"].clone();
    assert_eq!(asked.len(), bad_day.len());
    assert!(asked.iter().all(|one| event["id"] == *one.id && one.body == asked[0].body), "each try is the same");
    assert!(asked.is_sorted_by_key(|one| &one.timestamp), "with a time of its own");
    assert_eq!(*receiver.took.lock().unwrap(), [(asked[0].id.clone(), event)]);
}

#[tokio::test]
async fn what_is_not_taken_comes_back_later_and_later() {
    assert!(RETRY_DELAYS_S.windows(2).all(|delays| delays[0] < delays[1]), "{RETRY_DELAYS_S:?}");
    assert!(RETRY_DELAYS_S.iter().all(|delay| *delay <= 12 * 3600), "SQS hides nothing for longer");
    let lab = Lab::new().await;
    let (receiver, deps) = receiver(&lab, &[Conduct::Answers(StatusCode::BAD_GATEWAY); 2]).await;
    lab.send("webhook", message()).await;
    let first = lab.receive("webhook").await;
    let began = Instant::now();
    assert_eq!(failures(&deps, received(&first)).await, 1);
    is_hidden(&lab, "webhook", began, RETRY_DELAYS_S[0]).await;
    let second = lab.receive_again("webhook", &first[0]).await;
    let began = Instant::now();
    assert_eq!(failures(&deps, received(&second)).await, 1);
    assert_eq!(put_offs(&lab), [RETRY_DELAYS_S[0], RETRY_DELAYS_S[1]].map(i64::from));
    is_hidden(&lab, "webhook", began, RETRY_DELAYS_S[1]).await;
    assert_eq!(receiver.asked.lock().unwrap().len(), 2);
}

#[tokio::test]
async fn poison_and_a_missing_address_take_no_other_with_them() {
    let lab = Lab::new().await;
    let (receiver, deps) = receiver(&lab, &[]).await;
    let bodies = ["poison", "{}", r#"{"detail": {"id": 7, "type": "order.paid"}}"#];
    let batch = crate::events::batch(bodies.map(str::to_owned).into_iter().chain([message()]));
    assert_eq!(failures(&deps, batch).await, bodies.len());
    assert_eq!(receiver.took.lock().unwrap().len(), 1);
    let without = webhook::WebhookDeps::new(&lab.another_process()).unwrap();
    assert_eq!(failures(&without, delivery(1)).await, 1, "it waits for an address");
    for address in ["http://shop.example.com/", "ftp://127.0.0.1/", "https://a:b@shop.example.com/"] {
        assert!(function(&lab, address).is_err(), "{address}");
    }
}

/// `docs/events.md` shows this receiver.
#[tokio::test]
async fn the_documented_receiver_takes_what_is_signed_and_knows_duplicates() {
    let lab = Lab::new().await;
    let mut node = Command::new("node");
    node.arg(local::paths::root().join("docs/events/receiver.mjs")).arg("0").env("SECRET", &lab.payment_key);
    let mut node = node.stdout(Stdio::piped()).kill_on_drop(true).spawn().unwrap();
    let mut lines = BufReader::new(node.stdout.take().unwrap()).lines();
    let mut line = async || lines.next_line().await.unwrap().expect("it runs");
    let port = line().await.strip_prefix("listening ").unwrap().to_owned();
    let url = format!("http://127.0.0.1:{port}/");
    let deps = function(&lab, &url).unwrap();
    for _ in 0..2 {
        assert_eq!(failures(&deps, delivery(1)).await, 0);
    }
    let id = serde_json::from_str::<Value>(&message()).unwrap()["detail"]["id"].as_str().unwrap().to_owned();
    assert_eq!(line().await, format!("new order.paid {id}"));
    assert_eq!(line().await, format!("again order.paid {id}"));

    let now = now().as_epoch_s();
    let sign = |key: &str, at: i64, body: &str| {
        Webhook::from_bytes(key.as_bytes().to_vec()).unwrap().sign(&id, at, body.as_bytes()).unwrap()
    };
    let body = r#"{"id":"evt_1","type":"order.paid"}"#;
    let client = reqwest::Client::new();
    for (signature, at, sent, status) in [
        (sign(&lab.payment_key, now, body), now, body, 204),
        (sign("another key", now, body), now, body, 401),
        (sign(&lab.payment_key, now, body), now, r#"{"id":"evt_2","type":"order.paid"}"#, 401),
        (sign(&lab.payment_key, now - 600, body), now - 600, body, 401),
        (format!("v1,AAAA {}", sign(&lab.payment_key, now, body)), now, body, 204),
        ("v1,AAAA".to_owned(), now, body, 401),
    ] {
        let request = client.post(&url).header("webhook-id", &id).header("webhook-timestamp", at.to_string());
        let answer = request.header("webhook-signature", signature).body(sent.to_owned()).send().await.unwrap();
        assert_eq!(answer.status().as_u16(), status, "{sent} at {at}");
    }
    assert_eq!(client.post(&url).body(body).send().await.unwrap().status().as_u16(), 401, "without a signature");
}
