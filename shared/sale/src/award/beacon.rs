//! Verifies signatures of drand's chain quicknet (`bls-unchained-g1-rfc9380`): BLS signatures of 48 bytes on the curve
//! BLS12-381, under a public key that is pinned here. The times of rounds, and the randomness in a signature, are in
//! [`drand`](super::drand). The feature `beacon` is for crates that verify signatures.
//!
//! BLS signatures are unique: a round has only one valid signature, whoever asks for it.

use blst::BLST_ERROR;
use blst::min_sig;
use sha2::{Digest, Sha256};

use crate::award::bytes::bytes_of_hex;
use crate::award::drand::{DrandRound, Signature};

/// Separates signatures of this scheme from all others (RFC 9380, "Domain Separation Requirements").
pub const DOMAIN: &[u8] = b"BLS_SIG_BLS12381G1_XMD:SHA-256_SSWU_RO_NUL_";

/// The public key of quicknet: a compressed point of G2, from `/info` of the chain.
const QUICKNET: &str = "83cf0f2896adee7eb8b5f01fcad3912212c437e0073e911fb90022d3e760183c8c4b450b6a0a6c3ac6a5776a2d106451\
    0d1fec758c921cc22b0e17e63aaf4bcb5ed66304de9cf809bd274ca73bab4af5a6e9c76a4bc09e76eae8991ef5ece45a";

/// A public key that drand's rounds are signed with.
#[derive(Debug, Clone, Copy)]
pub struct DrandKey(min_sig::PublicKey);

/// The bytes are not a valid public key: not a point of the curve's group, or its neutral element, under which
/// everything would verify.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a public key of BLS12-381")]
pub struct InvalidKey;

/// The signature is not that of the round.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not the signature of drand's round {0}")]
pub struct WrongSignature(pub DrandRound);

impl DrandKey {
    /// The public key of quicknet.
    pub fn quicknet() -> Self {
        bytes_of_hex(QUICKNET).and_then(|bytes| Self::from_bytes(&bytes).ok()).expect("it is a key")
    }

    /// Parses a compressed point of G2. Fails if it is not a valid key.
    pub fn from_bytes(bytes: &[u8; 96]) -> Result<Self, InvalidKey> {
        min_sig::PublicKey::key_validate(bytes).map(Self).map_err(|_| InvalidKey)
    }

    /// Verifies the signature of a round. Fails if the signature is wrong for any reason.
    pub fn verify(&self, round: DrandRound, signature: &Signature) -> Result<(), WrongSignature> {
        let wrong = WrongSignature(round);
        // Not a point of the group at all, or its neutral element.
        let signature = min_sig::Signature::sig_validate(signature, true).map_err(|_| wrong)?;
        match signature.verify(false, &message(round), DOMAIN, &[], &self.0, false) {
            BLST_ERROR::BLST_SUCCESS => Ok(()),
            _ => Err(wrong),
        }
    }
}

/// The signed message of a round: SHA-256 of its number in 8 bytes, big endian.
pub fn message(round: DrandRound) -> [u8; 32] {
    Sha256::digest(round.0.to_be_bytes()).into()
}

#[cfg(test)]
mod tests {
    use crate::award::drand;

    use super::*;

    /// Rounds of quicknet from its API, `/public/ROUND`.
    const PUBLISHED: [(u64, &str); 5] = [
        (123, "b75c69d0b72a5d906e854e808ba7e2accb1542ac355ae486d591aa9d43765482e26cd02df835d3546d23c4b13e0dfc92"),
        (1000, "b44679b9a59af2ec876b1a6b1ad52ea9b1615fc3982b19576350f93447cb1125e342b73a8dd2bacbe47e4b6b63ed5e39"),
        (1001, "b33bf3667cbd5a82de3a24b4e0e9fe5513cc1a0e840368c6e31f5fcfa79bea03f73896b25883abf2853d10337fb8fa41"),
        (1002, "ab066f9c12dd6de1336fca0f925192fb0c72a771c3e4c82ede1fd362c1a770f9eb05843c6308ce2530b53a99c0281a6e"),
        (657_413, "b713718a38ae728dfd477991af2822e08d2f305e47718cef9f7848ce4050e7be41076862b98fad56e91a6b85b89cd97b"),
    ];

    fn published() -> impl Iterator<Item = (DrandRound, Signature)> {
        PUBLISHED.into_iter().map(|(round, hex)| (DrandRound(round), drand::signature(hex).unwrap()))
    }

    #[test]
    fn published_signatures_hold_for_their_rounds_and_no_others() {
        let key = DrandKey::quicknet();
        for (round, signature) in published() {
            assert_eq!(key.verify(round, &signature), Ok(()), "{round}");
            for other in published().map(|(other, _)| other).chain([DrandRound(round.0 + 1), DrandRound(0)]) {
                assert_eq!(key.verify(other, &signature).is_ok(), other == round, "{round} for {other}");
            }
        }
    }

    #[test]
    fn with_any_bit_flipped_it_is_wrong() {
        let (key, (round, signature)) = (DrandKey::quicknet(), published().next().unwrap());
        for bit in 0..8 * signature.len() {
            let mut flipped = signature;
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(key.verify(round, &flipped), Err(WrongSignature(round)), "bit {bit}");
        }
    }

    #[test]
    fn nothing_is_a_signature_and_nothing_is_a_key() {
        let (key, round) = (DrandKey::quicknet(), DrandRound(1));
        let mut infinity = [0; 48];
        infinity[0] = 0xc0;
        for nothing in [[0; 48], [0xff; 48], infinity] {
            assert_eq!(key.verify(round, &nothing), Err(WrongSignature(round)));
        }
        let mut infinity = [0; 96];
        infinity[0] = 0xc0;
        for nothing in [[0; 96], [0xff; 96], infinity] {
            assert_eq!(DrandKey::from_bytes(&nothing).err(), Some(InvalidKey));
        }
    }

    #[test]
    fn another_keys_signature_is_wrong() {
        let secret = min_sig::SecretKey::key_gen(&[7; 32], &[]).unwrap();
        let other = DrandKey::from_bytes(&secret.sk_to_pk().compress()).unwrap();
        let round = DrandRound(1000);
        let signature = secret.sign(&message(round), DOMAIN, &[]).compress();
        assert_eq!(other.verify(round, &signature), Ok(()));
        assert_eq!(DrandKey::quicknet().verify(round, &signature), Err(WrongSignature(round)));
        let (_, published) = published().nth(1).unwrap();
        assert_eq!(other.verify(round, &published), Err(WrongSignature(round)));
        // The right key with the domain of another scheme.
        let elsewhere = secret.sign(&message(round), b"BLS_SIG_BLS12381G2_XMD:SHA-256_SSWU_RO_NUL_", &[]).compress();
        assert_eq!(other.verify(round, &elsewhere), Err(WrongSignature(round)));
    }
}
