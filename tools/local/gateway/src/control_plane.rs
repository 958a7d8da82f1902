//! Answers of the control plane.
//!
//! Fields that do not matter for serving an API are listed and ignored, so that all unknown ones can be refused.

use std::collections::{BTreeMap, HashMap};

use serde::Deserialize;
use serde_json::Value;

use super::cors::Cors;

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
    #[serde(rename = "name")]
    _name: Value,
    #[serde(default, rename = "apiEndpoint")]
    _endpoint: Value,
    #[serde(default, rename = "apiKeySelectionExpression")]
    _key_selection: Value,
    #[serde(default, rename = "createdDate")]
    _created: Value,
    #[serde(default, rename = "description")]
    _description: Value,
    #[serde(default, rename = "disableSchemaValidation")]
    _schema: Value,
    #[serde(default, rename = "tags")]
    _tags: Value,
    #[serde(default, rename = "version")]
    _version: Value,
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
    #[serde(rename = "routeId")]
    _id: Value,
    #[serde(default, rename = "operationName")]
    _operation: Value,
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
    #[serde(default, rename = "integrationMethod")]
    _method: Value,
    #[serde(default, rename = "description")]
    _description: Value,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct AuthorizerItem {
    pub(super) authorizer_id: String,
    pub(super) authorizer_type: String,
    pub(super) identity_source: Vec<String>,
    pub(super) jwt_configuration: JwtItem,
    #[serde(rename = "name")]
    _name: Value,
    #[serde(default, rename = "authorizerUri")]
    _uri: Value,
    #[serde(default, rename = "authorizerPayloadFormatVersion")]
    _format: Value,
    #[serde(default, rename = "authorizerResultTtlInSeconds")]
    _ttl: Value,
    #[serde(default, rename = "enableSimpleResponses")]
    _simple: Value,
    #[serde(default, rename = "authorizerCredentialsArn")]
    _credentials: Value,
}

#[derive(Deserialize)]
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
    #[serde(default, rename = "autoDeploy")]
    _auto_deploy: Value,
    #[serde(default, rename = "accessLogSettings")]
    _access_log: Value,
    #[serde(default, rename = "createdDate")]
    _created: Value,
    #[serde(default, rename = "lastUpdatedDate")]
    _updated: Value,
    #[serde(default, rename = "description")]
    _description: Value,
    #[serde(default, rename = "deploymentId")]
    _deployment: Value,
    #[serde(default, rename = "tags")]
    _tags: Value,
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
