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
