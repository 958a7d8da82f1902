//! A function that answers with its event, or does what the event's `x-do` header says. The `START` setting can stop it from
//! starting.

use std::time::Duration;

use lambda_runtime::{Error, LambdaEvent, service_fn};
use serde_json::{Value, json};

/// Longer than every timeout.
const FOREVER: Duration = Duration::from_secs(600);

#[tokio::main]
async fn main() -> Result<(), Error> {
    match std::env::var("START").as_deref() {
        Ok("exit") => std::process::exit(1),
        Ok("hang") => tokio::time::sleep(FOREVER).await,
        _ => {}
    }
    lambda_runtime::run_concurrent(service_fn(echo)).await
}

async fn echo(event: LambdaEvent<Value>) -> Result<Value, Error> {
    let event = event.payload;
    let headers = &event["headers"];
    match headers["x-do"].as_str() {
        None => Ok(json!({
            "statusCode": 200,
            "headers": { "content-type": "application/json", "cache-control": "no-store" },
            "body": event.to_string(),
        })),
        Some("answer") => Ok(serde_json::from_str(headers["x-answer"].as_str().unwrap_or("null"))?),
        Some("fail") => Err("told to fail".into()),
        Some("die") => std::process::exit(1),
        Some("hang") => {
            tokio::time::sleep(FOREVER).await;
            Ok(Value::Null)
        }
        Some(other) => Err(format!("unknown x-do: {other}").into()),
    }
}
