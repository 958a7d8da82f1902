use std::fmt;

use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};

/// A digest, a key or randomness.
pub type Bytes32 = [u8; 32];

/// The secret of a round, until the round is over: 32 random bytes. `Debug` does not print them.
#[derive(Clone, PartialEq, Eq)]
pub struct Seed(pub Bytes32);

impl fmt::Debug for Seed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Seed(…)")
    }
}

#[derive(Debug, Clone, Copy)]
pub struct Hex<'a>(pub &'a [u8]);

impl fmt::Display for Hex<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// Parses 64 lower-case hex digits. Upper case is refused, so that a value has one text.
pub fn bytes32(hex: &str) -> Option<Bytes32> {
    bytes_of_hex(hex)
}

/// Parses `N` bytes from lower-case hex digits.
pub(crate) fn bytes_of_hex<const N: usize>(hex: &str) -> Option<[u8; N]> {
    let (pairs, rest) = hex.as_bytes().as_chunks::<2>();
    let mut bytes = [0; N];
    if pairs.len() != bytes.len() || !rest.is_empty() {
        return None;
    }
    for (byte, [high, low]) in bytes.iter_mut().zip(pairs) {
        *byte = digit(*high)? << 4 | digit(*low)?;
    }
    Some(bytes)
}

const fn digit(text: u8) -> Option<u8> {
    match text {
        b'0'..=b'9' => Some(text - b'0'),
        b'a'..=b'f' => Some(text - b'a' + 10),
        _ => None,
    }
}

/// SHA-256 of the length of `label` in one byte, `label`, and the concatenated parts.
pub(crate) fn labelled(label: &str, parts: &[&[u8]]) -> Bytes32 {
    let mut hash = Sha256::new().chain_update([length(label)]).chain_update(label);
    parts.iter().for_each(|part| hash.update(part));
    hash.finalize().into()
}

/// HMAC-SHA256 under `key`, fed with the length of `label` in one byte, and `label`.
pub(crate) fn keyed(key: &Seed, label: &str) -> Hmac<Sha256> {
    let mac = Hmac::<Sha256>::new_from_slice(&key.0).expect("HMAC takes keys of any length");
    mac.chain_update([length(label)]).chain_update(label)
}

fn length(label: &str) -> u8 {
    u8::try_from(label.len()).expect("a label has at most 255 bytes")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hex_reads_back_and_has_one_form() {
        let bytes: Bytes32 = std::array::from_fn(|n| n as u8 * 7 + 3);
        let text = Hex(&bytes).to_string();
        assert_eq!(bytes32(&text), Some(bytes));
        for wrong in
            [&text[1..], &format!("{text}0"), &format!("{text}00"), &text.to_uppercase(), &text.replace('a', "g")]
        {
            assert_eq!(bytes32(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_seed_is_not_printed() {
        assert_eq!(format!("{:?}", Seed([7; 32])), "Seed(…)");
    }
}
