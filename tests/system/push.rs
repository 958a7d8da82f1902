//! Buyers hear what became of their reservations: the functions on a lab's table, and a socket to the deployed system.

use aws_lambda_events::apigw::ApiGatewayWebsocketProxyRequest;
use ledger::{Connection, MAX_CONNECTIONS, Payment};
use local::identity::AUDIENCE;
use tokio_tungstenite::tungstenite::{Error, Message};
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async};

use crate::merchant_events::{batch, failed, new_order};
use crate::prelude::*;
use crate::push_gateway::{Conduct, PushGateway};

/// The longest wait for a message over a socket.
const TOLD_WITHIN: Duration = Duration::from_secs(90);

pub(crate) type Socket = WebSocketStream<MaybeTlsStream<tokio::net::TcpStream>>;

pub(crate) fn event(name: &str, connection: &str, token: Option<&str>) -> ApiGatewayWebsocketProxyRequest {
    let mut event = sample(&format!("websocket/{name}"));
    event["requestContext"]["connectionId"] = json!(connection);
    match token {
        Some(token) => event["queryStringParameters"]["token"] = json!(token),
        None => event["queryStringParameters"] = Value::Null,
    }
    serde_json::from_value(event).expect("the event is one of a WebSocket API")
}

/// A lab's context with connections at `endpoint` and users from `issuer`.
async fn pushing(lab: &Lab, endpoint: &str, issuer: &str) -> Context {
    let settings = lab.settings().with("PUSH_ENDPOINT", endpoint).with("JWT_ISSUER", issuer);
    let settings = settings.with("JWT_AUDIENCE", AUDIENCE);
    Context::new(settings, cloud().await.deployment.aws_config(), Clock::system()).with(lab.ledger.clone())
}

pub(crate) async fn websocket(lab: &Lab, endpoint: &str, issuer: &str) -> websocket::WebsocketDeps {
    websocket::WebsocketDeps::new(&pushing(lab, endpoint, issuer).await).unwrap()
}

pub(crate) async fn notifier(lab: &Lab, endpoint: &str) -> notifier::NotifierDeps {
    notifier::NotifierDeps::new(&pushing(lab, endpoint, "nobody").await).unwrap()
}

async fn connected(lab: &Lab, name: &str, id: &str, ago_s: i64) {
    let connected_at_ms = EpochMs(now().0 - ago_s * 1000);
    lab.ledger.connect(&Connection { id: id.to_owned(), user: user(name), connected_at_ms }).await.unwrap();
}

pub(crate) async fn connections(lab: &Lab) -> Vec<String> {
    let items = items(&lab.dynamodb, &lab.table).await;
    items.into_keys().filter_map(|pk| Some(pk.strip_prefix("CONN#")?.to_owned())).collect()
}

fn record(name: &str, place: u32) -> Value {
    new_order("emitter/placed", name, place)
}

#[tokio::test]
async fn the_oldest_of_too_many_connections_is_ended() {
    let lab = Lab::new().await;
    let gateway = PushGateway::start();
    let issuer = &cloud().await.issuer;
    let deps = websocket(&lab, &gateway.endpoint(), issuer.url()).await;
    for ago_s in 1..=i64::try_from(MAX_CONNECTIONS).unwrap() {
        connected(&lab, "alice", &format!("alice-{ago_s:02}"), ago_s).await;
    }
    connected(&lab, "bob", "bob", 60).await;
    let token = issuer.token("alice").unwrap();
    assert_eq!(websocket::handle(&deps, event("connect", "new", Some(&token))).await.status_code, 200);
    let mut expected: Vec<String> = (1..10).map(|ago_s| format!("alice-{ago_s:02}")).collect();
    expected.extend(["bob".to_owned(), "new".to_owned()]);
    assert_eq!(connections(&lab).await, expected);
    assert_eq!(gateway.closed(), ["alice-10"]);
}

