use award::{Hex, Seed};
use jiff::Timestamp;
use sale::{EpochMs, RoundId, SaleId};
use serde::{Deserialize, Serialize};

use crate::{Front, PEOPLE_ERROR_PERCENT};

/// What a line does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LineState {
    /// The sale opens later.
    Before,
    /// People are admitted.
    Moving,
    /// Operators hold it up, or the sale.
    Paused,
    /// No unit is free. Some may come back, and then it goes on.
    SoldOut,
    /// The sale is over.
    Ended,
}

/// What everybody may know of a line: the same for all, so a cache can give it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LineDocument {
    /// The sale.
    pub sale: SaleId,
    /// The round.
    pub round: u32,
    /// What the line does.
    pub state: LineState,
    /// What the round published before anybody came, see [`commit`](crate::commit): 64 hex digits.
    pub commitment: String,
    /// What the order follows from: 64 hex digits. None before the sale opens.
    pub seed: Option<String>,
    /// When the sale opens.
    pub opens_at: Timestamp,
    /// From when on tickets are given.
    pub tickets_from: Timestamp,
    /// How many people there are.
    pub people: People,
    /// Who is admitted.
    pub admitted: Admitted,
    /// What is left for them.
    pub units: Units,
    /// How long to wait before the next look; 0 if it changes no more.
    pub poll_after_ms: u64,
    /// What who is admitted shows along with the ticket. None before the sale opens.
    pub front: Option<String>,
}

/// How many people are in a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct People {
    /// Those who came early.
    pub estimate: u64,
    /// How far that may be off.
    pub error_percent: u64,
    /// Those who came late.
    pub late: u64,
}

/// Who is admitted: the numbers of a [`Front`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Admitted {
    /// Everybody early whose place is below this.
    pub early_ppb: u32,
    /// Everybody late who came before this second. None as long as not all early ones are admitted.
    pub late_until: Option<Timestamp>,
    /// And of those who came in this second everybody whose place is below this.
    pub late_ppb: u32,
    /// How many late ones that is, as far as they are counted. The version before does not say.
    #[serde(default)]
    pub late: u64,
    /// People who are admitted every second while the line moves.
    pub per_s: u64,
    /// When that was so.
    pub as_of: Timestamp,
}

/// The units of the round.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Units {
    /// All of them.
    pub total: u64,
    /// Those that somebody has.
    pub sold: u64,
    /// How many of these may come back, at most.
    pub may_return: u64,
}

impl People {
    /// So many early and late ones.
    pub const fn of(estimate: u64, late: u64) -> Self {
        Self { estimate, error_percent: PEOPLE_ERROR_PERCENT, late }
    }
}

impl Admitted {
    /// What a front says, as of a moment, with so many late ones admitted.
    pub fn of(front: &Front, late: u64, per_s: u64, as_of: EpochMs) -> Self {
        let late_until = EpochMs(i64::try_from(front.late_s).unwrap_or(i64::MAX).saturating_mul(1000));
        let late_until = (front.late_s > 0).then(|| late_until.into());
        Self { early_ppb: front.early_ppb, late_until, late_ppb: front.late_ppb, late, per_s, as_of: as_of.into() }
    }

    /// The front that these numbers say.
    pub fn front(&self) -> Front {
        let late_s = self.late_until.map_or(0, |until| until.as_second().try_into().unwrap_or(0));
        Front { early_ppb: self.early_ppb, late_s, late_ppb: self.late_ppb }
    }
}

impl LineDocument {
    /// The round.
    pub fn round_id(&self) -> RoundId {
        RoundId { sale: self.sale.clone(), number: sale::RoundNumber(self.round) }
    }

    /// The seed, if it is out.
    pub fn seed(&self) -> Option<Seed> {
        self.seed.as_deref().and_then(award::bytes32).map(Seed)
    }

    /// A seed as the document has it.
    pub fn seed_text(seed: &Seed) -> String {
        Hex(&seed.0).to_string()
    }
}
