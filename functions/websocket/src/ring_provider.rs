//! Verifies the signatures for `jsonwebtoken` with ring, which the TLS stack already includes.

use jsonwebtoken::crypto::{CryptoProvider, JwtSigner, JwtVerifier, KeyUtils};
use jsonwebtoken::errors::{Error, ErrorKind};
use jsonwebtoken::signature;
use jsonwebtoken::{Algorithm, DecodingKey, DecodingKeyKind, EncodingKey};
use ring::signature::{ECDSA_P256_SHA256_FIXED, RSA_PKCS1_2048_8192_SHA256, RsaPublicKeyComponents, UnparsedPublicKey};

/// The algorithms that are accepted. None of them uses a shared secret.
pub(crate) const ALGORITHMS: [Algorithm; 2] = [Algorithm::RS256, Algorithm::ES256];

static RING: CryptoProvider =
    CryptoProvider { signer_factory: no_signer, verifier_factory: verifier, key_utils: KeyUtils::new_unimplemented() };

/// Makes this process verify all tokens with ring. Call it once, at the start.
pub(crate) fn use_ring() {
    if RING.install_default().is_err() {
        tracing::error!("another crypto provider is already installed");
    }
}

fn no_signer(_: &Algorithm, _: &EncodingKey) -> Result<Box<dyn JwtSigner>, Error> {
    Err(ErrorKind::InvalidAlgorithm.into())
}

fn verifier(algorithm: &Algorithm, key: &DecodingKey) -> Result<Box<dyn JwtVerifier>, Error> {
    match (algorithm, key.kind()) {
        (Algorithm::RS256, DecodingKeyKind::RsaModulusExponent { n, e }) => {
            Ok(Box::new(Rs256(RsaPublicKeyComponents { n: n.clone(), e: e.clone() })))
        }
        (Algorithm::ES256, DecodingKeyKind::SecretOrDer(point)) if key.family() == algorithm.family() => {
            Ok(Box::new(Es256(UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, point.clone()))))
        }
        _ => Err(ErrorKind::InvalidAlgorithm.into()),
    }
}

struct Rs256(RsaPublicKeyComponents<Vec<u8>>);

impl signature::Verifier<Vec<u8>> for Rs256 {
    fn verify(&self, message: &[u8], signature: &Vec<u8>) -> Result<(), signature::Error> {
        let checked = self.0.verify(&RSA_PKCS1_2048_8192_SHA256, message, signature);
        checked.map_err(|_| signature::Error::new())
    }
}

impl JwtVerifier for Rs256 {
    fn algorithm(&self) -> Algorithm {
        Algorithm::RS256
    }
}

struct Es256(UnparsedPublicKey<Vec<u8>>);

impl signature::Verifier<Vec<u8>> for Es256 {
    fn verify(&self, message: &[u8], signature: &Vec<u8>) -> Result<(), signature::Error> {
        self.0.verify(message, signature).map_err(|_| signature::Error::new())
    }
}

impl JwtVerifier for Es256 {
    fn algorithm(&self) -> Algorithm {
        Algorithm::ES256
    }
}
