//! An HTTP API of a test's own on an emulator of its own, with the echo function behind it.

use std::io::Write;
use std::path::Path;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use local::emulator::{ACCESS_KEY, Emulator, REGION};
use local::gateway::{Concurrency, Gateway};
use local::identity::{AUDIENCE, Issuer};
use local::install::install;
use local::valkey::Valkey;
use serde_json::{Value, json};
use tokio::task::spawn_blocking;

/// The function's name, and the seconds that it has for an event.
pub(crate) const FUNCTION: &str = "echo";
pub(crate) const TIMEOUT_S: u64 = 3;

/// An emulator with an API. Dropping it ends it.
pub(crate) struct Api {
    pub(crate) emulator: Emulator,
    pub(crate) issuer: Issuer,
    pub(crate) id: String,
    http: reqwest::Client,
    authorizer: String,
    integration: String,
    _valkey: Valkey,
}

impl Api {
    /// One with a stage and without a route. `cors` is as the control plane takes it.
    pub(crate) async fn with(cors: Option<Value>, stage: Value) -> Self {
        let (valkey, emulator) = spawn_blocking(|| {
            install().unwrap();
            let valkey = Valkey::start().unwrap();
            let emulator = Emulator::start(valkey.port()).unwrap();
            (valkey, emulator)
        })
        .await
        .unwrap();
        let issuer = Issuer::publish(&emulator.endpoint()).await.unwrap();
        let http = reqwest::Client::new();
        let mut api = Self {
            http,
            issuer,
            emulator,
            id: String::new(),
            authorizer: String::new(),
            integration: String::new(),
            _valkey: valkey,
        };
        api.create_function().await;
        let mut made = json!({ "name": "echo", "protocolType": "HTTP" });
        if let Some(cors) = cors {
            made["corsConfiguration"] = cors;
        }
        api.id = api.create("/v2/apis", &made).await["apiId"].as_str().unwrap().to_owned();
        let arn = format!("arn:aws:lambda:{REGION}:000000000000:function:{FUNCTION}");
        let integration =
            json!({ "integrationType": "AWS_PROXY", "integrationUri": arn, "payloadFormatVersion": "2.0" });
        api.integration =
            api.create_in("integrations", &integration).await["integrationId"].as_str().unwrap().to_owned();
        let authorizer = json!({
            "name": "jwt", "authorizerType": "JWT", "identitySource": ["$request.header.Authorization"],
            "jwtConfiguration": { "issuer": api.issuer.url(), "audience": [AUDIENCE, "another"] },
        });
        api.authorizer = api.create_in("authorizers", &authorizer).await["authorizerId"].as_str().unwrap().to_owned();
        let mut made = json!({ "stageName": "$default", "autoDeploy": true });
        made.as_object_mut().unwrap().extend(stage.as_object().unwrap().clone());
        api.create_in("stages", &made).await;
        api
    }

    async fn create_function(&self) {
        let mut archive = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
        let options = zip::write::SimpleFileOptions::default()
            .compression_method(zip::CompressionMethod::Stored)
            .unix_permissions(0o755);
        archive.start_file("bootstrap", options).unwrap();
        archive.write_all(&std::fs::read(Path::new(env!("CARGO_BIN_EXE_echo"))).unwrap()).unwrap();
        let archive = archive.finish().unwrap().into_inner();
        let function = json!({
            "FunctionName": FUNCTION, "Runtime": "provided.al2023", "Handler": "bootstrap", "Timeout": TIMEOUT_S,
            "MemorySize": 128, "Role": "arn:aws:iam::000000000000:role/echo",
            "Environment": { "Variables": { "SAID": "by the deployment" } },
            "Code": { "ZipFile": BASE64_STANDARD.encode(archive) },
        });
        self.create("/2015-03-31/functions", &function).await;
    }

    /// Adds a route. `more` is what else the control plane takes of it.
    pub(crate) async fn route(&self, key: &str, with_token: bool, more: Value) {
        let mut route = json!({ "routeKey": key, "target": format!("integrations/{}", self.integration) });
        if with_token {
            route["authorizationType"] = json!("JWT");
            route["authorizerId"] = json!(self.authorizer);
        }
        route.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        self.create_in("routes", &route).await;
    }

    pub(crate) async fn create_in(&self, what: &str, item: &Value) -> Value {
        self.create(&format!("/v2/apis/{}/{what}", self.id), item).await
    }

    pub(crate) async fn create(&self, path: &str, item: &Value) -> Value {
        let service = if path.starts_with("/v2") { "apigateway" } else { "lambda" };
        let scope = format!("Credential={ACCESS_KEY}/20260101/{REGION}/{service}/aws4_request");
        let made = self
            .http
            .post(format!("{}{path}", self.emulator.endpoint()))
            .header("authorization", format!("AWS4-HMAC-SHA256 {scope}, SignedHeaders=host, Signature=none"))
            .json(item)
            .send()
            .await
            .unwrap();
        let status = made.status();
        let text = made.text().await.unwrap();
        assert!(status.is_success(), "{path}: {status} {text}");
        serde_json::from_str(&text).unwrap()
    }

    /// Where the emulator serves it.
    pub(crate) fn emulators_url(&self) -> String {
        format!("{}/_aws/execute-api/{}", self.emulator.endpoint(), self.id)
    }

    /// The gateway of this machine in front of it.
    pub(crate) async fn serve(&self, concurrency: Concurrency) -> anyhow::Result<Gateway> {
        Gateway::start(&self.emulator.endpoint(), 0, self.emulator.home(), concurrency).await
    }
}
