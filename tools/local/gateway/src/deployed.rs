//! The deployed API, from the emulator's control plane. A feature that this gateway does not know is refused.

use std::collections::{BTreeMap, HashMap};
use std::io::Read;
use std::num::NonZeroU32;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use governor::{Quota, RateLimiter};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::authorizer::{Authorizer, JwtItem};
use super::cors::Cors;
use super::function::surroundings;
use super::pool::{Concurrency, FunctionSpec, Pool};
use super::routes::Routes;
use super::served::{Route, Served};

/// The longest time for a request, from its head to the function's answer (quotas of HTTP APIs).
pub const MAX_TIMEOUT: Duration = Duration::from_secs(30);
/// The longest wait for an answer of the control plane.
const TIMEOUT: Duration = Duration::from_secs(30);
/// The largest program that is unpacked from an archive. Lambda's limit is 250 MB, unzipped.
const MAX_PROGRAM_BYTES: u64 = 250 * 1024 * 1024;
/// Members of these that do not matter for serving an API. All others that are unknown are refused.
const IGNORED: &str = "accessLogSettings apiEndpoint apiKeySelectionExpression authorizerCredentialsArn \
    authorizerPayloadFormatVersion authorizerResultTtlInSeconds authorizerUri autoDeploy createdDate deploymentId \
    description disableSchemaValidation enableSimpleResponses integrationMethod lastUpdatedDate name operationName \
    protocolType routeId tags version";

/// The control plane at an endpoint, how the functions of its API are to run, and what its routes share.
struct Control<'a> {
    http: reqwest::Client,
    endpoint: &'a str,
    home: &'a Path,
    concurrency: Concurrency,
    authorizers: BTreeMap<JwtItem, Arc<Authorizer>>,
    pools: BTreeMap<String, Arc<Pool>>,
}

/// Reads the only HTTP API that is deployed at `endpoint`. The programs and logs of its functions go to `home`. Fails if
/// there is not exactly one, or it has a feature that is not supported here; the message names it.
pub(super) async fn read(
    endpoint: &str,
    home: &Path,
    concurrency: Concurrency,
    max_timeout: Duration,
) -> Result<Served> {
    let http = reqwest::Client::builder().timeout(TIMEOUT).build()?;
    let (authorizers, pools) = (BTreeMap::new(), BTreeMap::new());
    let control = Control { http, endpoint, home, concurrency, authorizers, pools };
    let apis: Vec<Value> = control.items("/v2/apis").await?;
    let http: Vec<Value> = apis.into_iter().filter(|api| api["protocolType"] == "HTTP").collect();
    let [api] = &http[..] else { bail!("there are {} HTTP APIs, but this gateway serves one", http.len()) };
    control.api(known("the API", api)?, max_timeout).await
}

/// Empty members mean nothing, so they are removed before the others are checked.
fn known<T: DeserializeOwned>(what: &str, item: &Value) -> Result<T> {
    let mut matters = without_empty(item);
    if let Some(members) = matters.as_object_mut() {
        members.retain(|name, _| IGNORED.split(' ').all(|ignored| ignored != name));
    }
    serde_json::from_value(matters)
        .with_context(|| format!("{what} has a feature that this gateway does not support: {item}"))
}

fn without_empty(item: &Value) -> Value {
    let is_empty = |value: &Value| match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(members) => members.is_empty(),
        Value::Bool(_) | Value::Number(_) => false,
    };
    let Value::Object(members) = item else { return item.clone() };
    let members = members.iter().filter(|(_, value)| !is_empty(value));
    Value::Object(members.map(|(name, value)| (name.clone(), without_empty(value))).collect())
}

