use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, Mac};
use sale::{EpochMs, RoundId, RoundNumber, SaleId, UserId};
use sha2::Sha256;

use crate::KeyRing;

/// How long a pass holds: long enough to fill in a form, short enough that a sold one is of little use.
pub const PASS_LIFE_S: u32 = 300;
/// How far the clock that dated a pass, Redis's, may be ahead of the one that reads it.
const CLOCK_DIFFERENCE_S: u32 = 5;

const VERSION: u8 = 1;
/// What the version before wrote into the flags of a returning user's pass. It means nothing any more.
const RETURNING: u8 = 1;
/// Version, key's number, flags, round, moment.
const HEAD: usize = 1 + 1 + 1 + 4 + 8;
const TAG: usize = 32;

/// Leave for one user to try for a unit in one round of a sale.
#[derive(Debug, Clone, Copy)]
pub struct Grant<'a> {
    /// The round.
    pub round: &'a RoundId,
    /// The user.
    pub user: &'a UserId,
    /// When the user was let in, by Redis's clock.
    pub issued_at_ms: EpochMs,
}

/// What a pass says, once it is known to be one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pass {
    /// The sale's round that it is for.
    pub round: RoundNumber,
    /// When the user was let in, by Redis's clock.
    pub issued_at_ms: EpochMs,
}

/// No pass for this user and sale now. Whoever is refused learns nothing of why.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("this is no pass for this user and sale now")]
pub struct BadToken;

impl KeyRing {
    /// The pass as text, for the path of a request.
    pub fn seal(&self, grant: &Grant<'_>) -> String {
        let (number, key) = self.signing();
        let mut bytes = Vec::with_capacity(HEAD + TAG);
        bytes.extend([VERSION, number, 0]);
        bytes.extend(grant.round.number.0.to_be_bytes());
        bytes.extend(grant.issued_at_ms.0.to_be_bytes());
        let tag = tagged(key, &bytes, &grant.round.sale, grant.user).finalize().into_bytes();
        bytes.extend(tag);
        URL_SAFE_NO_PAD.encode(bytes)
    }

    /// Whether this system gave the user this pass for this sale, over or not: who kept one too long is no forger.
    pub fn has_sealed(&self, token: &str, sale: &SaleId, user: &UserId) -> bool {
        self.bytes_of(token, sale, user).is_ok()
    }

    /// Reads a pass of `user` for `sale`, unless it is over.
    ///
    /// # Errors
    /// [`BadToken`], whatever is wrong with it.
    pub fn open(&self, token: &str, sale: &SaleId, user: &UserId, now: EpochMs) -> Result<Pass, BadToken> {
        let bytes = self.bytes_of(token, sale, user)?;
        let head = &bytes[..HEAD];
        let (number, at) = (head[3..7].try_into(), head[7..].try_into());
        let round = RoundNumber(number.map(u32::from_be_bytes).map_err(|_| BadToken)?);
        let issued_at_ms = EpochMs(at.map(i64::from_be_bytes).map_err(|_| BadToken)?);
        // From here on only what this system sealed is looked at, if not this version of it.
        let known = head[0] == VERSION && head[2] & !RETURNING == 0;
        if !known || now >= issued_at_ms.plus_s(PASS_LIFE_S) || issued_at_ms > now.plus_s(CLOCK_DIFFERENCE_S) {
            return Err(BadToken);
        }
        Ok(Pass { round, issued_at_ms })
    }
}

impl KeyRing {
    fn bytes_of(&self, token: &str, sale: &SaleId, user: &UserId) -> Result<[u8; HEAD + TAG], BadToken> {
        let mut bytes = [0; HEAD + TAG];
        if URL_SAFE_NO_PAD.decode_slice(token, &mut bytes) != Ok(HEAD + TAG) {
            return Err(BadToken);
        }
        let (head, tag) = bytes.split_at(HEAD);
        let key = self.key(head[1]).ok_or(BadToken)?;
        tagged(key, head, sale, user).verify_slice(tag).map_err(|_| BadToken)?;
        Ok(bytes)
    }
}

/// Over the head, the sale and the user, each text preceded by its length so that no two different inputs read alike.
fn tagged(mut key: Hmac<Sha256>, head: &[u8], sale: &SaleId, user: &UserId) -> Hmac<Sha256> {
    key.update(head);
    for text in [sale.as_str(), user.as_str()] {
        key.update(&(text.len() as u64).to_be_bytes());
        key.update(text.as_bytes());
    }
    key
}
