use std::collections::BTreeSet;

use jsonwebtoken::{Validation, decode, decode_header};
use sale::UserId;
use serde::Deserialize;

use crate::keys::IssuerKey;
use crate::ring_provider::ALGORITHMS;

/// Longest token. API Gateway takes no longer request line.
const MAX_TOKEN_LENGTH: usize = 8 * 1024;
/// The issuer's clock and this one may differ by so much.
const LEEWAY_S: u64 = 5;

/// Why nobody is let in by a token. Who shows a bad one is told no more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// It is not one, or not of this issuer, or not for this shop, or not now.
    #[error("not a good token")]
    BadToken,
    /// The issuer's keys are not there, so nothing is known of it.
    #[error("the issuer's keys are not there")]
    NoKeys,
}

/// The claims that count. `jsonwebtoken` passes over an audience or issuer that it cannot read; these types do not.
#[derive(Deserialize)]
struct TokenClaims {
    iss: String,
    sub: UserId,
    aud: Option<Audience>,
    /// What stands in for the audience in Cognito's access tokens. API Gateway looks at it likewise.
    client_id: Option<String>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Audience {
    One(String),
    Many(Vec<String>),
}

/// What a token must be for.
pub(crate) struct Expected {
    pub(crate) issuer: String,
    pub(crate) audience: BTreeSet<String>,
}

/// The id of the key that a token says it is signed with, if it may be a token at all.
pub(crate) fn key_id(token: &str) -> Result<String, Refused> {
    if token.len() > MAX_TOKEN_LENGTH {
        return Err(Refused::BadToken);
    }
    let header = decode_header(token).map_err(|_| Refused::BadToken)?;
    // No extension of the format is known here, and an unknown one must not be passed over (RFC 7515, section 4.1.11).
    let good = ALGORITHMS.contains(&header.alg) && header.crit.is_none();
    header.kid.filter(|_| good).ok_or(Refused::BadToken)
}

/// Whose token it is, if `key` signed it and it is for us and for now.
pub(crate) fn user(token: &str, key: &IssuerKey, expected: &Expected) -> Result<UserId, Refused> {
    let mut validation = Validation::new(key.algorithm);
    validation.leeway = LEEWAY_S;
    validation.validate_nbf = true;
    validation.validate_aud = false;
    // The error may say what the token says, so it is not logged.
    let claims = decode::<TokenClaims>(token, &key.decoding, &validation).map_err(|_| Refused::BadToken)?.claims;
    let audience = match claims.aud {
        Some(Audience::Many(names)) => names,
        Some(Audience::One(name)) => vec![name],
        None => claims.client_id.into_iter().collect(),
    };
    let for_us = audience.iter().any(|name| expected.audience.contains(name));
    if for_us && claims.iss == expected.issuer { Ok(claims.sub) } else { Err(Refused::BadToken) }
}

#[cfg(test)]
mod tests;
