//! The CDK app, deployed on the emulator.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result};
use aws_config::SdkConfig;
use aws_config::timeout::TimeoutConfig;
use aws_sdk_dynamodb::config::Credentials;
use aws_sdk_dynamodb::types::TimeToLiveSpecification;
use ledger::Ledger;
use pass::{KeyRing, Pass};
use runtime::{AwsClient, Clock};
use sale::{BuyerClass, EpochMs, RoundId, UserId};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::emulator::{ACCESS_KEY, REGION};
use crate::stack;
use crate::synthesis::synthesized;

/// The longest wait for an answer of the emulator: twice what the slowest function may take (55 s,
/// `infra/cdk/lib/functions.ts`), since the machine may be busy.
pub(crate) const PATIENCE: Duration = Duration::from_secs(120);

/// The stack's outputs, without `Name` and `Arn` at the end, as addresses that work from this machine.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Deployment {
    /// The endpoint of every AWS service.
    pub endpoint: String,
    /// The HTTP API on this machine's gateway, once one serves it, without a trailing slash.
    pub api_url: String,
    /// The HTTP API on the emulator's own gateway, which is slow.
    pub emulator_api_url: String,
    pub home: PathBuf,
    pub redis_url: String,
    pub table: String,
    pub orders_queue_url: String,
    pub orders_dlq_url: String,
    pub quarantine_queue_url: String,
    pub expiry_queue_url: String,
    pub expiry_dlq_url: String,
    pub rebuilds_queue_url: String,
    pub winners_queue_url: String,
    pub winners_dlq_url: String,
    pub winner_secret: String,
    pub event_bus: String,
    pub emitter_failures_queue_url: String,
    pub webhook_queue_url: String,
    pub webhook_dlq_url: String,
    pub webhook_secret: String,
    pub payment_secret: String,
    pub pass_secret: String,
    pub warmup_function: String,
    pub reconciliation_function: String,
    pub push_url: Option<String>,
}

/// Synthesizes the app with its local settings and deploys it on the emulator at `endpoint`. `home` takes its files. Its
/// `api_url` is the emulator's, until a gateway of this machine serves it.
pub async fn deploy(endpoint: &str, issuer: &str, home: &Path) -> Result<Deployment> {
    let http = reqwest::Client::new();
    // The bucket in which the app keeps the functions' code on the emulator.
    http.put(format!("{endpoint}/flash-sale-functions")).send().await?.error_for_status()?;
    let app = synthesized(endpoint, issuer, home).await?;
    let outputs = stack::create(&http, endpoint, &app).await?;
    let url = |name: &str| outputs.get(name).and_then(Value::as_str);
    let api_url = path_form(endpoint, url("ApiUrl").unwrap_or_default())?;
    let push_url = url("PushUrl").map(|url| socket_form(endpoint, url)).transpose()?;
    let mut fields = json!({ "Endpoint": endpoint, "Home": home, "EmulatorApiUrl": api_url });
    for (name, value) in outputs {
        fields[name.trim_end_matches("Name").trim_end_matches("Arn")] = value;
    }
    (fields["ApiUrl"], fields["PushUrl"]) = (json!(api_url), json!(push_url));
    let deployment: Deployment = serde_json::from_value(fields)?;
    deployment.turn_time_to_live_on().await?;
    Ok(deployment)
}

/// APIs have names below `localhost`, which not every resolver knows. The id may also be in the path.
fn path_form(endpoint: &str, api_url: &str) -> Result<String> {
    let host = api_url.split("//").nth(1).unwrap_or_default();
    let id = host.split('.').next().filter(|id| !id.is_empty()).context("the stack has no ApiUrl")?;
    Ok(format!("{endpoint}/_aws/execute-api/{id}"))
}

/// The same for a WebSocket API, whose stage is the last part of its path.
fn socket_form(endpoint: &str, push_url: &str) -> Result<String> {
    let stage = push_url.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    Ok(format!("{}/{stage}", path_form(&endpoint.replacen("http", "ws", 1), push_url)?))
}

/// A pass like admission's, for a user without early access.
pub fn sealed(keys: &KeyRing, round: &RoundId, user: &UserId, issued_at_ms: EpochMs) -> String {
    keys.seal(&Pass { round: round.number, issued_at_ms, class: BuyerClass::EVERYONE }, &round.sale, user)
}

impl Deployment {
    /// The configuration of AWS clients of the emulator, with the functions' time limits.
    pub fn aws_config(&self) -> SdkConfig {
        runtime::aws_config_at(&self.endpoint, REGION, Credentials::new(ACCESS_KEY, ACCESS_KEY, None, None, "local"))
    }

    /// The same with longer time limits: the emulator may be very busy.
    pub fn patient_aws_config(&self) -> SdkConfig {
        let timeouts = TimeoutConfig::builder()
            .connect_timeout(PATIENCE)
            .operation_attempt_timeout(PATIENCE)
            .operation_timeout(PATIENCE)
            .build();
        self.aws_config().into_builder().timeout_config(timeouts).build()
    }

    pub(crate) fn ledger(&self) -> Ledger {
        Ledger::new(aws_sdk_dynamodb::Client::new(&self.patient_aws_config()), &self.table)
    }

    /// The emulator ignores the template's setting.
    async fn turn_time_to_live_on(&self) -> Result<()> {
        let client = aws_sdk_dynamodb::Client::new(&self.aws_config());
        let specification = TimeToLiveSpecification::builder().attribute_name("expires_at").enabled(true).build()?;
        client.update_time_to_live().table_name(&self.table).time_to_live_specification(specification).send().await?;
        Ok(())
    }

    pub async fn payment_key(&self) -> Result<String> {
        self.secret(&self.payment_secret).await
    }

    pub async fn pass_ring(&self) -> Result<KeyRing> {
        Ok(self.secret(&self.pass_secret).await?.parse()?)
    }

    async fn secret(&self, id: &str) -> Result<String> {
        let secrets_manager = AwsClient::secrets_manager(&self.patient_aws_config());
        runtime::secret_text(&secrets_manager, id).await.with_context(|| format!("cannot read the secret {id}"))
    }

    /// A pass for a user, like one that the gate gives for an answered challenge.
    pub async fn seal_pass(&self, user: &UserId, round: &RoundId) -> Result<String> {
        Ok(sealed(&self.pass_ring().await?, round, user, Clock::system().now()))
    }

    pub async fn invoke(&self, function: &str) -> Result<serde_json::Value> {
        let url = format!("{}/2015-03-31/functions/{function}/invocations", self.endpoint);
        let request = reqwest::Client::new().post(url).timeout(PATIENCE).body("{}");
        let response = request.send().await?.error_for_status()?;
        let failed = response.headers().contains_key("x-amz-function-error");
        let answer: serde_json::Value = response.json().await?;
        anyhow::ensure!(!failed, "{function} failed: {answer}");
        Ok(answer)
    }
}
