use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use hmac::{Hmac, KeyInit, Mac};
use serde::Deserialize;
use sha2::Sha256;

/// How many keys a ring can have: a rotation takes two, and a third is for a rotation that was begun and not completed.
pub const MAX_KEYS: usize = 3;
/// The shortest key, in bytes: 32 random characters have more than 128 bits.
pub const MIN_KEY_LENGTH: usize = 32;
/// The longest key, in bytes. Anything longer than a block of SHA-256 (64 bytes) makes no key stronger.
pub const MAX_KEY_LENGTH: usize = 256;

/// The shortest purpose of a derived key. Its length comes first, where passes have their version, which is smaller.
const SHORTEST_PURPOSE: u8 = 8;

/// A text that is not a ring of keys. The error does not contain the keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum InvalidKeyRing {
    #[error("the keys must have the form {{\"signing\":1,\"key1\":\"…\"}}")]
    Form,
    #[error("a key is named key1 to key255")]
    Name,
    #[error("a key has {MIN_KEY_LENGTH} to {MAX_KEY_LENGTH} bytes")]
    Length,
    #[error("there are at most {MAX_KEYS} keys")]
    TooMany,
    #[error("the signing key is not in the ring")]
    NoSigningKey,
}

#[derive(Deserialize)]
struct Document {
    signing: u8,
    #[serde(flatten)]
    keys: BTreeMap<String, String>,
}

/// The keys that seal passes: one seals, all of them open. So every process knows a new key before the first pass is
/// sealed with it, and an old one until its last pass has expired.
#[derive(Clone)]
pub struct KeyRing {
    signing: u8,
    // Precomputed: each key's hash state is set up once.
    keys: BTreeMap<u8, Hmac<Sha256>>,
}

impl KeyRing {
    pub(crate) fn signing(&self) -> (u8, Hmac<Sha256>) {
        (self.signing, self.keys[&self.signing].clone())
    }

    pub(crate) fn key(&self, number: u8) -> Option<Hmac<Sha256>> {
        self.keys.get(&number).cloned()
    }

    pub const fn signing_number(&self) -> u8 {
        self.signing
    }

    /// Derives a key for another purpose from each of these, by number: HMAC-SHA256 under it of the length of `purpose`
    /// in one byte, and `purpose`. Passes cannot collide with a purpose, since their first byte is their version.
    pub fn derived(&self, purpose: &str) -> BTreeMap<u8, [u8; 32]> {
        let length = u8::try_from(purpose.len()).expect("a purpose is short");
        assert!(length >= SHORTEST_PURPOSE, "it could be taken for a pass");
        let of = |key: &Hmac<Sha256>| key.clone().chain_update([length]).chain_update(purpose).finalize().into_bytes();
        self.keys.iter().map(|(number, key)| (*number, of(key).into())).collect()
    }
}

impl FromStr for KeyRing {
    type Err = InvalidKeyRing;

    fn from_str(text: &str) -> Result<Self, InvalidKeyRing> {
        let document: Document = serde_json::from_str(text).map_err(|_| InvalidKeyRing::Form)?;
        if document.keys.len() > MAX_KEYS {
            return Err(InvalidKeyRing::TooMany);
        }
        let mut keys = BTreeMap::new();
        for (name, key) in &document.keys {
            let number = number(name).ok_or(InvalidKeyRing::Name)?;
            if !(MIN_KEY_LENGTH..=MAX_KEY_LENGTH).contains(&key.len()) {
                return Err(InvalidKeyRing::Length);
            }
            keys.insert(number, Hmac::new_from_slice(key.as_bytes()).map_err(|_| InvalidKeyRing::Length)?);
        }
        if !keys.contains_key(&document.signing) {
            return Err(InvalidKeyRing::NoSigningKey);
        }
        Ok(Self { signing: document.signing, keys })
    }
}

/// `key7` is 7. A number has only one name.
fn number(name: &str) -> Option<u8> {
    let text = name.strip_prefix("key")?;
    let number = text.parse().ok()?;
    (number > 0 && format!("{number}") == text).then_some(number)
}

impl fmt::Debug for KeyRing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let known: Vec<_> = self.keys.keys().collect();
        f.debug_struct("KeyRing").field("signing", &self.signing).field("known", &known).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "0123456789abcdef0123456789abcdef";

    #[test]
    fn a_ring_is_read() {
        let ring: KeyRing = format!(r#"{{"signing":2,"key1":"{KEY}","key2":"{KEY}"}}"#).parse().unwrap();
        assert_eq!(format!("{ring:?}"), "KeyRing { signing: 2, known: [1, 2] }");
    }

    #[test]
    fn anything_else_is_refused() {
        let long = "k".repeat(MAX_KEY_LENGTH + 1);
        for (text, error) in [
            (String::new(), InvalidKeyRing::Form),
            ("[]".to_owned(), InvalidKeyRing::Form),
            (format!(r#"{{"key1":"{KEY}"}}"#), InvalidKeyRing::Form),
            (format!(r#"{{"signing":"1","key1":"{KEY}"}}"#), InvalidKeyRing::Form),
            (format!(r#"{{"signing":256,"key1":"{KEY}"}}"#), InvalidKeyRing::Form),
            (r#"{"signing":1,"key1":7}"#.to_owned(), InvalidKeyRing::Form),
            (r#"{"signing":1}"#.to_owned(), InvalidKeyRing::NoSigningKey),
            (format!(r#"{{"signing":2,"key1":"{KEY}"}}"#), InvalidKeyRing::NoSigningKey),
            (r#"{"signing":1,"key1":""}"#.to_owned(), InvalidKeyRing::Length),
            (format!(r#"{{"signing":1,"key1":"{}"}}"#, &KEY[1..]), InvalidKeyRing::Length),
            (format!(r#"{{"signing":1,"key1":"{long}"}}"#), InvalidKeyRing::Length),
            (format!(r#"{{"signing":0,"key0":"{KEY}"}}"#), InvalidKeyRing::Name),
            (format!(r#"{{"signing":1,"key01":"{KEY}"}}"#), InvalidKeyRing::Name),
            (format!(r#"{{"signing":1,"key1":"{KEY}","note":"{KEY}"}}"#), InvalidKeyRing::Name),
            (
                format!(r#"{{"signing":1,"key1":"{KEY}","key2":"{KEY}","key3":"{KEY}","key4":"{KEY}"}}"#),
                InvalidKeyRing::TooMany,
            ),
        ] {
            assert_eq!(text.parse::<KeyRing>().unwrap_err(), error, "{text}");
        }
    }
}
