//! The CDK app, deployed on the emulator.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result};
use aws_config::SdkConfig;
use aws_config::timeout::TimeoutConfig;
use aws_sdk_dynamodb::config::Credentials;
use aws_sdk_dynamodb::types::TimeToLiveSpecification;
use ledger::Ledger;
use pass::{Grant, KeyRing};
use runtime::AwsClient;
use sale::{RoundId, UserId};
use serde::{Deserialize, Serialize};

use crate::emulator::{ACCESS_KEY, REGION};
use crate::stack;
use crate::synthesis::synthesized;

/// The longest wait for an answer of the emulator: twice what the slowest function may take (55 s,
/// `infra/cdk/lib/functions.ts`), since the machine may be busy.
pub(crate) const PATIENCE: Duration = Duration::from_secs(120);
/// Where the app keeps the functions' code on the emulator.
const ASSETS_BUCKET: &str = "flash-sale-functions";

/// The stack's outputs, as addresses that work from this machine.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Deployment {
    /// The endpoint of every AWS service.
    pub endpoint: String,
    /// The HTTP API on this machine's gateway, once one serves it, without a trailing slash.
    pub api_url: String,
    /// The HTTP API on the emulator's own gateway, which is slow.
    pub emulator_api_url: String,
    /// A folder for files that lives as long as the emulator.
    pub home: PathBuf,
    /// Redis.
    pub redis_url: String,
    /// The table.
    pub table: String,
    /// The order queue.
    pub orders_queue_url: String,
    /// Its dead letters.
    pub orders_dlq_url: String,
    /// Unreadable messages.
    pub quarantine_queue_url: String,
    /// The expiry queue.
    pub expiry_queue_url: String,
    /// Its dead letters.
    pub expiry_dlq_url: String,
    /// The queue of rounds that Redis has lost.
    pub rebuilds_queue_url: String,
    /// The queue of winners to notify.
    pub winners_queue_url: String,
    /// Its dead letters.
    pub winners_dlq_url: String,
    /// The secret with the key that signs notifications of winners.
    pub winner_secret: String,
    /// The bus with events for the merchant's systems.
    pub event_bus: String,
    /// Changes of which no event could be made.
    pub emitter_failures_queue_url: String,
    /// Events for the merchant's address.
    pub webhook_queue_url: String,
    /// Its dead letters.
    pub webhook_dlq_url: String,
    /// The secret with the key that signs events.
    pub webhook_secret: String,
    /// The secret with the key of payment callbacks.
    pub payment_secret: String,
    /// The secret with the keys of passes.
    pub pass_secret: String,
    /// The warmup function.
    pub warmup_function: String,
    /// The reconciliation function.
    pub reconciliation_function: String,
    /// The WebSocket API, if there is one.
    pub push_url: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Outputs {
    api_url: String,
    redis_url: String,
    table_name: String,
    orders_queue_url: String,
    orders_dlq_url: String,
    quarantine_queue_url: String,
    expiry_queue_url: String,
    expiry_dlq_url: String,
    rebuilds_queue_url: String,
    winners_queue_url: String,
    winners_dlq_url: String,
    event_bus_name: String,
    emitter_failures_queue_url: String,
    webhook_queue_url: String,
    webhook_dlq_url: String,
    webhook_secret_arn: String,
    winner_secret_arn: String,
    payment_secret_arn: String,
    pass_secret_arn: String,
    warmup_function_name: String,
    reconciliation_function_name: String,
    push_url: Option<String>,
}

/// Synthesizes the app with its local settings and deploys it on the emulator at `endpoint`. `home` takes its files. No
/// gateway of this machine serves it yet ([`Deployment::served_at`]). Fails if Node is missing or the synthesis fails,
/// with CDK's output, or the deployment does, with the reasons.
pub async fn deploy(endpoint: &str, issuer: &str, home: &Path) -> Result<Deployment> {
    let http = reqwest::Client::new();
    http.put(format!("{endpoint}/{ASSETS_BUCKET}")).send().await?.error_for_status()?;
    let app = synthesized(endpoint, issuer, home).await?;
    let outputs: Outputs = serde_json::from_value(stack::create(&http, endpoint, &app).await?.into())?;
    let emulator_api_url = path_form(endpoint, &outputs.api_url)?;
    let deployment = Deployment {
        endpoint: endpoint.to_owned(),
        api_url: emulator_api_url.clone(),
        emulator_api_url,
        home: home.to_owned(),
        redis_url: outputs.redis_url,
        table: outputs.table_name,
        orders_queue_url: outputs.orders_queue_url,
        orders_dlq_url: outputs.orders_dlq_url,
        quarantine_queue_url: outputs.quarantine_queue_url,
        expiry_queue_url: outputs.expiry_queue_url,
        expiry_dlq_url: outputs.expiry_dlq_url,
        rebuilds_queue_url: outputs.rebuilds_queue_url,
        winners_queue_url: outputs.winners_queue_url,
        winners_dlq_url: outputs.winners_dlq_url,
        event_bus: outputs.event_bus_name,
        emitter_failures_queue_url: outputs.emitter_failures_queue_url,
        webhook_queue_url: outputs.webhook_queue_url,
        webhook_dlq_url: outputs.webhook_dlq_url,
        webhook_secret: outputs.webhook_secret_arn,
        winner_secret: outputs.winner_secret_arn,
        payment_secret: outputs.payment_secret_arn,
        pass_secret: outputs.pass_secret_arn,
        warmup_function: outputs.warmup_function_name,
        reconciliation_function: outputs.reconciliation_function_name,
        push_url: outputs.push_url.map(|url| socket_form(endpoint, &url)).transpose()?,
    };
    deployment.turn_time_to_live_on().await?;
    Ok(deployment)
}

/// The emulator's APIs have names below `localhost`, which not every resolver knows. It also accepts the API's id in
/// the path.
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

impl Deployment {
    /// The same, with its HTTP API on a gateway of this machine.
    #[must_use]
    pub fn served_at(self, api_url: String) -> Self {
        Self { api_url, ..self }
    }

    /// The endpoint for sending messages to connections of the WebSocket API and closing them.
    pub(crate) fn push_endpoint(&self) -> Option<String> {
        self.push_url.as_deref().map(|url| url.replacen("ws", "http", 1))
    }

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

    /// The table, with a patient client.
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

    /// The key that signs payment callbacks. Fails if the emulator does not return it.
    pub async fn payment_key(&self) -> Result<String> {
        self.secret(&self.payment_secret).await
    }

    /// The keys that seal passes. Fails if the emulator does not return them.
    pub async fn pass_ring(&self) -> Result<KeyRing> {
        Ok(self.secret(&self.pass_secret).await?.parse()?)
    }

    async fn secret(&self, id: &str) -> Result<String> {
        let secrets_manager = AwsClient::secrets_manager(&self.patient_aws_config());
        runtime::secret_text(&secrets_manager, id).await.with_context(|| format!("cannot read the secret {id}"))
    }

    /// A pass for a user, like one that the gate gives for an answered challenge. Fails if the emulator does not return
    /// the keys.
    pub async fn seal_pass(&self, user: &UserId, round: &RoundId) -> Result<String> {
        let issued_at_ms = runtime::Clock::system().now();
        Ok(self.pass_ring().await?.seal(&Grant { round, user, issued_at_ms, class: sale::BuyerClass::EVERYONE }))
    }

    /// Invokes a function once, as its schedule would, and returns its result. Fails if the function failed.
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
