use std::collections::HashMap;

use jsonwebtoken::jwk::{AlgorithmParameters, EllipticCurve, Jwk, KeyAlgorithm, PublicKeyUse};
use jsonwebtoken::{Algorithm, DecodingKey};
use serde::Deserialize;
use serde_json::Value;

/// How many keys of an issuer are kept. Issuers have two or three.
const MAX_KEYS: usize = 32;

/// A public key for one algorithm, so that a token cannot choose how it is verified.
#[derive(Clone)]
pub(crate) struct IssuerKey {
    pub(crate) algorithm: Algorithm,
    pub(crate) decoding: DecodingKey,
}

#[derive(Clone)]
pub(crate) struct IssuerKeys(HashMap<String, IssuerKey>);

#[derive(Deserialize)]
struct KeySet {
    keys: Vec<Value>,
}

impl IssuerKeys {
    /// Reads a key set. Keys of other kinds are skipped.
    pub(crate) fn read(json: &[u8]) -> Result<Self, serde_json::Error> {
        let KeySet { keys } = serde_json::from_slice(json)?;
        let keys = keys.into_iter().take(MAX_KEYS).filter_map(|key| signing_key(&serde_json::from_value(key).ok()?));
        Ok(Self(keys.collect()))
    }

    pub(crate) fn get(&self, id: &str) -> Option<&IssuerKey> {
        self.0.get(id)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

fn signing_key(jwk: &Jwk) -> Option<(String, IssuerKey)> {
    let (algorithm, named) = match &jwk.algorithm {
        AlgorithmParameters::RSA(_) => (Algorithm::RS256, KeyAlgorithm::RS256),
        AlgorithmParameters::EllipticCurve(curve) if curve.curve == EllipticCurve::P256 => {
            (Algorithm::ES256, KeyAlgorithm::ES256)
        }
        _ => return None,
    };
    let common = &jwk.common;
    let signs = common.public_key_use.as_ref().is_none_or(|of| *of == PublicKeyUse::Signature);
    let fits = common.key_algorithm.is_none_or(|algorithm| algorithm == named);
    let id = common.key_id.clone().filter(|_| signs && fits)?;
    Some((id, IssuerKey { algorithm, decoding: DecodingKey::from_jwk(jwk).ok()? }))
}
