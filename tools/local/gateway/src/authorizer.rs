//! The JWT authorizer of an HTTP API: verifies tokens with the keys that their issuer publishes.
//!
//! The checks and the wording of refusals are API Gateway's ("Control access to HTTP APIs with JWT authorizers", and
//! the page on troubleshooting them).

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, ensure};
use jsonwebtoken::errors::ErrorKind;
use jsonwebtoken::jwk::JwkSet;
use jsonwebtoken::{Algorithm, DecodingKey, Validation};
use parking_lot::RwLock;
use pass::jwt;
use serde::Deserialize;
use serde_json::{Map, Value};
use tokio::sync::Mutex;

const TIMEOUT: Duration = Duration::from_secs(5);
/// How long keys are cached (AWS: "up to 1 hour on a best-effort basis").
const KEYS_LAST: Duration = Duration::from_secs(60 * 60);
/// How often the issuer is asked at most because of tokens with unknown keys.
const FETCH_PAUSE: Duration = Duration::from_secs(5);
/// API Gateway only accepts RSA keys.
const ALGORITHMS: [Algorithm; 3] = [Algorithm::RS256, Algorithm::RS384, Algorithm::RS512];
const MAX_KEYS: usize = 100;

/// The claims of a token, each in the text form that a function gets.
pub(super) type TokenClaims = BTreeMap<String, String>;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AuthError {
    NoToken,
    BadToken(&'static str),
    Scope,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct JwtItem {
    #[serde(default)]
    audience: Vec<String>,
    issuer: String,
}

pub(super) struct Authorizer {
    http: reqwest::Client,
    deployed: JwtItem,
    keys_url: String,
    keys: RwLock<IssuerKeys>,
    fetching: Mutex<()>,
}

#[derive(Clone)]
struct IssuerKeys {
    by_id: Arc<HashMap<String, DecodingKey>>,
    fetched: Instant,
}

#[derive(Deserialize)]
struct Discovery {
    issuer: String,
    jwks_uri: String,
}

impl Authorizer {
    pub(super) async fn new(deployed: JwtItem) -> Result<Self> {
        jwt::use_ring();
        let http = reqwest::Client::builder().timeout(TIMEOUT).build()?;
        let url = format!("{}/.well-known/openid-configuration", deployed.issuer.trim_end_matches('/'));
        let found = async { http.get(&url).send().await?.error_for_status()?.json::<Discovery>().await };
        let Discovery { issuer, jwks_uri } =
            found.await.with_context(|| format!("{url} does not say where its keys are"))?;
        ensure!(issuer == deployed.issuer, "{url} belongs to {issuer}");
        let keys = RwLock::new(fetch(&http, &jwks_uri).await?);
        Ok(Self { http, deployed, keys_url: jwks_uri, keys, fetching: Mutex::new(()) })
    }

    /// The claims of the token in an `Authorization` header, and its scopes, if it is valid.
    pub(super) async fn check(
        &self,
        header: Option<&str>,
        scopes: &[String],
    ) -> Result<(TokenClaims, Vec<String>), AuthError> {
        let token = header.map(without_scheme).filter(|token| !token.is_empty()).ok_or(AuthError::NoToken)?;
        let head = jsonwebtoken::decode_header(token).map_err(|_| AuthError::BadToken("the token is malformed"))?;
        if !ALGORITHMS.contains(&head.alg) {
            return Err(AuthError::BadToken("the token's algorithm is not supported"));
        }
        let id = head.kid.ok_or(AuthError::BadToken("the token has no kid"))?;
        let keys = self.keys_with(&id).await;
        let key = keys.by_id.get(&id).ok_or(AuthError::BadToken("the token's kid is not known"))?;
        let mut validation = Validation::new(head.alg);
        validation.leeway = 0;
        validation.validate_nbf = true;
        // The audience may be in another claim, which is checked below.
        validation.validate_aud = false;
        validation.set_issuer(&[&self.deployed.issuer]);
        validation.set_required_spec_claims(&["exp", "iss"]);
        let token = jsonwebtoken::decode::<Map<String, Value>>(token, key, &validation);
        let claims = token.map_err(|error| AuthError::BadToken(said(error.kind())))?.claims;
        self.check_audience(&claims)?;
        // AWS does not document a subject that is not text (RFC 7519, section 4.1.2). No issuer sends one.
        if claims.get("sub").is_some_and(|subject| !subject.is_string()) {
            return Err(AuthError::BadToken("the token is malformed"));
        }
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        if claims.get("iat").is_some_and(|issued| issued.as_f64().is_none_or(|issued| issued > now as f64)) {
            return Err(AuthError::BadToken("the token was issued in the future"));
        }
        let granted = scopes_of(&claims);
        if !scopes.is_empty() && !scopes.iter().any(|scope| granted.contains(scope)) {
            return Err(AuthError::Scope);
        }
        Ok((claims.iter().map(|(name, value)| (name.clone(), text(value))).collect(), granted))
    }

    fn check_audience(&self, claims: &Map<String, Value>) -> Result<(), AuthError> {
        let audience = &self.deployed.audience;
        let named = |value: &Value| value.as_str().is_some_and(|name| audience.iter().any(|each| each == name));
        let found = match claims.get("aud").or_else(|| claims.get("client_id")) {
            Some(Value::Array(names)) => names.iter().any(named),
            Some(name) => named(name),
            None => false,
        };
        if found { Ok(()) } else { Err(AuthError::BadToken("the token does not have a valid audience")) }
    }

    /// The keys, fetched again if they are old or this one is missing.
    async fn keys_with(&self, id: &str) -> IssuerKeys {
        let known = || self.keys.read().clone();
        let good = |keys: &IssuerKeys| {
            let age = keys.fetched.elapsed();
            age < FETCH_PAUSE || (keys.by_id.contains_key(id) && age < KEYS_LAST)
        };
        let keys = known();
        if good(&keys) {
            return keys;
        }
        let _alone = self.fetching.lock().await;
        // Another request may have fetched them meanwhile.
        let keys = known();
        if good(&keys) {
            return keys;
        }
        let fetched = match fetch(&self.http, &self.keys_url).await {
            Ok(fetched) => fetched,
            // If the issuer does not answer, it is asked again a little later; known keys stay valid.
            Err(error) => {
                eprintln!("the issuer gives no keys: {error:#}");
                IssuerKeys { by_id: keys.by_id, fetched: Instant::now() }
            }
        };
        self.keys.write().clone_from(&fetched);
        fetched
    }
}

async fn fetch(http: &reqwest::Client, url: &str) -> Result<IssuerKeys> {
    let found = async { http.get(url).send().await?.error_for_status()?.json::<JwkSet>().await };
    let JwkSet { keys } = found.await.with_context(|| format!("{url} has no keys"))?;
    let keys = keys.into_iter().take(MAX_KEYS);
    let by_id = keys.filter_map(|key| Some((key.common.key_id.clone()?, DecodingKey::from_jwk(&key).ok()?)));
    Ok(IssuerKeys { by_id: Arc::new(by_id.collect()), fetched: Instant::now() })
}

/// A token may come with or without `Bearer`.
fn without_scheme(header: &str) -> &str {
    let header = header.trim();
    match header.split_once(' ') {
        Some((scheme, token)) if scheme.eq_ignore_ascii_case("bearer") => token.trim(),
        _ => header,
    }
}

const fn said(kind: &ErrorKind) -> &'static str {
    match kind {
        ErrorKind::ExpiredSignature => "the token has expired",
        ErrorKind::ImmatureSignature => "the token is not valid yet",
        ErrorKind::InvalidIssuer => "the token does not have a valid issuer",
        ErrorKind::MissingRequiredClaim(_) => "the token lacks a claim",
        ErrorKind::InvalidSignature => "the token's signature is wrong",
        _ => "the token is malformed",
    }
}

/// A claim in the form that a function gets, which is how Go prints it: a list is its items in brackets, separated by
/// spaces, and an object is `map[name:value]` (seen in aws-lambda-go#570). Hence null, of which there is no example, is
/// `<nil>`.
fn text(value: &Value) -> String {
    match value {
        Value::Null => "<nil>".to_owned(),
        Value::String(text) => text.clone(),
        Value::Object(members) => {
            // `serde_json` sorts them by name, as Go does.
            let members = members.iter().map(|(name, value)| format!("{name}:{}", text(value)));
            format!("map[{}]", members.collect::<Vec<_>>().join(" "))
        }
        Value::Array(items) => format!("[{}]", items.iter().map(text).collect::<Vec<_>>().join(" ")),
        other => other.to_string(),
    }
}

fn scopes_of(claims: &Map<String, Value>) -> Vec<String> {
    let of = |name: &str| match claims.get(name) {
        Some(Value::String(scopes)) => scopes.split(' ').filter(|scope| !scope.is_empty()).map(str::to_owned).collect(),
        Some(Value::Array(scopes)) => scopes.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        _ => Vec::new(),
    };
    let mut scopes: Vec<String> = of("scope");
    scopes.extend(of("scp"));
    scopes.sort_unstable();
    scopes.dedup();
    scopes
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_claim_is_text() {
        for (claim, expected) in [
            (json!("alice"), "alice"),
            (json!(1_800_000_000), "1800000000"),
            (json!(true), "true"),
            (json!(["operators", "staff"]), "[operators staff]"),
            (json!([]), "[]"),
            (json!(null), "<nil>"),
            (json!({ "b": [1, null], "a": "x" }), "map[a:x b:[1 <nil>]]"),
        ] {
            assert_eq!(text(&claim), expected);
        }
    }

    #[test]
    fn a_token_may_stand_alone() {
        for header in ["a.b.c", "Bearer a.b.c", "bearer  a.b.c "] {
            assert_eq!(without_scheme(header), "a.b.c", "{header:?}");
        }
    }
}
