//! Sample events. A file has what distinguishes an event from others of its kind, in the event's own words; the rest is
//! added here, as are secrets and short-lived values, which cannot be in a file.

use std::collections::{BTreeMap, HashMap};
use std::net::{IpAddr, Ipv4Addr};
use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, bail, ensure};
use axum::body::Bytes;
use axum::http::{HeaderMap, HeaderValue};
use jiff::Timestamp;
use sale::{RoundId, RoundNumber};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use standardwebhooks::Webhook;

use crate::client::Client;
use crate::deployment::Deployment;
use crate::gateway::event::Asked;
use crate::identity::Issuer;
use crate::paths;
use crate::running::running;

/// Folders in events/ that are not samples for a function: messages, and schemas of events.
const NO_FUNCTIONS: [&str; 2] = ["messages", "schemas"];

/// When the samples were taken: 2026-11-24T09:00:00Z.
const TAKEN_AT: Timestamp = Timestamp::constant(1_795_510_800, 0);
const CLIENT: IpAddr = IpAddr::V4(Ipv4Addr::new(203, 0, 113, 7));
const API: &str = "a1b2c3d4e5";
const HEADERS: [(&str, &str); 4] = [
    ("accept", "*/*"),
    ("host", "a1b2c3d4e5.execute-api.eu-central-1.amazonaws.com"),
    ("user-agent", "curl/8.14.1"),
    ("x-amzn-trace-id", "Root=1-69206e80-2f1d0a6b8c9e4d5f6a7b8c9d"),
];
const CLAIMS: [(&str, &str); 4] =
    [("aud", "flash-sale"), ("exp", "1795597200"), ("iat", "1795510800"), ("iss", "https://issuer.example")];
/// The claims of an operator, for samples that have none of their own.
const OPERATOR: [(&str, &str); 2] = [("sub", "olga"), ("groups", "[operators]")];

/// The sample `FUNCTION/NAME` as an event that the running system accepts now.
pub async fn event(name: &str) -> Result<Value> {
    known(name)?;
    let mut sample = read(name)?;
    let (deployment, issuer) = running()?;
    good_now(&mut sample, &deployment, &issuer).await?;
    complete(sample).with_context(|| told(name))
}

/// `events/NAME.json` as an event with the values of its moment, or as it is: a message or a schema.
pub fn sample(name: &str) -> Result<Value> {
    complete(read(name)?).with_context(|| told(name))
}

pub fn names() -> Result<Vec<String>> {
    let mut names = Vec::new();
    for folder in std::fs::read_dir(folder())? {
        let folder = folder?;
        let function = folder.file_name().to_string_lossy().into_owned();
        if NO_FUNCTIONS.contains(&function.as_str()) {
            continue;
        }
        for file in std::fs::read_dir(folder.path())? {
            if let Some(name) = file?.file_name().to_string_lossy().strip_suffix(".json") {
                names.push(format!("{function}/{name}"));
            }
        }
    }
    names.sort();
    Ok(names)
}

fn folder() -> PathBuf {
    paths::root().join("events")
}

fn known(name: &str) -> Result<()> {
    let names = names()?;
    if !names.iter().any(|each| each == name) {
        let function = name.split('/').next().unwrap_or_default();
        let near: Vec<&str> =
            names.iter().map(String::as_str).filter(|each| each.split('/').next() == Some(function)).collect();
        let known = if near.is_empty() { names.iter().map(String::as_str).collect() } else { near };
        bail!("no sample {name:?}; there are {}", known.join(", "));
    }
    Ok(())
}

fn read(name: &str) -> Result<Value> {
    let file = folder().join(format!("{name}.json"));
    let text = std::fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))?;
    serde_json::from_str(&text).with_context(|| format!("{} is not JSON", file.display()))
}

fn told(name: &str) -> String {
    format!("events/{name}.json is not a sample")
}