impl Control<'_> {
    async fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T> {
        let response = self.http.get(format!("{}{path}", self.endpoint)).send().await?.error_for_status()?;
        response.json().await.with_context(|| format!("cannot read the control plane's answer to {path}"))
    }

    async fn items<T: DeserializeOwned>(&self, path: &str) -> Result<Vec<T>> {
        let Page { items, next_token } = self.get(path).await?;
        ensure!(next_token.is_none(), "{path} has more than one page");
        Ok(items)
    }

    async fn known_items<T: DeserializeOwned>(&self, api: &str, what: &str) -> Result<Vec<T>> {
        let items: Vec<Value> = self.items(&format!("/v2/apis/{api}/{what}")).await?;
        items.iter().map(|item| known(&format!("one of the {what}"), item)).collect()
    }

    async fn api(mut self, api: ApiItem, max_timeout: Duration) -> Result<Served> {
        ensure!(!api.disable_execute_api_endpoint, "the API has no endpoint of its own");
        let selected = &*api.route_selection_expression;
        let by_method_and_path = ["$request.method $request.path", "${request.method} ${request.path}"];
        ensure!(by_method_and_path.contains(&selected), "routes are selected by {selected}");
        let id = api.api_id;
        let stages: Vec<StageItem> = self.known_items(&id, "stages").await?;
        let [stage] = &stages[..] else { bail!("there are {} stages, but this gateway serves one", stages.len()) };
        ensure!(stage.stage_name == "$default", "the stage {} is not $default", stage.stage_name);
        ensure!(stage.stage_variables.is_empty(), "the stage has variables");
        let integrations: Vec<IntegrationItem> = self.known_items(&id, "integrations").await?;
        let authorizers: Vec<AuthorizerItem> = self.known_items(&id, "authorizers").await?;
        let routes: Vec<RouteItem> = self.known_items(&id, "routes").await?;
        for key in stage.route_settings.keys() {
            let is_there = routes.iter().any(|route| route.route_key == *key);
            ensure!(is_there, "there are settings for {key}, but there is no such route");
        }
        let mut served = Vec::new();
        for route in routes {
            let key = route.route_key.clone();
            let route = self.route(route, stage, &integrations, &authorizers).await;
            served.push((key.clone(), route.with_context(|| format!("the route {key}"))?));
        }
        let (routes, cors, pools) = (Routes::new(served)?, api.cors_configuration, self.pools);
        Ok(Served { api: id, max_timeout, routes, cors, pools })
    }

    async fn route(
        &mut self,
        item: RouteItem,
        stage: &StageItem,
        integrations: &[IntegrationItem],
        authorizers: &[AuthorizerItem],
    ) -> Result<Route> {
        ensure!(!item.api_key_required, "it needs an API key");
        let target = item.target.strip_prefix("integrations/").context("its target is not an integration")?;
        let integration = integrations.iter().find(|each| each.integration_id == target);
        let integration = integration.context("its integration is not there")?;
        let IntegrationItem { integration_type, payload_format_version: format, connection_type, .. } = integration;
        ensure!(integration_type == "AWS_PROXY", "it leads to {integration_type}");
        ensure!(format == "2.0", "its payload has the format {format}");
        let connection = connection_type.as_deref().unwrap_or("INTERNET");
        ensure!(connection == "INTERNET", "its connection is {connection}");
        let authorizer = match item.authorization_type.as_deref() {
            None | Some("NONE") => None,
            Some("JWT") => {
                let id = item.authorizer_id.context("it has no authorizer")?;
                let found = authorizers.iter().find(|each| each.authorizer_id == id);
                Some(self.authorizer(found.context("its authorizer is missing")?).await?)
            }
            Some(other) => bail!("it is authorized by {other}"),
        };
        let own = stage.route_settings.get(&item.route_key).copied().unwrap_or_default();
        let general = stage.default_route_settings;
        let throttle = match (own.per_s.or(general.per_s), own.burst.or(general.burst)) {
            (None, None) => None,
            (per_s, burst) => {
                // A rate below one would lock everybody out; the gateway counts whole ones.
                let whole = per_s.and_then(|per_s| NonZeroU32::new(per_s as u32)).zip(burst.and_then(NonZeroU32::new));
                let (whole, most) = whole.with_context(|| format!("its throttle is {per_s:?}, {burst:?}"))?;
                Some(RateLimiter::direct(Quota::per_second(whole).allow_burst(most)))
            }
        };
        Ok(Route {
            key: item.route_key,
            authorizer,
            scopes: item.authorization_scopes,
            throttle,
            pool: self.pool(&function_of(&integration.integration_uri)?).await?,
            timeout: integration.timeout_in_millis.map_or(MAX_TIMEOUT, Duration::from_millis).min(MAX_TIMEOUT),
        })
    }

    /// One for all routes whose tokens have the same issuer and audience.
    async fn authorizer(&mut self, item: &AuthorizerItem) -> Result<Arc<Authorizer>> {
        ensure!(item.authorizer_type == "JWT", "its authorizer is a {}", item.authorizer_type);
        let source = &item.identity_source;
        ensure!(*source == ["$request.header.Authorization"], "its token is in {source:?}");
        let jwt = &item.jwt_configuration;
        if !self.authorizers.contains_key(jwt) {
            let authorizer = Authorizer::new(jwt.clone()).await?;
            self.authorizers.insert(jwt.clone(), Arc::new(authorizer));
        }
        Ok(Arc::clone(&self.authorizers[jwt]))
    }

    async fn pool(&mut self, function: &str) -> Result<Arc<Pool>> {
        if !self.pools.contains_key(function) {
            let spec = self.function(function).await.with_context(|| format!("the function {function}"))?;
            self.pools.insert(function.to_owned(), Arc::new(Pool::new(spec)));
        }
        Ok(Arc::clone(&self.pools[function]))
    }

    async fn function(&self, name: &str) -> Result<FunctionSpec> {
        let FunctionItem { configuration, code } = self.get(&format!("/2015-03-31/functions/{name}")).await?;
        ensure!(configuration.runtime.starts_with("provided."), "its runtime is {}", configuration.runtime);
        ensure!(configuration.package_type.is_none_or(|package| package == "Zip"), "it is not an archive");
        ensure!(configuration.layers.is_empty(), "it has layers");
        // One file for all functions with the same program. `env`, which starts it, would take a name with `=` for a variable.
        let code_sha256 = configuration.code_sha256.replace(['/', '+', '='], "_");
        let bootstrap = self.home.join("functions").join(code_sha256).join("bootstrap");
        if !bootstrap.exists() {
            let archive = self.http.get(&code.location).send().await?.error_for_status()?.bytes().await?;
            let (into, name) = (bootstrap.clone(), name.to_owned());
            let unpacked = move || unpack(&archive, &into).with_context(|| format!("the archive of {name}"));
            tokio::task::spawn_blocking(unpacked).await??;
        }
        let mut environment = surroundings(name, &configuration.handler, self.endpoint, configuration.memory_size);
        environment.extend(configuration.environment.into_iter().flat_map(|own| own.variables));
        Ok(FunctionSpec {
            name: name.to_owned(),
            bootstrap,
            environment,
            timeout: Duration::from_secs(configuration.timeout),
            concurrency: self.concurrency,
            log: self.home.join(format!("{name}.log")),
        })
    }
}

