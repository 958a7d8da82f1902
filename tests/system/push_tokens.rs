//! Who may connect: how `$connect` treats tokens, and issuers that are not what they should be.

use axum::Router;
use axum::http::{HeaderMap, StatusCode, header::LOCATION};
use axum::response::IntoResponse;
use axum::routing::get;
use local::identity::{AUDIENCE, TokenClaims};
use tests::Server;
use tokio::sync::watch;

use crate::prelude::*;
use crate::push::{connections, event, websocket};

async fn status(deps: &websocket::WebsocketDeps, token: Option<&str>) -> u16 {
    websocket::handle(deps, event("connect", "c", token)).await.status_code
}

/// `websocket::token` has tests of what makes a token good.
#[tokio::test]
async fn only_a_good_token_connects_and_nothing_is_written_for_another() {
    let lab = Lab::new().await;
    let issuer = &cloud().await.issuer;
    let deps = websocket(&lab, &cloud().await.deployment.endpoint, issuer.url()).await;
    let good = issuer.token("alice").unwrap();
    let mut expired = issuer.claims("alice", &[]);
    expired.exp = expired.iat - 60;
    for bad in [None, Some(""), Some("x"), Some(&good[..good.len() - 4]), Some(&issuer.sign(&expired).unwrap())] {
        assert_eq!(status(&deps, bad).await, 401, "{bad:?}");
    }
    assert!(items(&lab.dynamodb, &lab.table).await.is_empty());
    assert_eq!(status(&deps, Some(&good)).await, 200);
    assert_eq!(connections(&lab).await, ["c"]);
}

/// Answers at an issuer's addresses and counts the requests for its keys.
struct FakeIssuer {
    url: String,
    asked: Arc<AtomicUsize>,
    fault: watch::Sender<Fault>,
}

#[derive(Debug, Clone, Copy)]
enum Fault {
    AnotherName,
    NoDocument,
    NotJson,
    TooLong,
    Redirects,
    NoKeys,
    Hangs,
    /// A sound issuer, with other keys.
    None,
    /// A sound issuer, with the keys of the cloud's issuer.
    Renewed,
}

impl FakeIssuer {
    fn start(fault: Fault) -> Self {
        let asked = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&asked);
        let (fault, now) = watch::channel(fault);
        let of_keys = now.clone();
        let document = move |headers: HeaderMap| document(*now.borrow(), headers);
        let keys = move || {
            counted.fetch_add(1, Ordering::Relaxed);
            keys(*of_keys.borrow())
        };
        let routes = Router::new().route("/.well-known/openid-configuration", get(document)).route("/keys", get(keys));
        Self { url: Server::http(routes).keep(), asked, fault }
    }
}

async fn document(fault: Fault, headers: HeaderMap) -> axum::response::Response {
    let url = format!("http://{}", headers["host"].to_str().unwrap());
    let issuer = if matches!(fault, Fault::AnotherName) { "https://issuer.example" } else { &url };
    let document = json!({ "issuer": issuer, "jwks_uri": format!("{url}/keys") });
    match fault {
        Fault::NoDocument => StatusCode::NOT_FOUND.into_response(),
        Fault::NotJson => "<html>".into_response(),
        Fault::TooLong => format!("{document}{}", " ".repeat(1024 * 1024)).into_response(),
        Fault::Redirects => (StatusCode::FOUND, [(LOCATION, format!("{url}/elsewhere"))]).into_response(),
        Fault::Hangs => std::future::pending().await,
        Fault::AnotherName | Fault::NoKeys | Fault::None | Fault::Renewed => document.to_string().into_response(),
    }
}

async fn keys(fault: Fault) -> String {
    if matches!(fault, Fault::Renewed) {
        let url = format!("{}/.well-known/jwks.json", cloud().await.issuer.url());
        return reqwest::get(url).await.unwrap().text().await.unwrap();
    }
    // RFC 7517, appendix A.1.
    let x = "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU";
    let y = "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0";
    let key = json!({ "kty": "EC", "crv": "P-256", "kid": "another", "x": x, "y": y });
    let keys = if matches!(fault, Fault::NoKeys) { Vec::<Value>::new() } else { vec![key] };
    json!({ "keys": keys }).to_string()
}

