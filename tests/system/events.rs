//! The sample events in `events/`, and others like them.

use aws_sdk_sqs::types::MessageSystemAttributeName;
use lambda_http::Request;

use crate::prelude::*;

pub(crate) fn sample(name: &str) -> Value {
    local::event::sample(name).unwrap_or_else(|error| panic!("{error:#}"))
}

pub(crate) fn request(event: &Value) -> Request {
    api::with_uri(serde_json::from_value(event.clone()).expect("the event is one of API Gateway")).into()
}

pub(crate) fn sqs(event: &Value) -> SqsEvent {
    serde_json::from_value(event.clone()).expect("the event is one of SQS")
}

/// A first delivery of messages with these bodies.
pub(crate) fn batch<B: Into<String>>(bodies: impl IntoIterator<Item = B>) -> SqsEvent {
    let sample = sample("order/one");
    let records = bodies.into_iter().map(|body| {
        let mut record = sample["Records"][0].clone();
        record["messageId"] = json!(Uuid::now_v7().to_string());
        record["body"] = json!(body.into());
        record
    });
    sqs(&json!({ "Records": records.collect::<Vec<_>>() }))
}

pub(crate) fn received<'a>(messages: impl IntoIterator<Item = &'a Message>) -> SqsEvent {
    let records = messages.into_iter().map(|message| {
        let count = &message.attributes().unwrap()[&MessageSystemAttributeName::ApproximateReceiveCount];
        json!({
            "messageId": message.message_id(),
            "receiptHandle": message.receipt_handle(),
            "body": message.body(),
            "attributes": { "ApproximateReceiveCount": count },
        })
    });
    sqs(&json!({ "Records": records.collect::<Vec<_>>() }))
}

/// The gateway's event for a request, without the body.
pub(crate) fn http(ask: &Ask) -> Value {
    let mut event = sample("reservation/reserve");
    let (path, query) = ask.path.split_once('?').unwrap_or((&ask.path, ""));
    let path = unescaped(path);
    event["rawPath"] = json!(path);
    event["rawQueryString"] = json!(query);
    event["requestContext"]["http"]["path"] = json!(path);
    event["requestContext"]["http"]["method"] = json!(ask.method);
    if let Some(address) = &ask.address {
        event["requestContext"]["http"]["sourceIp"] = json!(address);
    }
    let claims = &mut event["requestContext"]["authorizer"]["jwt"]["claims"];
    match &ask.who {
        Who::User(user) => claims["sub"] = json!(user),
        Who::Operator(user) => {
            claims["sub"] = json!(user);
            claims["groups"] = json!("[operators]");
        }
        Who::Nobody => {
            event["requestContext"].as_object_mut().unwrap().remove("authorizer");
        }
    }
    let headers = event["headers"].as_object_mut().unwrap();
    headers.remove("idempotency-key");
    headers.extend(ask.headers.iter().map(|(name, value)| ((*name).to_owned(), json!(value))));
    event
}

/// Percent-decodes a path, as the gateway does.
fn unescaped(path: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = path;
    while let Some((plain, escape)) = rest.split_once('%') {
        bytes.extend(plain.bytes());
        bytes.push(u8::from_str_radix(&escape[..2], 16).expect("two hexadecimal digits"));
        rest = &escape[2..];
    }
    bytes.extend(rest.bytes());
    String::from_utf8_lossy(&bytes).into_owned()
}