#[tokio::test]
async fn a_connection_that_ends_is_forgotten_and_no_message_is_taken() {
    let lab = Lab::new().await;
    let issuer = &cloud().await.issuer;
    let deps = websocket(&lab, &cloud().await.deployment.endpoint, issuer.url()).await;
    let token = issuer.token("alice").unwrap();
    assert_eq!(websocket::handle(&deps, event("connect", "a", Some(&token))).await.status_code, 200);
    assert_eq!(connections(&lab).await, ["a"]);
    let before = items(&lab.dynamodb, &lab.table).await;
    assert!(before["CONN#a"].contains_key("expires_at"), "it expires by itself: {before:?}");
    for _ in 0..2 {
        assert_eq!(websocket::handle(&deps, event("message", "a", Some(&token))).await.status_code, 400);
    }
    assert_eq!(items(&lab.dynamodb, &lab.table).await, before);
    for _ in 0..2 {
        assert_eq!(websocket::handle(&deps, event("disconnect", "a", None)).await.status_code, 200);
        assert_eq!(connections(&lab).await, [""; 0]);
    }
}

#[tokio::test]
async fn every_connection_of_the_buyer_hears_and_nobody_elses() {
    let lab = Lab::new().await;
    let gateway = PushGateway::start();
    let deps = notifier(&lab, &gateway.endpoint()).await;
    connected(&lab, "alice", "alice-phone", 5).await;
    connected(&lab, "alice", "alice-desk", 9).await;
    connected(&lab, "bob", "bob", 5).await;
    connected(&lab, "alice", "ended-hours-ago", 2 * 60 * 60).await;
    for name in ["emitter/placed", "emitter/paid", "notifier/with_poison"] {
        let event = serde_json::from_value(sample(name)).unwrap();
        assert_eq!(failed(&notifier::handle(&deps, event).await), [""; 0], "{name}");
    }
    let id = "lamp.1.0198f0b2a4c57d1e8f00aabbccddeeff";
    let message = |status| json!({ "type": "reservation", "reservation_id": id, "status": status });
    let mut placed = message("pending_payment");
    placed["pay_by"] = json!("2026-11-24T09:10:01Z");
    let heard = [placed, message("paid"), message("cancelled")];
    for connection in ["alice-phone", "alice-desk"] {
        assert_eq!(gateway.heard(connection), heard, "{connection}");
    }
    for connection in ["bob", "ended-hours-ago"] {
        assert_eq!(gateway.heard(connection), [Value::Null; 0], "{connection}");
    }
}

#[tokio::test]
async fn a_connection_that_has_ended_is_forgotten() {
    let lab = Lab::new().await;
    // The emulator says that a connection that it does not know is gone.
    let endpoint = format!("{}/_aws/execute-api/0a1b2c3d/push", cloud().await.deployment.endpoint);
    let deps = notifier(&lab, &endpoint).await;
    connected(&lab, "alice", "gone=", 5).await;
    connected(&lab, "bob", "unasked", 5).await;
    assert_eq!(failed(&notifier::handle(&deps, batch(&[record("alice", 1)])).await), [""; 0]);
    assert_eq!(connections(&lab).await, ["unasked"]);
}

#[tokio::test]
async fn one_connection_that_fails_takes_nothing_from_the_others() {
    let lab = Lab::new().await;
    let gateway = PushGateway::start();
    let deps = notifier(&lab, &gateway.endpoint()).await;
    for (name, connection) in [("alice", "alice-1"), ("alice", "alice-2"), ("bob", "bob"), ("carol", "carol")] {
        connected(&lab, name, connection, 5).await;
    }
    let records = [record("alice", 1), record("bob", 2), record("carol", 3), record("nobody", 4)];
    let heard = || ["alice-1", "alice-2", "bob", "carol"].map(|connection| gateway.heard(connection).len());

    gateway.set("alice-2", Conduct::Fails);
    gateway.set("bob", Conduct::Hangs);
    let response = notifier::handle(&deps, batch(&records)).await;
    let mut again = failed(&response);
    again.sort_unstable();
    assert_eq!(again, ["1", "2"]);
    assert_eq!(heard(), [1, 0, 0, 1]);

    // Lambda delivers the first failed record again, and all after it. A connection that has heard it does not hear it
    // twice.
    gateway.set("alice-2", Conduct::Takes);
    gateway.set("bob", Conduct::Takes);
    assert_eq!(failed(&notifier::handle(&deps, batch(&records)).await), [""; 0]);
    assert_eq!(heard(), [1, 1, 1, 1]);

    // Another process does not know who has heard. The promise is at least once.
    let another = notifier(&lab, &gateway.endpoint()).await;
    assert_eq!(failed(&notifier::handle(&another, batch(&records)).await), [""; 0]);
    assert_eq!(heard(), [2, 2, 2, 2]);
}

