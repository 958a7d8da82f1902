//! Sends a few hundred requests to the emulator's gateway and to ours, and compares status, headers, body, and the event that
//! the function got. Every difference must be a known one with a reason.

use std::collections::BTreeMap;

use local::gateway::Concurrency;
use reqwest::Method;
use serde_json::{Value, json};

use crate::api::Api;
use crate::requests::{ROUTES, SUBJECT, Sent, all};

/// A client's result.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Got {
    status: u16,
    headers: BTreeMap<String, Vec<String>>,
    body: Vec<u8>,
}

/// Headers that matter to clients.
const RELEVANT: &str = "content-type cache-control location retry-after set-cookie x-custom vary \
     access-control-allow-origin allow";

/// Fields of an event that differ every time, or by their nature between gateways.
const OF_ITS_OWN: &str = "/requestContext/requestId /requestContext/time /requestContext/timeEpoch \
     /requestContext/domainName /requestContext/domainPrefix /headers/host";

/// Known differences: a name, and why ours is right.
const KNOWN: [(&str, &str); 9] = [
    ("forwarded", "API Gateway adds x-forwarded-for and x-forwarded-proto, and so do we; the emulator does not"),
    ("length", "API Gateway always passes a content-length, 0 without a body; the emulator only one from the client"),
    ("cookies", "payload format 2.0 has cookies separate from headers; the emulator leaves them in"),
    ("parameters", "a route without parameters has no pathParameters; the emulator gives null"),
    ("failed", "when a function fails, API Gateway answers 500; the emulator shows its error, as 502, or nothing"),
    ("options", "without CORS, OPTIONS is an ordinary method without a route here; the emulator answers 403"),
    ("slashes", "the emulator looks for a stage in the first segment of a path, and loses the slashes around it"),
    ("expiry", "a token must have an expiry; the emulator accepts one without"),
    ("subject", "a subject must be a string (RFC 7519, section 4.1.2); the emulator accepts others"),
];

/// Paths whose slashes the emulator loses, and our status for them: extra leading slashes do not matter.
const SLASHES: [(&str, u16); 3] = [("/open/", 404), ("//open", 200), ("///open", 200)];

fn client() -> reqwest::Client {
    reqwest::Client::builder().redirect(reqwest::redirect::Policy::none()).build().unwrap()
}

/// `host` tells the emulator which API is meant.
async fn send(http: &reqwest::Client, base: &str, host: Option<&str>, sent: &Sent) -> Got {
    let mut request = http.request(sent.method.parse::<Method>().unwrap(), format!("{base}{}", sent.path));
    for (name, value) in &sent.headers {
        request = request.header(name, value);
    }
    if let Some(host) = host {
        request = request.header("host", host);
    }
    // The emulator's server closes the connection if it does not understand a function's answer.
    let Ok(answer) = request.body(sent.body.clone()).send().await else {
        return Got { status: 500, headers: BTreeMap::new(), body: Vec::new() };
    };
    let status = answer.status().as_u16();
    let mut headers: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (name, value) in answer.headers() {
        if RELEVANT.split(' ').any(|relevant| relevant == name.as_str()) {
            headers.entry(name.to_string()).or_default().push(value.to_str().unwrap().to_owned());
        }
    }
    Got { status, headers, body: answer.bytes().await.unwrap().to_vec() }
}

/// The function's event, if it answered with that, without the fields that always differ.
fn event(got: &Got) -> Option<Value> {
    let mut event: Value = serde_json::from_slice(&got.body).ok()?;
    (event["version"] == "2.0").then_some(())?;
    for place in OF_ITS_OWN.split(' ') {
        let (parent, name) = place.rsplit_once('/').unwrap();
        event.pointer_mut(parent)?.as_object_mut()?.remove(name);
    }
    Some(event)
}

