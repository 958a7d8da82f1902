//! The emulator's control plane, for APIs and functions of measurements and tests that no template describes.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};

use crate::archives::archive_of;
use crate::deployment::PATIENCE;
use crate::emulator::{REGION, authorization};
use crate::identity::AUDIENCE;

pub struct Control {
    http: reqwest::Client,
    endpoint: String,
}

/// An HTTP API with one function behind all of its routes.
pub struct MadeApi {
    pub id: String,
    authorizer: String,
    integration: String,
}

impl Control {
    pub fn new(endpoint: &str) -> Self {
        Self { http: reqwest::Client::new(), endpoint: endpoint.to_owned() }
    }

    pub async fn create_function(
        &self,
        name: &str,
        bootstrap: &Path,
        timeout_s: u64,
        environment: &[(&str, String)],
    ) -> Result<()> {
        let variables: serde_json::Map<String, Value> =
            environment.iter().map(|(name, value)| ((*name).to_owned(), json!(value))).collect();
        let function = json!({
            "FunctionName": name, "Runtime": "provided.al2023", "Handler": name, "Timeout": timeout_s,
            "MemorySize": 128, "Role": format!("arn:aws:iam::000000000000:role/{name}"),
            "Environment": { "Variables": variables },
            "Code": { "ZipFile": BASE64_STANDARD.encode(archive_of(bootstrap)?) },
        });
        self.create("/2015-03-31/functions", &function).await.map(drop)
    }

    pub(crate) async fn update_function(&self, name: &str, archive: &[u8]) -> Result<()> {
        let code = json!({ "ZipFile": BASE64_STANDARD.encode(archive) });
        let path = format!("/2015-03-31/functions/{name}/code");
        granted(self.request(Method::PUT, "lambda", &path).json(&code), &path).await.map(drop)
    }

    pub(crate) async fn set_variable(&self, function: &str, name: &str, value: &str) -> Result<()> {
        let path = format!("/2015-03-31/functions/{function}/configuration");
        let found = granted(self.request(Method::GET, "lambda", &path), &path).await?;
        let mut environment = serde_json::from_str::<Value>(&found)?["Environment"].take();
        environment["Variables"][name] = json!(value);
        let asked = self.request(Method::PUT, "lambda", &path).json(&json!({ "Environment": environment }));
        granted(asked, &path).await.map(drop)
    }

    /// The lines that a function that the emulator runs has logged after one moment and until another.
    pub(crate) async fn logged(&self, function: &str, after_ms: i64, until_ms: i64) -> Result<Vec<String>> {
        let mut lines = Vec::new();
        let mut asking = json!({
            "logGroupName": format!("/aws/lambda/{function}"), "startTime": after_ms + 1, "endTime": until_ms,
        });
        loop {
            let answer: Value = self.logs("FilterLogEvents", &asking).send().await?.json().await?;
            // A function that has not run yet has no log.
            let Some(events) = answer["events"].as_array() else { return Ok(lines) };
            lines.extend(events.iter().filter_map(|event| Some(event["message"].as_str()?.to_owned())));
            if answer["nextToken"].is_null() {
                return Ok(lines);
            }
            asking["nextToken"] = answer["nextToken"].clone();
        }
    }

    pub(crate) async fn ask_logs(&self, call: &str, query: &Value) -> Result<Value> {
        let asked = self.logs(call, query).timeout(Duration::from_secs(10));
        let said = granted(asked, call).await.with_context(|| format!("the emulator refuses {call}"))?;
        Ok(serde_json::from_str(&said)?)
    }

    /// Makes an API in front of a function, with an authorizer for tokens of `issuer`, a stage and no route. `more` and
    /// `stage` are what else the control plane takes of API and stage.
    pub async fn create_api(&self, function: &str, issuer: &str, more: Value, stage: Value) -> Result<MadeApi> {
        let api = with(json!({ "name": function, "protocolType": "HTTP" }), more);
        let id = text(&self.create("/v2/apis", &api).await?, "apiId")?;
        let arn = format!("arn:aws:lambda:{REGION}:000000000000:function:{function}");
        let integration =
            json!({ "integrationType": "AWS_PROXY", "integrationUri": arn, "payloadFormatVersion": "2.0" });
        let authorizer = json!({
            "name": "jwt", "authorizerType": "JWT", "identitySource": ["$request.header.Authorization"],
            "jwtConfiguration": { "issuer": issuer, "audience": [AUDIENCE, "another"] },
        });
        let made = |what: &str| format!("/v2/apis/{id}/{what}");
        let integration = text(&self.create(&made("integrations"), &integration).await?, "integrationId")?;
        let authorizer = text(&self.create(&made("authorizers"), &authorizer).await?, "authorizerId")?;
        let stage = with(json!({ "stageName": "$default", "autoDeploy": true }), stage);
        self.create(&made("stages"), &stage).await?;
        Ok(MadeApi { id, authorizer, integration })
    }

    pub async fn create_route(&self, api: &MadeApi, key: &str, with_token: bool, more: Value) -> Result<()> {
        let mut route = json!({ "routeKey": key, "target": format!("integrations/{}", api.integration) });
        if with_token {
            route["authorizationType"] = json!("JWT");
            route["authorizerId"] = json!(api.authorizer);
        }
        self.create(&format!("/v2/apis/{}/routes", api.id), &with(route, more)).await.map(drop)
    }

    pub async fn create(&self, path: &str, item: &Value) -> Result<Value> {
        let service = if path.starts_with("/v2") { "apigateway" } else { "lambda" };
        Ok(serde_json::from_str(&granted(self.request(Method::POST, service, path).json(item), path).await?)?)
    }

    pub async fn delete_api(&self, api: &MadeApi) -> Result<()> {
        let path = format!("/v2/apis/{}", api.id);
        granted(self.request(Method::DELETE, "apigateway", &path), &path).await.map(drop)
    }

    fn logs(&self, call: &str, query: &Value) -> RequestBuilder {
        self.request(Method::POST, "logs", "").header("x-amz-target", format!("Logs_20140328.{call}")).json(query)
    }

    fn request(&self, method: Method, service: &str, path: &str) -> RequestBuilder {
        let request = self.http.request(method, format!("{}{path}", self.endpoint)).timeout(PATIENCE);
        request.header("authorization", authorization(service))
    }
}

/// The body of the answer. A refusal is an error with what the emulator said.
async fn granted(request: RequestBuilder, path: &str) -> Result<String> {
    let answer = request.send().await?;
    let (status, text) = (answer.status(), answer.text().await?);
    ensure!(status.is_success(), "{path}: {status} {text}");
    Ok(text)
}

fn with(mut item: Value, more: Value) -> Value {
    if let (Some(item), Value::Object(more)) = (item.as_object_mut(), more) {
        item.extend(more);
    }
    item
}

fn text(item: &Value, name: &str) -> Result<String> {
    item[name].as_str().map(str::to_owned).with_context(|| format!("no {name} in {item}"))
}
