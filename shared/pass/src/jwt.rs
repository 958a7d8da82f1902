//! Verifies the signatures for `jsonwebtoken` with ring, which the TLS stack already includes.

use jsonwebtoken::crypto::{CryptoProvider, JwtSigner, JwtVerifier, KeyUtils};
use jsonwebtoken::errors::{Error, ErrorKind};
use jsonwebtoken::signature;
use jsonwebtoken::{Algorithm, DecodingKey, DecodingKeyKind, EncodingKey};
use ring::signature::{
    ECDSA_P256_SHA256_FIXED, RSA_PKCS1_2048_8192_SHA256, RSA_PKCS1_2048_8192_SHA384, RSA_PKCS1_2048_8192_SHA512,
    RsaParameters, RsaPublicKeyComponents, UnparsedPublicKey,
};

static RING: CryptoProvider =
    CryptoProvider { signer_factory: no_signer, verifier_factory: verifier, key_utils: KeyUtils::new_unimplemented() };

/// Makes `jsonwebtoken` verify this process's tokens with ring: RS256, RS384, RS512 and ES256. Can be repeated.
pub fn use_ring() {
    // Another provider would be installed by a feature of `jsonwebtoken`, and none is enabled.
    let _ = RING.install_default();
}

fn no_signer(_: &Algorithm, _: &EncodingKey) -> Result<Box<dyn JwtSigner>, Error> {
    Err(ErrorKind::InvalidAlgorithm.into())
}

fn verifier(algorithm: &Algorithm, key: &DecodingKey) -> Result<Box<dyn JwtVerifier>, Error> {
    match (algorithm, key.kind()) {
        (Algorithm::ES256, DecodingKeyKind::SecretOrDer(point)) if key.family() == algorithm.family() => {
            Ok(Box::new(Es256(UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, point.clone()))))
        }
        (algorithm, DecodingKeyKind::RsaModulusExponent { n, e }) => {
            let parameters = match algorithm {
                Algorithm::RS256 => &RSA_PKCS1_2048_8192_SHA256,
                Algorithm::RS384 => &RSA_PKCS1_2048_8192_SHA384,
                Algorithm::RS512 => &RSA_PKCS1_2048_8192_SHA512,
                _ => return Err(ErrorKind::InvalidAlgorithm.into()),
            };
            let key = RsaPublicKeyComponents { n: n.clone(), e: e.clone() };
            Ok(Box::new(Rsa { algorithm: *algorithm, parameters, key }))
        }
        _ => Err(ErrorKind::InvalidAlgorithm.into()),
    }
}

struct Rsa {
    algorithm: Algorithm,
    parameters: &'static RsaParameters,
    key: RsaPublicKeyComponents<Vec<u8>>,
}

impl signature::Verifier<Vec<u8>> for Rsa {
    fn verify(&self, message: &[u8], signature: &Vec<u8>) -> Result<(), signature::Error> {
        self.key.verify(self.parameters, message, signature).map_err(|_| signature::Error::new())
    }
}

impl JwtVerifier for Rsa {
    fn algorithm(&self) -> Algorithm {
        self.algorithm
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
