use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, Mac};
use sale::{BuyerClass, EpochMs, MAX_LEAD_S, RoundNumber, SaleId, UserId};
use sha2::Sha256;

use crate::KeyRing;

/// How long a pass is valid, in seconds: long enough to fill in a form, short enough to make a sold one worthless.
pub const PASS_LIFE_S: u32 = 300;
/// How far Redis's clock, which dates passes, may be ahead of the reader's, in seconds.
const CLOCK_DIFFERENCE_S: u32 = 5;

/// Version, key number, class (3 bytes: 23 bits for the lead in seconds, and one for whether the user may have units of
/// the quota), round (4 bytes), time (6 bytes). The tag follows.
const HEAD: usize = 1 + 1 + 3 + 4 + 6;
const VERSION: u8 = 1;
const _: () = assert!(MAX_LEAD_S < 1 << 23);
const TAG: usize = 32;

/// The contents of a pass: permission for its user to reserve in a round of its sale.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pass {
    pub round: RoundNumber,
    /// When the user was admitted, by Redis's clock.
    pub issued_at_ms: EpochMs,
    pub class: BuyerClass,
}

/// Not a valid pass for this user and sale. The reason is not disclosed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a valid pass for this user and sale")]
pub struct BadToken;

impl KeyRing {
    /// The pass as text, for the path of a request.
    pub fn seal(&self, pass: &Pass, sale: &SaleId, user: &UserId) -> String {
        let (number, key) = self.signing();
        let mut bytes = Vec::with_capacity(HEAD + TAG);
        bytes.extend(head(number, pass));
        bytes.extend(tagged(key, &bytes, sale, user).finalize().into_bytes());
        URL_SAFE_NO_PAD.encode(bytes)
    }

    /// Whether this system gave the user this pass for this sale, expired or not: keeping one too long is not forgery.
    pub fn has_sealed(&self, token: &str, sale: &SaleId, user: &UserId) -> bool {
        self.bytes_of(token, sale, user).is_ok()
    }

    /// Verifies and parses a pass of `user` for `sale` that has not expired. Fails with [`BadToken`] if it is none.
    pub fn open(&self, token: &str, sale: &SaleId, user: &UserId, now: EpochMs) -> Result<Pass, BadToken> {
        let bytes = self.bytes_of(token, sale, user)?;
        // Only sealed texts get here, though possibly from another version.
        let pass = read(&bytes[..HEAD]).ok_or(BadToken)?;
        let at = pass.issued_at_ms;
        if now >= at.plus_s(PASS_LIFE_S) || at > now.plus_s(CLOCK_DIFFERENCE_S) { Err(BadToken) } else { Ok(pass) }
    }

    fn bytes_of(&self, token: &str, sale: &SaleId, user: &UserId) -> Result<[u8; HEAD + TAG], BadToken> {
        let mut bytes = [0; HEAD + TAG];
        if URL_SAFE_NO_PAD.decode_slice(token, &mut bytes) != Ok(HEAD + TAG) {
            return Err(BadToken);
        }
        let (head, tag) = bytes.split_at(HEAD);
        tagged(self.key(head[1]).ok_or(BadToken)?, head, sale, user).verify_slice(tag).map_err(|_| BadToken)?;
        Ok(bytes)
    }
}

/// The first bytes of a pass, before the tag.
fn head(number: u8, Pass { round, issued_at_ms, class }: &Pass) -> [u8; HEAD] {
    let mut head = [0; HEAD];
    let class = class.lead_s.min(MAX_LEAD_S) << 1 | u32::from(class.has_quota);
    head[0] = VERSION;
    head[1] = number;
    head[2..5].copy_from_slice(&class.to_be_bytes()[1..]);
    head[5..9].copy_from_slice(&round.0.to_be_bytes());
    // The first two bytes are 0 until the year 10889.
    head[9..].copy_from_slice(&issued_at_ms.0.to_be_bytes()[2..]);
    head
}

fn read(head: &[u8]) -> Option<Pass> {
    if head[0] != VERSION {
        return None;
    }
    let class = number(&head[2..5]) as u32;
    Some(Pass {
        round: RoundNumber(number(&head[5..9]) as u32),
        issued_at_ms: EpochMs(number(&head[9..]) as i64),
        class: BuyerClass { lead_s: class >> 1, has_quota: class & 1 == 1 },
    })
}

/// A big-endian number of up to 8 bytes.
fn number(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0, |number, byte| number << 8 | u64::from(*byte))
}

/// Covers the head, the sale and the user, each text preceded by its length so that different inputs cannot collide.
fn tagged(mut key: Hmac<Sha256>, head: &[u8], sale: &SaleId, user: &UserId) -> Hmac<Sha256> {
    key.update(head);
    for text in [sale.as_str(), user.as_str()] {
        key.update(&(text.len() as u64).to_be_bytes());
        key.update(text.as_bytes());
    }
    key
}