/// Puts a fresh pass, answer, token or signature into a sample that has one, for its user and sale.
async fn good_now(sample: &mut Value, deployment: &Deployment, issuer: &Issuer) -> Result<()> {
    let user = sample["claims"]["sub"].as_str().unwrap_or("alice").to_owned();
    let sale = sample["pathParameters"]["sale_id"].as_str().unwrap_or_default().to_owned();
    if sample["pathParameters"]["token"].is_string() {
        let round = RoundId { sale: sale.parse()?, number: RoundNumber(1) };
        sample["pathParameters"]["token"] = json!(deployment.seal_pass(&user.parse()?, &round).await?);
    }
    if sample["routeKey"] == "POST /v1/sales/{sale_id}/tokens" {
        let client = Client::new(&deployment.api_url)?;
        let answered = client.answer_challenge(&issuer.token(&user)?, &sale).await;
        sample["body"] = answered.context("the gate gave no challenge")?;
    }
    if sample["queryStringParameters"]["token"].is_string() {
        sample["queryStringParameters"]["token"] = json!(issuer.token(&user)?);
    }
    if sample["headers"]["webhook-signature"].is_string() {
        let webhook = Webhook::from_bytes(deployment.payment_key().await?.into_bytes())?;
        let id = sample["headers"]["webhook-id"].as_str().context("the sample has no webhook-id")?;
        let body = sample.get("body").map(text).context("the sample has no body")?;
        let now = i64::try_from(SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs())?;
        let signature = webhook.sign(id, now, body.as_bytes())?;
        sample["headers"]["webhook-timestamp"] = json!(now.to_string());
        sample["headers"]["webhook-signature"] = json!(signature);
    }
    Ok(())
}

/// The event of a sample, which is of the kind that its members say. Messages and schemas are whole.
fn complete(sample: Value) -> Result<Value> {
    let has = |member: &str| sample.get(member).is_some();
    if has("routeKey") {
        request(serde_json::from_value(sample)?)
    } else if has("requestContext") {
        Ok(connection(serde_json::from_value(sample)?))
    } else if has("messages") {
        Ok(delivery(serde_json::from_value(sample)?))
    } else if has("changes") {
        Ok(changes(serde_json::from_value(sample)?))
    } else if has("schedule") {
        Ok(tick(serde_json::from_value(sample)?))
    } else {
        Ok(sample)
    }
}

/// JSON as a body: text stands for itself.
fn text(body: &Value) -> String {
    body.as_str().map_or_else(|| body.to_string(), str::to_owned)
}