/// The function's name in `arn:aws:lambda:REGION:ACCOUNT:function:NAME`, or in the path of an invocation with it.
fn function_of(uri: &str) -> Result<String> {
    let arn = uri.split("/functions/").nth(1).map_or(uri, |rest| rest.trim_end_matches("/invocations"));
    let mut parts = arn.split(':').skip_while(|part| *part != "function").skip(1);
    let name = parts.next().with_context(|| format!("{uri} names no function"))?;
    ensure!(parts.next().is_none(), "{uri} names a version or an alias");
    Ok(name.to_owned())
}

fn unpack(archive: &[u8], into: &Path) -> Result<()> {
    use std::os::unix::fs::OpenOptionsExt;
    let mut archive = zip::ZipArchive::new(std::io::Cursor::new(archive)).context("it is not an archive")?;
    let program = archive.by_name("bootstrap").context("it has no bootstrap")?;
    ensure!(program.size() <= MAX_PROGRAM_BYTES, "its bootstrap is too large");
    std::fs::create_dir_all(into.parent().unwrap_or(into))?;
    let _ = std::fs::remove_file(into);
    let mut file = std::fs::OpenOptions::new().write(true).create_new(true).mode(0o755).open(into)?;
    std::io::copy(&mut program.take(MAX_PROGRAM_BYTES), &mut file)?;
    Ok(())
}

#[derive(Deserialize)]
struct Page<T> {
    items: Vec<T>,
    #[serde(rename = "nextToken")]
    next_token: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ApiItem {
    api_id: String,
    route_selection_expression: String,
    cors_configuration: Option<Cors>,
    #[serde(default)]
    disable_execute_api_endpoint: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct RouteItem {
    route_key: String,
    target: String,
    authorization_type: Option<String>,
    authorizer_id: Option<String>,
    #[serde(default)]
    authorization_scopes: Vec<String>,
    #[serde(default)]
    api_key_required: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct IntegrationItem {
    integration_id: String,
    integration_type: String,
    integration_uri: String,
    payload_format_version: String,
    timeout_in_millis: Option<u64>,
    connection_type: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct AuthorizerItem {
    authorizer_id: String,
    authorizer_type: String,
    identity_source: Vec<String>,
    jwt_configuration: JwtItem,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct StageItem {
    stage_name: String,
    #[serde(default)]
    stage_variables: HashMap<String, String>,
    #[serde(default)]
    default_route_settings: SettingsItem,
    #[serde(default)]
    route_settings: HashMap<String, SettingsItem>,
}

/// The emulator returns the template's value in its original form.
#[derive(Deserialize, Default, Clone, Copy)]
#[serde(deny_unknown_fields)]
struct SettingsItem {
    #[serde(alias = "ThrottlingRateLimit", rename = "throttlingRateLimit")]
    per_s: Option<f64>,
    #[serde(alias = "ThrottlingBurstLimit", rename = "throttlingBurstLimit")]
    burst: Option<u32>,
    /// Only affects metrics.
    #[serde(alias = "DetailedMetricsEnabled", rename = "detailedMetricsEnabled")]
    _metrics: Option<bool>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct FunctionItem {
    configuration: ConfigurationItem,
    code: CodeItem,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct CodeItem {
    location: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct ConfigurationItem {
    timeout: u64,
    memory_size: u32,
    runtime: String,
    handler: String,
    code_sha256: String,
    package_type: Option<String>,
    environment: Option<EnvironmentItem>,
    #[serde(default)]
    layers: Vec<Value>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct EnvironmentItem {
    variables: BTreeMap<String, String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_is_named_by_its_arn() {
        let arn = "arn:aws:lambda:us-east-1:000000000000:function:flash-sale-admin";
        assert_eq!(function_of(arn).unwrap(), "flash-sale-admin");
        let path = format!("arn:aws:apigateway:us-east-1:lambda:path/2015-03-31/functions/{arn}/invocations");
        assert_eq!(function_of(&path).unwrap(), "flash-sale-admin");
        assert!(function_of(&format!("{arn}:live")).is_err(), "an alias is not served");
        assert!(function_of("http://127.0.0.1").is_err());
    }
}
