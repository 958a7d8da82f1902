use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::Mac;
use sale::{EpochMs, MAX_USER_ID_LENGTH, RoundNumber, SaleId, UserId};
use serde::Serialize;

use crate::line::LineKeys;
use crate::line::keys::{TAG, tagged};

/// Version, key number, class, round (4 bytes), second (8 bytes). The user's id follows, and then the tag.
const HEAD: usize = 1 + 1 + 1 + 4 + 8;
const VERSION: u8 = 1;
const EARLY: u8 = 0;
const LATE: u8 = 1;
const MAX_TEXT: usize = (HEAD + MAX_USER_ID_LENGTH + TAG).div_ceil(3) * 4;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(tag = "class", content = "second", rename_all = "snake_case")]
pub enum Class {
    /// Before the sale opened. The exact time does not matter.
    Early,
    /// After it opened, in this second since the Unix epoch.
    Late(u64),
}

/// Proof that a user is in the line of a round. Every user gets one, always the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ticket {
    pub round: RoundNumber,
    pub user: UserId,
    pub class: Class,
}

/// Not a ticket or watermark of this sale. The reason is not disclosed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not sealed by this system for this sale")]
pub struct InvalidTicket;

impl Ticket {
    pub fn seal(&self, keys: &LineKeys, sale: &SaleId) -> String {
        let (number, key) = keys.signing();
        let (class, second) = match self.class {
            Class::Early => (EARLY, 0),
            Class::Late(second) => (LATE, second),
        };
        let mut bytes = vec![VERSION, number, class];
        bytes.extend(self.round.0.to_be_bytes());
        bytes.extend(second.to_be_bytes());
        bytes.extend(self.user.as_str().as_bytes());
        bytes.extend(tagged(&key.ticket, sale, &bytes).finalize().into_bytes());
        URL_SAFE_NO_PAD.encode(bytes)
    }

    /// The user's class if the round opens at this time: who was late for an opening since postponed is early.
    pub fn class_at(&self, opens_at: EpochMs) -> Class {
        match self.class {
            Class::Late(second) if second_is_over(second) <= opens_at => Class::Early,
            class => class,
        }
    }

    /// Reads a ticket without verifying it, for its owner, who has no keys.
    pub fn said(text: &str) -> Option<Self> {
        Self::read(URL_SAFE_NO_PAD.decode(text).ok()?.split_last_chunk::<TAG>()?.0)
    }

    /// Verifies and parses a ticket for any round of this sale.
    pub fn open(text: &str, keys: &LineKeys, sale: &SaleId) -> Result<Self, InvalidTicket> {
        if text.len() > MAX_TEXT {
            return Err(InvalidTicket);
        }
        let bytes = URL_SAFE_NO_PAD.decode(text).map_err(|_| InvalidTicket)?;
        let (body, tag) = bytes.split_last_chunk::<TAG>().ok_or(InvalidTicket)?;
        let key = body.get(1).and_then(|number| keys.key(*number)).ok_or(InvalidTicket)?;
        tagged(&key.ticket, sale, body).verify_slice(tag).map_err(|_| InvalidTicket)?;
        // Only sealed texts get here, though possibly from another version.
        Self::read(body).ok_or(InvalidTicket)
    }

    fn read(body: &[u8]) -> Option<Self> {
        let (head, user) = body.split_first_chunk::<HEAD>()?;
        let [VERSION, _, class, a, b, c, d, second @ ..] = *head else { return None };
        let class = match (class, u64::from_be_bytes(second)) {
            (EARLY, 0) => Class::Early,
            (LATE, second) => Class::Late(second),
            _ => return None,
        };
        let user = str::from_utf8(user).ok()?.parse().ok()?;
        Some(Self { round: RoundNumber(u32::from_be_bytes([a, b, c, d])), user, class })
    }
}

/// The first moment after a second since the Unix epoch.
fn second_is_over(second: u64) -> EpochMs {
    EpochMs(i64::try_from(second).unwrap_or(i64::MAX).saturating_add(1).saturating_mul(1000))
}