/// The known differences between two answers. An error if there is an unknown one.
fn differences(sent: &Sent, theirs: &Got, ours: &Got) -> Result<Vec<&'static str>, String> {
    if let Some((_, expected)) = SLASHES.iter().find(|(path, _)| *path == sent.path) {
        assert_eq!((theirs.status, ours.status), (200, *expected), "{sent}");
        return Ok(vec!["slashes"]);
    }
    let mut found = Vec::new();
    let (mut theirs, mut ours) = (plain(theirs), plain(ours));
    if let (Some(mut their_event), Some(mut our_event)) = (event(&theirs), event(&ours)) {
        let mut take = |name: &'static str, place: &str, parent: &str| {
            let key = place.rsplit('/').next().unwrap();
            let remove = |event: &mut Value| event.pointer_mut(parent)?.as_object_mut()?.remove(key);
            if remove(&mut their_event) != remove(&mut our_event) {
                found.push(name);
            }
        };
        take("forwarded", "x-forwarded-for", "/headers");
        take("forwarded", "x-forwarded-proto", "/headers");
        take("length", "content-length", "/headers");
        take("cookies", "cookie", "/headers");
        take("cookies", "cookies", "");
        if their_event["pathParameters"].is_null() && our_event.get("pathParameters").is_none() {
            found.push("parameters");
            their_event.as_object_mut().unwrap().remove("pathParameters");
        }
        if their_event != our_event {
            return Err(format!("{sent}\n  theirs {their_event}\n  ours   {our_event}"));
        }
        theirs.body.clear();
        ours.body.clear();
    }
    if sent.method == "OPTIONS" && (theirs.status, ours.status) == (403, 404) {
        return Ok(vec!["options"]);
    }
    if sent.what.contains(r#""exp":null"#) && ours.status == 401 {
        return Ok(vec!["expiry"]);
    }
    if sent.what.starts_with(SUBJECT) {
        assert_eq!(ours.status, 401, "{sent}");
        return Ok(vec!["subject"]);
    }
    let is_an_answer = sent.what.contains(r#""statusCode":5"#);
    if !is_an_answer && ours.status == 500 && matches!(theirs.status, 500 | 502) {
        assert_eq!(ours.body, br#"{"message":"Internal Server Error"}"#, "{sent}");
        found.push("failed");
        return Ok(found);
    }
    if theirs != ours {
        return Err(format!("{sent}\n  theirs {}\n  ours   {}", told(&theirs), told(&ours)));
    }
    found.sort_unstable();
    found.dedup();
    Ok(found)
}

/// JSON without insignificant whitespace.
fn plain(got: &Got) -> Got {
    let body = serde_json::from_slice::<Value>(&got.body)
        .map_or_else(|_| got.body.clone(), |body| body.to_string().into_bytes());
    Got { body, ..got.clone() }
}

fn told(got: &Got) -> String {
    format!("{} {:?} {:.300}", got.status, got.headers, String::from_utf8_lossy(&got.body))
}

#[tokio::test(flavor = "multi_thread")]
async fn both_gateways_do_the_same() {
    let api = Api::with(json!({}), &[]).await;
    for (key, with_token, scopes) in ROUTES {
        let more = if scopes.is_empty() { json!({}) } else { json!({ "authorizationScopes": scopes }) };
        api.route(key, with_token, more).await;
    }
    let gateway = api.serve(Concurrency::FAST).await.unwrap();
    let requests = all(&api.issuer);
    let (http, host) =
        (client(), format!("{}.execute-api.{}", api.made.id, api.emulator.endpoint().trim_start_matches("http://")));
    let (mut unknown, mut known) = (Vec::new(), BTreeMap::<&str, usize>::new());
    for sent in &requests {
        let theirs = send(&http, &api.emulator.endpoint(), Some(&host), sent).await;
        let ours = send(&http, &gateway.url(), None, sent).await;
        match differences(sent, &theirs, &ours) {
            Ok(found) => found.into_iter().for_each(|name| *known.entry(name).or_default() += 1),
            Err(difference) => unknown.push(difference),
        }
    }
    println!("{} requests; {} with unknown differences; known differences:", requests.len(), unknown.len());
    for (name, count) in &known {
        let reason = KNOWN.iter().find(|(known, _)| known == name).map_or("no reason", |(_, reason)| reason);
        println!("  {count:>4} {name}: {reason}");
    }
    assert!(unknown.is_empty(), "{}", unknown.join("\n"));
    let unused: Vec<_> = KNOWN.iter().filter(|(name, _)| !known.contains_key(name)).collect();
    assert!(unused.is_empty(), "known differences that no request shows: {unused:?}");
    assert!(requests.len() > 300, "{} requests", requests.len());
}