#[tokio::test]
async fn without_the_issuers_keys_nobody_is_let_in_and_nobody_called_a_liar() {
    use Fault::{AnotherName, Hangs, NoDocument, NoKeys, NotJson, Redirects, TooLong};
    let lab = Lab::new().await;
    let cloud = cloud().await;
    let good = cloud.issuer.token("alice").unwrap();
    let faults = [AnotherName, NoDocument, NotJson, TooLong, Redirects, NoKeys, Hangs];
    let asked = faults.into_iter().map(async |fault| {
        let issuer = FakeIssuer::start(fault);
        let deps = websocket(&lab, &cloud.deployment.endpoint, &issuer.url).await;
        let answered = tokio::time::timeout(Duration::from_secs(10), status(&deps, Some(&good))).await;
        assert_eq!(answered, Ok(503), "{fault:?}");
    });
    join_all(asked).await;
    assert!(items(&lab.dynamodb, &lab.table).await.is_empty());
}

#[tokio::test]
async fn unknown_keys_make_the_issuer_be_asked_once() {
    let lab = Lab::new().await;
    let cloud = cloud().await;
    let issuer = FakeIssuer::start(Fault::None);
    let deps = websocket(&lab, &cloud.deployment.endpoint, &issuer.url).await;
    let good = cloud.issuer.token("alice").unwrap();
    let many = join_all((0..50).map(|_| status(&deps, Some(&good)))).await;
    assert_eq!(many, [401; 50]);
    assert_eq!(status(&deps, Some(&good)).await, 401);
    assert_eq!(issuer.asked.load(Ordering::Relaxed), 1);
}

/// Advances the clock of this test's runtime, which ends whatever waits for it.
async fn pass(minutes: u64) {
    tokio::time::pause();
    tokio::time::advance(Duration::from_secs(minutes * 60 + 1)).await;
    tokio::time::resume();
}

#[tokio::test]
async fn keys_are_found_when_they_are_new_and_kept_for_a_while_when_the_issuer_is_away() {
    let lab = Lab::new().await;
    let cloud = cloud().await;
    let issuer = FakeIssuer::start(Fault::None);
    let deps = websocket(&lab, &cloud.deployment.endpoint, &issuer.url).await;
    let token =
        cloud.issuer.sign(&TokenClaims { iss: issuer.url.clone(), ..cloud.issuer.claims("alice", &[]) }).unwrap();
    let token = Some(token.as_str());
    assert_eq!(status(&deps, token).await, 401);
    issuer.fault.send_replace(Fault::Renewed);
    assert_eq!(status(&deps, token).await, 401, "the issuer was asked a moment ago");
    pass(1).await;
    assert_eq!(status(&deps, token).await, 200);
    assert_eq!(issuer.asked.load(Ordering::Relaxed), 2);
    issuer.fault.send_replace(Fault::NoDocument);
    pass(61).await;
    assert_eq!(status(&deps, token).await, 200, "its keys are good for a while without the issuer");
    pass(60).await;
    assert_eq!(status(&deps, token).await, 503, "its keys are too old");
    issuer.fault.send_replace(Fault::Renewed);
    pass(1).await;
    assert_eq!(status(&deps, token).await, 200);
}

#[tokio::test]
async fn no_token_is_in_a_log_at_any_level() {
    let lab = Lab::new().await;
    let cloud = cloud().await;
    let endpoint = &cloud.deployment.endpoint;
    let settings = [
        ("PUSH_ENDPOINT", endpoint.clone()),
        ("JWT_ISSUER", cloud.issuer.url().to_owned()),
        ("JWT_AUDIENCE", AUDIENCE.to_owned()),
        ("LOG_LEVEL", "trace".to_owned()),
    ];
    let (api, process) = lab.process("websocket", "lambda/websocket/bootstrap", endpoint, settings).await;
    let good = cloud.issuer.token("alice").unwrap();
    for (token, status) in [(good.as_str(), 200), (&good[..good.len() - 4], 401), ("not.a.token", 401)] {
        let event = serde_json::to_vec(&event("connect", "c", Some(token))).unwrap();
        let reply: Value = serde_json::from_slice(&api.invoke(event).await.unwrap()).unwrap();
        assert_eq!(reply, json!({ "statusCode": status }));
    }
    let logged = process.logged().unwrap();
    assert!(logged.contains("\"connected\"") && logged.contains("TRACE"), "{logged}");
    let payload = good.split('.').nth(1).unwrap();
    assert!(!logged.contains(payload) && !logged.contains("not.a.token"), "{logged}");
}
