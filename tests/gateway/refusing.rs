//! What the gateway itself refuses: requests beyond its limits, and APIs that it does not support.

use local::gateway::{Concurrency, Gateway};
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;

use crate::api::{Api, connect, rest};

async fn status_of(request: reqwest::RequestBuilder) -> (u16, Value) {
    let answer = request.send().await.unwrap();
    (answer.status().as_u16(), answer.json().await.unwrap())
}

/// One test, because an emulator takes seconds to start.
#[tokio::test(flavor = "multi_thread")]
async fn requests_are_refused_beyond_limits_and_throttles_and_if_they_are_no_http() {
    let mut api = Api::open("POST /open").await;
    let gateway = api.serve(Concurrency::FAST).await.unwrap();
    requests_beyond_the_limits_are_refused(&gateway).await;
    what_is_no_http_does_no_harm(&gateway).await;
    a_route_takes_no_more_than_its_throttle(&mut api).await;
}

async fn requests_beyond_the_limits_are_refused(gateway: &Gateway) {
    let (http, url) = (reqwest::Client::new(), format!("{}/open", gateway.url()));
    let message = |message: &str| json!({ "message": message });

    // The answer comes before the body, so do not send it: a client that is still sending would see a broken connection.
    let mut connection = connect(gateway).await;
    let head = "POST /open HTTP/1.1\r\nhost: a\r\nconnection: close\r\ncontent-length: 10485761\r\n\r\n";
    connection.write_all(head.as_bytes()).await.unwrap();
    let heard = rest(&mut connection).await;
    assert!(heard.starts_with("HTTP/1.1 413 "), "{heard}");
    assert!(heard.ends_with(r#"{"message":"Request Entity Too Large"}"#), "{heard}");
    // Within the gateway's limit, beyond Lambda's.
    let event = http.post(&url).header("content-type", "text/plain").body(vec![b'a'; 7 * 1024 * 1024]);
    assert_eq!(status_of(event).await, (413, message("Request Entity Too Large")));
    let long = http.post(format!("{url}?{}", "q".repeat(11_000)));
    assert_eq!(status_of(long).await, (414, message("URI Too Long")));
    assert_eq!(status_of(http.post(&url).header("x-long", "h".repeat(11_000))).await, (414, message("URI Too Long")));
    let allowed = http.post(&url).header("content-type", "text/plain").body(vec![b'a'; 2 * 1024 * 1024]);
    assert_eq!(allowed.send().await.unwrap().status(), 200);
}

async fn a_route_takes_no_more_than_its_throttle(api: &mut Api) {
    let stage = json!({
        "defaultRouteSettings": { "throttlingRateLimit": 1000.0, "throttlingBurstLimit": 1000 },
        "routeSettings": { "GET /few": { "throttlingRateLimit": 1.0, "throttlingBurstLimit": 5 } },
    });
    api.replace(stage).await;
    for key in ["GET /few", "GET /many"] {
        api.route(key, false, json!({})).await;
    }
    let gateway = api.serve(Concurrency::FAST).await.unwrap();
    let http = reqwest::Client::new();
    let start = std::time::Instant::now();
    let mut taken = 0;
    for _ in 0..50 {
        let (status, body) = status_of(http.get(format!("{}/few", gateway.url()))).await;
        match status {
            200 => taken += 1,
            429 => assert_eq!(body, json!({ "message": "Too Many Requests" })),
            other => panic!("{other} {body}"),
        }
        assert_eq!(status_of(http.get(format!("{}/many", gateway.url()))).await.0, 200);
    }
    // Each second that this took allows one more.
    let most = 5 + start.elapsed().as_secs() + 1;
    assert!((5..=most).contains(&taken), "{taken} of at most {most}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_of_another_origin_is_told_what_it_may() {
    let cors = json!({
        "allowOrigins": ["https://shop.example"], "allowMethods": ["GET", "POST"], "allowHeaders": ["authorization"],
        "exposeHeaders": ["retry-after"], "maxAge": 600,
    });
    let api = Api::with(json!({ "corsConfiguration": cors }), &[]).await;
    api.route("GET /open", false, json!({})).await;
    let gateway = api.serve(Concurrency::FAST).await.unwrap();
    let http = reqwest::Client::new();
    for base in [gateway.url(), api.emulators_url()] {
        let url = format!("{base}/open");
        let preflight = http.request(reqwest::Method::OPTIONS, &url).header("origin", "https://shop.example");
        let preflight = preflight.header("access-control-request-method", "GET").send().await.unwrap();
        assert_eq!(preflight.status(), 204, "{url}");
        let said = |answer: &reqwest::Response, name: &str| {
            answer.headers().get(name).map(|value| value.to_str().unwrap().to_owned())
        };
        for (name, value) in [
            ("access-control-allow-origin", "https://shop.example"),
            ("access-control-allow-methods", "GET,POST"),
            ("access-control-allow-headers", "authorization"),
            ("access-control-max-age", "600"),
        ] {
            assert_eq!(said(&preflight, name).as_deref(), Some(value), "{url} {name}");
        }
        let answer = http.get(&url).header("origin", "https://shop.example").send().await.unwrap();
        assert_eq!(said(&answer, "access-control-allow-origin").as_deref(), Some("https://shop.example"), "{url}");
        assert_eq!(said(&answer, "access-control-expose-headers").as_deref(), Some("retry-after"), "{url}");
        let other = http.get(&url).header("origin", "https://elsewhere.example").send().await.unwrap();
        assert_eq!(said(&other, "access-control-allow-origin"), None, "{url}");
    }
}

/// Input that is not HTTP gets an answer or is disconnected, and does no harm.
async fn what_is_no_http_does_no_harm(gateway: &Gateway) {
    let tries: [&[u8]; 8] = [
        b"\r\n\r\n",
        b"nonsense\r\n\r\n",
        b"GET\r\n\r\n",
        b"GET /open HTTP/9.9\r\n\r\n",
        b"GET /open\x00 HTTP/1.1\r\nhost: a\r\n\r\n",
        b"POST /open HTTP/1.1\r\nhost: a\r\ncontent-length: -1\r\n\r\n",
        b"POST /open HTTP/1.1\r\nhost: a\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
    ];
    for sent in tries {
        let mut connection = connect(gateway).await;
        connection.write_all(sent).await.unwrap();
        connection.shutdown().await.unwrap();
        let heard = rest(&mut connection).await;
        assert!(heard.is_empty() || heard.starts_with("HTTP/1.1 4"), "{sent:?}: {heard}");
    }
    assert_eq!(reqwest::Client::new().post(format!("{}/open", gateway.url())).send().await.unwrap().status(), 200);
}

async fn refused(api: &Api) -> String {
    let error = api.serve(Concurrency::FAST).await.err().expect("an unsupported API is served");
    format!("{error:#}")
}

/// One test, because an emulator takes seconds to start.
#[tokio::test(flavor = "multi_thread")]
async fn an_api_with_a_part_that_it_does_not_know_is_not_served() {
    let mut api = Api::open("GET /open").await;
    drop(api.serve(Concurrency::FAST).await.unwrap());
    // A route of another integration, beside one that is known.
    let other = json!({
        "integrationType": "HTTP_PROXY", "integrationUri": "https://elsewhere.example", "integrationMethod": "GET",
        "payloadFormatVersion": "1.0",
    });
    let other = api.create_in("integrations", &other).await;
    let target = format!("integrations/{}", other["integrationId"].as_str().unwrap());
    api.create_in("routes", &json!({ "routeKey": "GET /elsewhere", "target": target })).await;
    let said = refused(&api).await;
    assert!(said.contains("GET /elsewhere") && said.contains("HTTP_PROXY"), "{said}");

    let mapped = json!({ "requestParameters": { "x": { "required": true } } });
    let throttle = |per_s: f64| json!({ "throttlingRateLimit": per_s, "throttlingBurstLimit": 1 });
    for (stage, key, more, expected) in [
        (json!({}), "ANY /any", json!({}), "any method"),
        (json!({}), "GET /keyed", json!({ "apiKeyRequired": true }), "API key"),
        (json!({}), "GET /iam", json!({ "authorizationType": "AWS_IAM" }), "AWS_IAM"),
        (json!({}), "GET /mapped", mapped, "requestParameters"),
        (json!({ "stageVariables": { "color": "blue" } }), "GET /open", json!({}), "variables"),
        (json!({ "stageName": "beta" }), "GET /open", json!({}), "beta"),
        (json!({ "clientCertificateId": "abc" }), "GET /open", json!({}), "clientCertificateId"),
        (json!({ "routeSettings": { "GET /gone": throttle(1.0) } }), "GET /open", json!({}), "GET /gone"),
        (json!({ "defaultRouteSettings": throttle(0.5) }), "GET /open", json!({}), "throttle"),
    ] {
        api.replace(stage).await;
        api.route(key, false, more).await;
        let said = refused(&api).await;
        assert!(said.contains(expected), "{key}: {said}");
    }
    api.control.create("/v2/apis", &json!({ "name": "another", "protocolType": "HTTP" })).await.unwrap();
    assert!(refused(&api).await.contains("2 HTTP APIs"));
}
