//! Sample events, completed for the running system: secrets and short-lived values cannot be in a file.

use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, bail};
use sale::{RoundId, RoundNumber};
use serde_json::{Value, json};
use standardwebhooks::Webhook;

use crate::client::Client;
use crate::deployment::Deployment;
use crate::identity::Issuer;
use crate::paths;
use crate::up::running;

/// Folders in events/ that are not samples for a function: messages, and schemas of events.
const NO_FUNCTIONS: [&str; 2] = ["messages", "schemas"];

/// The sample `FUNCTION/NAME` as an event that the running system accepts now. Fails if there is no such sample,
/// nothing is running, or the running system refuses.
pub async fn event(name: &str) -> Result<Value> {
    let sample = read(name)?;
    let (deployment, issuer) = running()?;
    good_now(sample, &deployment, &issuer).await
}

/// The names of all samples, as `FUNCTION/NAME`. Fails if the folder cannot be read.
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

fn read(name: &str) -> Result<Value> {
    let names = names()?;
    if !names.iter().any(|each| each == name) {
        let function = name.split('/').next().unwrap_or_default();
        let near: Vec<&str> =
            names.iter().map(String::as_str).filter(|each| each.split('/').next() == Some(function)).collect();
        let known = if near.is_empty() { names.iter().map(String::as_str).collect() } else { near };
        bail!("no sample {name:?}; there are {}", known.join(", "));
    }
    let file = folder().join(name).with_extension("json");
    let text = std::fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))?;
    serde_json::from_str(&text).with_context(|| format!("{} is not JSON", file.display()))
}

/// Puts a fresh pass, answer, token or signature into a sample that has one, for the user and sale that it names. Other
/// samples stay as they are. Fails if the system does not return what is needed.
pub async fn good_now(mut event: Value, deployment: &Deployment, issuer: &Issuer) -> Result<Value> {
    let user = event["requestContext"]["authorizer"]["jwt"]["claims"]["sub"].as_str().unwrap_or("alice").to_owned();
    let sale = event["pathParameters"]["sale_id"].as_str().unwrap_or_default().to_owned();
    if let Some(old) = event["pathParameters"]["token"].as_str().map(str::to_owned) {
        let round = RoundId { sale: sale.parse()?, number: RoundNumber(1) };
        let pass = deployment.seal_pass(&user.parse()?, &round).await?;
        for place in ["/pathParameters/token", "/rawPath", "/requestContext/http/path"] {
            let text = event.pointer_mut(place).with_context(|| format!("the sample has no {place}"))?;
            *text = json!(text.as_str().unwrap_or_default().replace(&old, &pass));
        }
    }
    if event["routeKey"] == "POST /v1/sales/{sale_id}/tokens" {
        let client = Client::new(&deployment.api_url)?;
        let answered = client.answer_challenge(&issuer.token(&user)?, &sale).await;
        event["body"] = json!(answered.context("the gate gave no challenge")?.to_string());
    }
    if event["queryStringParameters"]["token"].is_string() {
        let token = issuer.token(&user)?;
        event["multiValueQueryStringParameters"]["token"] = json!([token]);
        event["queryStringParameters"]["token"] = json!(token);
    }
    if event["headers"]["webhook-signature"].is_string() {
        let webhook = Webhook::from_bytes(deployment.payment_key().await?.into_bytes())?;
        let id = event["headers"]["webhook-id"].as_str().context("the sample has no webhook-id")?;
        let body = event["body"].as_str().context("the sample has no body")?;
        let now = i64::try_from(SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs())?;
        let signature = webhook.sign(id, now, body.as_bytes())?;
        event["headers"]["webhook-timestamp"] = json!(now.to_string());
        event["headers"]["webhook-signature"] = json!(signature);
    }
    if let Some(length) = event["body"].as_str().map(str::len) {
        event["headers"]["content-length"] = json!(length.to_string());
    }
    Ok(event)
}
