//! Answers of the control plane.

use std::collections::{BTreeMap, HashMap};

use serde::Deserialize;
use serde_json::Value;

use super::cors::Cors;

/// Members of these that do not matter for serving an API. All others that are unknown are refused.
pub(super) const IGNORED: &str = "accessLogSettings apiEndpoint apiKeySelectionExpression authorizerCredentialsArn \
    authorizerPayloadFormatVersion authorizerResultTtlInSeconds authorizerUri autoDeploy createdDate deploymentId \
    description disableSchemaValidation enableSimpleResponses integrationMethod lastUpdatedDate name operationName \
    routeId tags version";

#[derive(Deserialize)]
pub(super) struct Page<T> {
    pub(super) items: Vec<T>,
    #[serde(rename = "nextToken")]
    pub(super) next_token: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct ApiItem {
    pub(super) api_id: String,
    pub(super) protocol_type: String,
    pub(super) route_selection_expression: String,
    pub(super) cors_configuration: Option<Cors>,
    #[serde(default)]
    pub(super) disable_execute_api_endpoint: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct RouteItem {
    pub(super) route_key: String,
    pub(super) target: String,
    #[serde(default)]
    pub(super) authorization_type: Option<String>,
    pub(super) authorizer_id: Option<String>,
    #[serde(default)]
    pub(super) authorization_scopes: Vec<String>,
    #[serde(default)]
    pub(super) api_key_required: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct IntegrationItem {
    pub(super) integration_id: String,
    pub(super) integration_type: String,
    pub(super) integration_uri: String,
    pub(super) payload_format_version: String,
    #[serde(default)]
    pub(super) timeout_in_millis: Option<u64>,
    #[serde(default)]
    pub(super) connection_type: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct AuthorizerItem {
    pub(super) authorizer_id: String,
    pub(super) authorizer_type: String,
    pub(super) identity_source: Vec<String>,
    pub(super) jwt_configuration: JwtItem,
}

/// Whose tokens may pass.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct JwtItem {
    #[serde(default)]
    pub(super) audience: Vec<String>,
    pub(super) issuer: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct StageItem {
    pub(super) stage_name: String,
    #[serde(default)]
    pub(super) stage_variables: HashMap<String, String>,
    #[serde(default)]
    pub(super) default_route_settings: SettingsItem,
    #[serde(default)]
    pub(super) route_settings: HashMap<String, SettingsItem>,
}

/// The emulator returns the template's value in its original form.
#[derive(Deserialize, Default, Clone, Copy)]
#[serde(deny_unknown_fields)]
pub(super) struct SettingsItem {
    #[serde(alias = "ThrottlingRateLimit", rename = "throttlingRateLimit")]
    pub(super) per_s: Option<f64>,
    #[serde(alias = "ThrottlingBurstLimit", rename = "throttlingBurstLimit")]
    pub(super) burst: Option<u32>,
    /// Only affects metrics.
    #[serde(alias = "DetailedMetricsEnabled", rename = "detailedMetricsEnabled")]
    _metrics: Option<bool>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct FunctionItem {
    pub(super) configuration: ConfigurationItem,
    pub(super) code: CodeItem,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct ConfigurationItem {
    pub(super) timeout: u64,
    pub(super) memory_size: u32,
    pub(super) runtime: String,
    pub(super) handler: String,
    pub(super) code_sha256: String,
    pub(super) package_type: Option<String>,
    pub(super) environment: Option<EnvironmentItem>,
    #[serde(default)]
    pub(super) layers: Vec<Value>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct EnvironmentItem {
    pub(super) variables: BTreeMap<String, String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct CodeItem {
    pub(super) location: String,
}
