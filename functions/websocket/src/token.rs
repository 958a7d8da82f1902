use std::collections::BTreeSet;

use jsonwebtoken::{Algorithm, Validation, decode, decode_header};
use sale::UserId;
use serde::Deserialize;

use crate::keys::IssuerKey;

/// The largest token in bytes. API Gateway accepts no longer request line.
const MAX_TOKEN_LENGTH: usize = 8 * 1024;
/// The algorithms that are accepted. None of them uses a shared secret.
const ALGORITHMS: [Algorithm; 2] = [Algorithm::RS256, Algorithm::ES256];
/// How far the issuer's clock may differ from this one, in seconds.
const LEEWAY_S: u64 = 5;

/// Why a token is refused. The client is told no more than this.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TokenRefused {
    /// It is not a token, or not of this issuer, not for this shop, or not valid now.
    #[error("not a good token")]
    BadToken,
    /// The issuer's keys are missing, so the token cannot be verified.
    #[error("the issuer's keys are missing")]
    NoKeys,
}

/// The claims that count. `jsonwebtoken` ignores an audience or issuer that it cannot read; these types do not.
#[derive(Deserialize)]
struct TokenClaims {
    iss: String,
    sub: UserId,
    aud: Option<Audience>,
    /// Cognito's access tokens have this instead of an audience. API Gateway checks it the same way.
    client_id: Option<String>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Audience {
    One(String),
    Many(Vec<String>),
}

pub(crate) struct Expected {
    pub(crate) issuer: String,
    pub(crate) audience: BTreeSet<String>,
}

/// The id of the key that a token claims to be signed with, if its header is acceptable.
pub(crate) fn key_id(token: &str) -> Result<String, TokenRefused> {
    if token.len() > MAX_TOKEN_LENGTH {
        return Err(TokenRefused::BadToken);
    }
    let header = decode_header(token).map_err(|_| TokenRefused::BadToken)?;
    // No extension of the format is supported, and a critical one must not be ignored (RFC 7515, section 4.1.11).
    let good = ALGORITHMS.contains(&header.alg) && header.crit.is_none();
    header.kid.filter(|_| good).ok_or(TokenRefused::BadToken)
}

/// The token's user, if `key` signed it and it is for us and valid now.
pub(crate) fn user(token: &str, key: &IssuerKey, expected: &Expected) -> Result<UserId, TokenRefused> {
    let mut validation = Validation::new(key.algorithm);
    validation.leeway = LEEWAY_S;
    validation.validate_nbf = true;
    validation.validate_aud = false;
    // The error may quote the token, so it is not logged.
    let claims = decode::<TokenClaims>(token, &key.decoding, &validation).map_err(|_| TokenRefused::BadToken)?.claims;
    let audience = match claims.aud {
        Some(Audience::Many(names)) => names,
        Some(Audience::One(name)) => vec![name],
        None => claims.client_id.into_iter().collect(),
    };
    let for_us = audience.iter().any(|name| expected.audience.contains(name));
    if for_us && claims.iss == expected.issuer { Ok(claims.sub) } else { Err(TokenRefused::BadToken) }
}

#[cfg(test)]
mod tests;
