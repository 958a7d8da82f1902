use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::Mac;
use sale::{RoundId, RoundNumber, SaleId};
use serde::{Deserialize, Serialize};

use crate::line::keys::{TAG, tagged};
use crate::line::order::WHOLE_PPB;
use crate::line::{Class, InvalidTicket, LineKeys, LineOrder, Place};

/// Version, key number, round (4 bytes), early (4), second (8), part of that second (4), order (32).
const BODY: usize = 1 + 1 + 4 + 4 + 8 + 4 + 32;
const VERSION: u8 = 1;

/// How far a line has moved. It never moves back: of two watermarks of a round the greater one is the later one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Watermark {
    /// Early users whose place, in parts per billion, is below this are admitted.
    pub early_ppb: u32,
    /// Users who came late before this second since the Unix epoch are admitted, once all early ones are.
    pub late_s: u64,
    /// And of those who came in that second, users whose place, in parts per billion, is below this.
    pub late_ppb: u32,
}

impl Watermark {
    pub const fn admits(&self, class: Class, place: Place) -> bool {
        match class {
            Class::Early => place.ppb() < self.early_ppb,
            Class::Late(second) => {
                let is_before = second < self.late_s || second == self.late_s && place.ppb() < self.late_ppb;
                self.early_ppb >= WHOLE_PPB && is_before
            }
        }
    }

    /// Seals the watermark and the order as text. Clients may show an old one: who is admitted stays so.
    pub fn seal(&self, order: &LineOrder, keys: &LineKeys, round: &RoundId) -> String {
        let (number, key) = keys.signing();
        let mut bytes = vec![VERSION, number];
        bytes.extend(round.number.0.to_be_bytes());
        bytes.extend(self.early_ppb.to_be_bytes());
        bytes.extend(self.late_s.to_be_bytes());
        bytes.extend(self.late_ppb.to_be_bytes());
        bytes.extend(order.0);
        bytes.extend(tagged(&key.watermark, &round.sale, &bytes).finalize().into_bytes());
        URL_SAFE_NO_PAD.encode(bytes)
    }

    /// Whether a text may be a watermark or a ticket that was sealed with a key that has been removed from these.
    pub fn is_of_another_key(text: &str, keys: &LineKeys) -> bool {
        let head = text.get(..4).and_then(|head| URL_SAFE_NO_PAD.decode(head).ok());
        head.is_some_and(|head| head[0] == VERSION && keys.key(head[1]).is_none())
    }

    /// Parses a watermark of this sale: the round, the order of its users, and how far its line had moved.
    pub fn open(text: &str, keys: &LineKeys, sale: &SaleId) -> Result<(RoundNumber, LineOrder, Self), InvalidTicket> {
        let mut bytes = [0; BODY + TAG];
        if URL_SAFE_NO_PAD.decode_slice(text, &mut bytes) != Ok(BODY + TAG) {
            return Err(InvalidTicket);
        }
        let (body, tag) = bytes.split_at(BODY);
        let key = keys.key(body[1]).ok_or(InvalidTicket)?;
        tagged(&key.watermark, sale, body).verify_slice(tag).map_err(|_| InvalidTicket)?;
        if body[0] != VERSION {
            return Err(InvalidTicket);
        }
        let number = |from: usize, to: usize| body[from..to].iter().fold(0, |n, byte| n << 8 | u64::from(*byte));
        let order = LineOrder(body[22..].try_into().map_err(|_| InvalidTicket)?);
        let watermark =
            Self { early_ppb: number(6, 10) as u32, late_s: number(10, 18), late_ppb: number(18, 22) as u32 };
        Ok((RoundNumber(number(2, 6) as u32), order, watermark))
    }
}
