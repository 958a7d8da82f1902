//! An OpenID Connect issuer that consists of two files in the emulator's S3, and tokens signed in its name.

use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, anyhow, ensure};
use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use futures::future::try_join_all;
use load::Token;
use ring::rand::SystemRandom;
use ring::rsa::{KeyPair, PublicKeyComponents};
use ring::signature::RSA_PKCS1_SHA256;
use sale::UserId;
use serde::Serialize;
use serde_json::json;
use tokio::task::spawn_blocking;

pub const AUDIENCE: &str = "flash-sale";
pub const OPERATORS: &str = "operators";
const TOKEN_LIFE_S: u64 = 24 * 60 * 60;
/// Tokens are backdated a little, so that clocks may differ.
const BACKDATE_S: u64 = 5;
const KEY_ID: &str = "local";
const BUCKET: &str = "identity";
/// ring makes no RSA keys, and API Gateway accepts no others.
const MAKE_KEY: &str =
    "const { privateKey } = require('node:crypto').generateKeyPairSync('rsa', { modulusLength: 2048 });
    process.stdout.write(privateKey.export({ type: 'pkcs8', format: 'pem' }));";

#[derive(Clone)]
pub struct Issuer {
    url: String,
    key: Arc<KeyPair>,
    private_key_pem: String,
}

#[derive(Debug, Clone, Serialize)]
pub struct TokenClaims {
    pub iss: String,
    pub aud: String,
    /// Subject: the user's id.
    pub sub: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<String>,
    /// Issued at, in seconds since the Unix epoch.
    pub iat: u64,
    pub exp: u64,
}

impl Issuer {
    pub async fn publish(endpoint: &str) -> Result<Self> {
        let issuer = Self::from_pem(endpoint, new_key()?)?;
        let PublicKeyComponents { n, e } = PublicKeyComponents::<Vec<u8>>::from(issuer.key.public());
        let jwk = json!({ "kty": "RSA", "use": "sig", "alg": "RS256", "kid": KEY_ID, "n": b64(n), "e": b64(e) });
        let keys_url = format!("{}/.well-known/jwks.json", issuer.url);
        let discovery = json!({ "issuer": issuer.url, "jwks_uri": keys_url });
        let http = reqwest::Client::new();
        let put = async |url: &str, body: String| -> Result<()> {
            http.put(url).body(body).send().await?.error_for_status()?;
            Ok(())
        };
        put(&issuer.url, String::new()).await?;
        put(&keys_url, json!({ "keys": [jwk] }).to_string()).await?;
        put(&format!("{}/.well-known/openid-configuration", issuer.url), discovery.to_string()).await?;
        Ok(issuer)
    }

    pub fn from_pem(endpoint: &str, private_key_pem: String) -> Result<Self> {
        let key = KeyPair::from_pkcs8(pem::parse(&private_key_pem).context("not an RSA key")?.contents());
        let key = Arc::new(key.map_err(|rejected| anyhow!("not an RSA key: {rejected}"))?);
        Ok(Self { url: format!("{endpoint}/{BUCKET}"), key, private_key_pem })
    }

    pub fn url(&self) -> &str {
        &self.url
    }

    pub fn private_key_pem(&self) -> &str {
        &self.private_key_pem
    }

    pub fn claims(&self, user: &str, groups: &[&str]) -> TokenClaims {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        TokenClaims {
            iss: self.url.clone(),
            aud: AUDIENCE.to_owned(),
            sub: user.to_owned(),
            groups: groups.iter().map(|group| (*group).to_owned()).collect(),
            iat: now - BACKDATE_S,
            exp: now + TOKEN_LIFE_S,
        }
    }

    pub fn sign(&self, claims: &impl Serialize) -> Result<String> {
        let header = json!({ "typ": "JWT", "alg": "RS256", "kid": KEY_ID });
        let message = format!("{}.{}", b64(header.to_string()), b64(serde_json::to_vec(claims)?));
        let mut signature = vec![0; self.key.public().modulus_len()];
        let signed = self.key.sign(&RSA_PKCS1_SHA256, &SystemRandom::new(), message.as_bytes(), &mut signature);
        signed.map_err(|_| anyhow!("the key does not sign"))?;
        Ok(format!("{message}.{}", b64(signature)))
    }

    pub fn token(&self, user: &str) -> Result<String> {
        self.sign(&self.claims(user, &[]))
    }

    /// These users with their tokens, in order, signed on all cores.
    pub async fn bearers(&self, names: impl IntoIterator<Item = String>) -> Result<Vec<Bearer>> {
        let names: Vec<String> = names.into_iter().collect();
        let part = names.len().div_ceil(std::thread::available_parallelism()?.get()).max(1);
        let signing = names.chunks(part).map(|names| {
            let (issuer, names) = (self.clone(), names.to_vec());
            spawn_blocking(move || names.iter().map(|name| issuer.bearer(name)).collect::<Result<Vec<_>>>())
        });
        let signed: Result<Vec<_>> = try_join_all(signing).await?.into_iter().collect();
        Ok(signed?.into_iter().flatten().collect())
    }

    fn bearer(&self, name: &str) -> Result<Bearer> {
        let text = self.token(name)?;
        Ok(Bearer { user: name.parse()?, token: text.parse()?, text })
    }

    pub fn operator_token(&self, user: &str) -> Result<String> {
        self.sign(&self.claims(user, &[OPERATORS]))
    }
}

pub struct Bearer {
    pub user: UserId,
    /// The token as it is, and as a header value.
    pub text: String,
    pub token: Token,
}

/// A new private key, in PEM.
pub fn new_key() -> Result<String> {
    let made =
        Command::new("node").args(["-e", MAKE_KEY]).stdin(Stdio::null()).output().context("node does not run")?;
    ensure!(made.status.success(), "node makes no key: {}", String::from_utf8_lossy(&made.stderr));
    Ok(String::from_utf8(made.stdout)?)
}

fn b64(bytes: impl AsRef<[u8]>) -> String {
    BASE64_URL_SAFE_NO_PAD.encode(bytes)
}