fn owned((name, value): (&str, &str)) -> (String, String) {
    (name.to_owned(), value.to_owned())
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Request {
    route_key: String,
    /// Of the caller's token, without [`CLAIMS`]. Those of an operator go without saying.
    claims: Option<BTreeMap<String, String>>,
    #[serde(default)]
    path_parameters: BTreeMap<String, String>,
    #[serde(default)]
    raw_query_string: String,
    /// Without [`HEADERS`], and what follows from the body.
    #[serde(default)]
    headers: HashMap<String, String>,
    body: Option<Value>,
}

/// The event that the gateway makes of it.
fn request(sample: Request) -> Result<Value> {
    let Request { route_key, claims, path_parameters, raw_query_string, headers, body } = sample;
    let (method, route) = route_key.split_once(' ').context("a route has a method and a path")?;
    let mut path = route.to_owned();
    for (name, value) in &path_parameters {
        let place = format!("{{{name}}}");
        ensure!(path.contains(&place), "{route} has no {place}");
        path = path.replace(&place, value);
    }
    ensure!(!path.contains('{'), "{path} needs another parameter");
    let mut sent = HashMap::from(HEADERS.map(owned));
    if body.is_some() {
        sent.insert("content-type".to_owned(), "application/json".to_owned());
    }
    sent.extend(headers);
    let sent = HeaderMap::<HeaderValue>::try_from(&sent)?;
    let is_operators = route.starts_with("/v1/admin/");
    let claims = claims.or_else(|| is_operators.then(|| BTreeMap::from(OPERATOR.map(owned))));
    let claims = claims.map(|own| {
        let mut claims = BTreeMap::from(CLAIMS.map(owned));
        claims.extend(own);
        (claims, Vec::new())
    });
    let body = Bytes::from(body.as_ref().map(text).unwrap_or_default());
    let event = crate::gateway::event::event(Asked {
        id: "JKJaXmPLvHcESHA=",
        api: API,
        route: &route_key,
        method,
        path: &path,
        query: &raw_query_string,
        headers: &sent,
        parameters: path_parameters.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect(),
        from: CLIENT,
        at: TAKEN_AT,
        claims: claims.as_ref(),
        body: &body,
    })?;
    Ok(serde_json::from_slice(&event)?)
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Connection {
    request_context: Map<String, Value>,
    headers: Option<Map<String, Value>>,
    query_string_parameters: Option<Map<String, Value>>,
    body: Option<Value>,
}

fn connection(sample: Connection) -> Value {
    let Connection { request_context, headers, query_string_parameters, body } = sample;
    let mut event = json!({
        "requestContext": {
            "apiId": "b1c2d3e4f5", "connectedAt": TAKEN_AT.as_millisecond(), "connectionId": "JKJaXf6zPHcCIhw=",
            "domainName": "b1c2d3e4f5.execute-api.eu-central-1.amazonaws.com", "extendedRequestId": "JKJaXmPLvHcFSHA=",
            "identity": { "sourceIp": CLIENT, "userAgent": "Mozilla/5.0" }, "messageDirection": "IN",
            "requestId": "JKJaXmPLvHcFSHA=", "requestTime": "24/Nov/2026:09:00:00 +0000",
            "requestTimeEpoch": TAKEN_AT.as_millisecond() + 1, "stage": "push",
        },
        "isBase64Encoded": false,
    });
    for (name, value) in request_context {
        event["requestContext"][name] = value;
    }
    for (plain, listed, values) in [
        ("headers", "multiValueHeaders", headers),
        ("queryStringParameters", "multiValueQueryStringParameters", query_string_parameters),
    ] {
        let Some(values) = values else { continue };
        let lists = values.iter().map(|(name, value)| (name.clone(), json!([value])));
        event[listed] = Value::Object(lists.collect());
        event[plain] = Value::Object(values);
    }
    if let Some(body) = &body {
        event["body"] = json!(text(body));
    }
    event
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Delivery {
    queue: String,
    messages: Vec<Value>,
}

fn delivery(Delivery { queue, messages }: Delivery) -> Value {
    let record = |(n, message): (usize, &Value)| {
        json!({
            "messageId": format!("059f36b4-87a3-44ab-83d2-{n:012}"),
            "receiptHandle": format!("AQEBwJnKyrHigUMZj6rYigCgxlaS3SLy0a{n}"),
            "body": text(message),
            "attributes": {
                "ApproximateReceiveCount": "1", "SentTimestamp": "1795510800200",
                "SenderId": "AROAEXAMPLE:flash-sale", "ApproximateFirstReceiveTimestamp": "1795510800250",
            },
            "messageAttributes": {}, "eventSource": "aws:sqs", "awsRegion": "eu-central-1",
            "eventSourceARN": format!("arn:aws:sqs:eu-central-1:123456789012:{queue}"),
        })
    };
    json!({ "Records": messages.iter().enumerate().map(record).collect::<Vec<_>>() })
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Changes {
    /// The `dynamodb` of each record, without what follows from its images.
    changes: Vec<Value>,
}

fn changes(Changes { changes }: Changes) -> Value {
    let record = |mut change: Value| {
        let name = if change["OldImage"].is_null() { "INSERT" } else { "MODIFY" };
        change["ApproximateCreationDateTime"] = json!(TAKEN_AT.as_second());
        change["Keys"] = json!({ "pk": change["NewImage"]["pk"] });
        change["StreamViewType"] = json!("NEW_AND_OLD_IMAGES");
        json!({
            "eventID": format!("{:0>32}", change["SequenceNumber"].as_str().unwrap_or_default()),
            "eventName": name, "eventVersion": "1.1", "eventSource": "aws:dynamodb", "awsRegion": "eu-central-1",
            "dynamodb": change,
            "eventSourceARN": "arn:aws:dynamodb:eu-central-1:123456789012:table/flash-sale/stream/2026-11-24T00:00:00.000",
        })
    };
    json!({ "Records": changes.into_iter().map(record).collect::<Vec<_>>() })
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Tick {
    schedule: String,
}

fn tick(Tick { schedule }: Tick) -> Value {
    let arn = format!("arn:aws:scheduler:eu-central-1:123456789012:schedule/default/{schedule}");
    json!({
        "version": "0", "id": "7e0b7f0a-93f2-4b0e-8f0c-5d1b6a1c2e22", "detail-type": "Scheduled Event",
        "source": "aws.scheduler", "account": "123456789012", "time": "2026-11-24T09:00:00Z",
        "region": "eu-central-1", "resources": [arn], "detail": "{}",
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_has_its_routes_parameters_and_no_unknown_member() {
        let route = "GET /v1/sales/{sale_id}/line";
        let good = json!({ "routeKey": route, "pathParameters": { "sale_id": "lamp" }, "rawQueryString": "a=b" });
        let event = complete(good.clone()).unwrap();
        assert_eq!((&event["routeKey"], &event["rawPath"]), (&json!(route), &json!("/v1/sales/lamp/line")));
        assert_eq!(event["queryStringParameters"], json!({ "a": "b" }));
        for (member, wrong) in [
            ("pathParameters", json!({})),
            ("pathParameters", json!({ "sale_id": "lamp", "round": "1" })),
            ("routeKey", json!("$default")),
            ("queryString", json!("a=b")),
        ] {
            let mut sample = good.clone();
            sample[member] = wrong;
            assert!(complete(sample.clone()).is_err(), "{sample}");
        }
    }
}
