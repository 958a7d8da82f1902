//! How long a client may take, and which protocols it may use.

use std::time::{Duration, Instant};

use local::gateway::Gateway;
use tokio::io::AsyncWriteExt;
use tokio::time::sleep_until;

use crate::api::{Api, connect, rest};

/// The gateway's limit for a whole request and for its head, which is `MAX_TIMEOUT` anywhere else.
const LONGEST: Duration = Duration::from_secs(5);

/// One test, so that they have one emulator and wait beside each other.
#[tokio::test(flavor = "multi_thread")]
async fn who_takes_too_long_or_speaks_http_2_is_not_served() {
    let api = Api::open("POST /open").await;
    let gateway = api.serve_within(LONGEST).await.unwrap();
    tokio::join!(
        body_and_function_have_one_limit_together(&gateway),
        a_head_that_does_not_end_is_hung_up_on(&gateway),
        http_2_is_not_spoken_in_the_clear(&gateway),
    );
}

/// The function alone would answer 500 after its own timeout.
async fn body_and_function_have_one_limit_together(gateway: &Gateway) {
    assert_eq!(reqwest::Client::new().post(format!("{}/open", gateway.url())).send().await.unwrap().status(), 200);
    let mut connection = connect(gateway).await;
    let start = tokio::time::Instant::now();
    let head = "POST /open HTTP/1.1\r\nhost: a\r\nx-do: hang\r\nconnection: close\r\ncontent-length: 2\r\n\r\n{";
    connection.write_all(head.as_bytes()).await.unwrap();
    // So late that the function's timeout ends seconds after the request's.
    sleep_until(start + LONGEST - Duration::from_millis(500)).await;
    connection.write_all(b"}").await.unwrap();
    let heard = rest(&mut connection).await;
    assert!(heard.starts_with("HTTP/1.1 503 "), "after {:?}: {heard}", start.elapsed());
    assert!(start.elapsed() >= LONGEST, "after {:?}", start.elapsed());
}

async fn a_head_that_does_not_end_is_hung_up_on(gateway: &Gateway) {
    let mut connection = connect(gateway).await;
    let start = Instant::now();
    connection.write_all(b"POST /open HTTP/1.1\r\nhost: a\r\nx-slow: ").await.unwrap();
    let heard = rest(&mut connection).await;
    assert!(!heard.starts_with("HTTP/1.1 2"), "{heard}");
    assert!(start.elapsed() >= LONGEST - Duration::from_secs(1), "after {:?}", start.elapsed());
}

/// API Gateway speaks HTTP/2 only over TLS.
async fn http_2_is_not_spoken_in_the_clear(gateway: &Gateway) {
    let mut connection = connect(gateway).await;
    let settings = b"\x00\x00\x00\x04\x00\x00\x00\x00\x00";
    connection.write_all(&[&b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"[..], settings].concat()).await.unwrap();
    let heard = rest(&mut connection).await;
    assert!(heard.is_empty() || heard.starts_with("HTTP/1.1 4"), "{heard:?}");
}
