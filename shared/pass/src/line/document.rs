use jiff::Timestamp;
use sale::award::{self, Hex, Seed};
use sale::{EpochMs, RoundId, SaleId};
use serde::{Deserialize, Serialize};

use crate::line::{PEOPLE_ERROR_PERCENT, Watermark};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LineState {
    Before,
    Moving,
    /// Operators hold up the line or the sale.
    Paused,
    /// No unit is free. If units come back, the line moves on.
    SoldOut,
    Ended,
}

/// The public document of a line: the same for everybody, so caches can serve it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LineDocument {
    pub sale: SaleId,
    pub round: u32,
    pub state: LineState,
    /// The commitment that the round published before anybody came, see [`commit`](crate::line::commit): 64 hex digits.
    pub commitment: String,
    /// The seed of the order: 64 hex digits. `None` before the sale opens.
    pub seed: Option<String>,
    pub opens_at: Timestamp,
    pub tickets_from: Timestamp,
    pub people: People,
    pub admitted: Admitted,
    pub units: Units,
    /// How long to wait before polling again; 0 if nothing will change any more.
    pub poll_after_ms: u64,
    /// What admitted users send along with the ticket. `None` before the sale opens.
    pub watermark: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct People {
    /// Those who came early.
    pub estimate: u64,
    pub error_percent: u64,
    pub late: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Admitted {
    pub early_ppb: u32,
    /// Users who came late before this second. `None` until all early users are admitted.
    pub late_until: Option<Timestamp>,
    pub late_ppb: u32,
    pub late: u64,
    /// People admitted in a second while the line moves.
    pub per_s: u64,
    pub as_of: Timestamp,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Units {
    pub total: u64,
    pub sold: u64,
    pub may_return: u64,
}

impl People {
    pub const fn of(estimate: u64, late: u64) -> Self {
        Self { estimate, error_percent: PEOPLE_ERROR_PERCENT, late }
    }
}

impl Admitted {
    pub fn of(watermark: &Watermark, late: u64, per_s: u64, as_of: EpochMs) -> Self {
        let late_until = EpochMs(i64::try_from(watermark.late_s).unwrap_or(i64::MAX).saturating_mul(1000));
        let late_until = (watermark.late_s > 0).then(|| late_until.into());
        let Watermark { early_ppb, late_ppb, .. } = *watermark;
        Self { early_ppb, late_until, late_ppb, late, per_s, as_of: as_of.into() }
    }

    pub fn watermark(&self) -> Watermark {
        let late_s = self.late_until.map_or(0, |until| until.as_second().try_into().unwrap_or(0));
        Watermark { early_ppb: self.early_ppb, late_s, late_ppb: self.late_ppb }
    }
}

impl LineDocument {
    pub fn round_id(&self) -> RoundId {
        RoundId { sale: self.sale.clone(), number: sale::RoundNumber(self.round) }
    }

    pub fn seed(&self) -> Option<Seed> {
        self.seed.as_deref().and_then(award::bytes32).map(Seed)
    }

    pub fn seed_text(seed: &Seed) -> String {
        Hex(&seed.0).to_string()
    }
}