/// A client of the deployed API, or the status with which it was refused.
pub(crate) async fn dial(token: &str) -> Result<Socket, u16> {
    let url = cloud().await.deployment.push_url.as_deref().expect("the stack has a WebSocket API");
    match connect_async(format!("{url}?token={token}")).await {
        Ok((socket, _)) => Ok(socket),
        Err(Error::Http(refusal)) => Err(refusal.status().as_u16()),
        Err(error) => panic!("{error}"),
    }
}

pub(crate) async fn next(socket: &mut Socket) -> Value {
    let message = tokio::time::timeout(TOLD_WITHIN, socket.next());
    match message.await.expect("a message in time").expect("the socket is open").unwrap() {
        Message::Text(text) => serde_json::from_str(&text).unwrap(),
        other => panic!("{other:?}"),
    }
}

/// Places an order of a sale that the deployed table does not have, so that no function touches it.
async fn place(ledger: &Ledger, name: &str) -> Order {
    let unit = Uuid::now_v7().as_u128() as u32;
    let now = now();
    let reservation =
        Reservation { reserved_at_ms: now, ..fresh_reservation(&round("push-nowhere", 1), &user(name), unit, 0) };
    rounds::place(ledger, Order::pending(reservation, terms(1, 1).price, now, now.plus_s(3600))).await
}

#[tokio::test]
async fn a_buyer_hears_of_an_order_on_the_deployed_socket() {
    let cloud = cloud().await;
    let dynamodb = aws_sdk_dynamodb::Client::new(&cloud.deployment.patient_aws_config());
    let ledger = Ledger::new(dynamodb, &cloud.deployment.table);
    let name = format!("listener-{}", Uuid::new_v4().as_simple());
    let began = now();
    let mut expired = cloud.issuer.claims(&name, &[]);
    expired.exp = expired.iat - 60;
    for refused in ["", "x", &cloud.issuer.sign(&expired).unwrap()] {
        // The emulator answers 403 whatever the function says.
        let status = dial(refused).await.expect_err("it is refused");
        assert!(status == 401 || status == 403, "{status}");
    }
    assert_eq!(ledger.connections_of(&user(&name), began).await.unwrap(), []);

    let mut socket = dial(&cloud.issuer.token(&name).unwrap()).await.unwrap();
    assert_eq!(ledger.connections_of(&user(&name), began).await.unwrap().len(), 1);
    let unpaid = place(&ledger, &name).await;
    assert_eq!(next(&mut socket).await["status"], "pending_payment");
    ledger.end_unpaid(&unpaid, sale::Transition::Expire, unpaid.pay_by_ms.unwrap()).await.unwrap();
    assert_eq!(next(&mut socket).await["status"], "expired");
    let order = place(&ledger, &name).await;
    let heard = next(&mut socket).await;
    assert_eq!((&heard["reservation_id"], &heard["status"]), (&json!(order.reservation.id), &json!("pending_payment")));
    let payment = format!("pay_{name}");
    let paid = ledger.pay(&order.reservation.id, &payment, order.price.unwrap(), now()).await.unwrap();
    assert_eq!(paid, Payment::Applied);
    let heard = next(&mut socket).await;
    assert_eq!(heard, json!({ "type": "reservation", "reservation_id": order.reservation.id, "status": "paid" }));

    socket.close(None).await.unwrap();
    until("the connection is forgotten", async || {
        ledger.connections_of(&user(&name), began).await.unwrap().is_empty().then_some(())
    })
    .await;
}
