use serde::Serialize;

use crate::award::bytes::Seed;
use crate::award::stream::Stream;

/// The largest number of parts of a split: its table is made and checked in about a second.
pub const MAX_PARTS: u32 = 1_000_000;
/// The largest amount to split. Twice as much is still exact in JavaScript.
pub const MAX_TOTAL_MINOR: u64 = 1_000_000_000_000;
pub const MAX_TICKETS: u32 = 10_000_000;
pub const MAX_PRIZE_KINDS: usize = 1_000;

/// The public input of a table: everything it is computed from except the seed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Plan {
    /// `total` in equal parts, see [`split_equal`](crate::award::split_equal).
    Equal { total: u64, parts: u32, min: u64 },
    /// `total` in drawn parts, see [`split_drawn`](crate::award::split_drawn).
    Drawn { total: u64, parts: u32, min: u64 },
    /// Prizes and blanks, see [`prizes_table`](crate::award::prizes_table).
    Prizes {
        counts: Vec<u32>,
        /// Number of units: tickets, or the entries of a draw at the end.
        tickets: u32,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum InvalidPlan {
    #[error("a split has 1 to {MAX_PARTS} parts")]
    Parts,
    #[error("a part is at least 1 minor unit")]
    Min,
    #[error("the total is at least parts × min, and at most {MAX_TOTAL_MINOR} minor units")]
    Total,
    #[error("a lottery has at most {MAX_TICKETS} tickets")]
    Tickets,
    #[error("a lottery has at most {MAX_PRIZE_KINDS} kinds of prizes")]
    PrizeKinds,
}

impl Plan {
    pub fn check(&self) -> Result<(), InvalidPlan> {
        match *self {
            Self::Equal { parts, .. } | Self::Drawn { parts, .. } if !(1..=MAX_PARTS).contains(&parts) => {
                Err(InvalidPlan::Parts)
            }
            Self::Equal { min: 0, .. } | Self::Drawn { min: 0, .. } => Err(InvalidPlan::Min),
            Self::Equal { total, parts, min } | Self::Drawn { total, parts, min } => {
                let fits = min.checked_mul(u64::from(parts)).is_some_and(|least| least <= total);
                if fits && total <= MAX_TOTAL_MINOR { Ok(()) } else { Err(InvalidPlan::Total) }
            }
            Self::Prizes { tickets, .. } if tickets > MAX_TICKETS => Err(InvalidPlan::Tickets),
            Self::Prizes { ref counts, .. } if counts.len() > MAX_PRIZE_KINDS => Err(InvalidPlan::PrizeKinds),
            Self::Prizes { .. } => Ok(()),
        }
    }

    pub const fn units(&self) -> u32 {
        match self {
            Self::Equal { parts, .. } | Self::Drawn { parts, .. } => *parts,
            Self::Prizes { tickets, .. } => *tickets,
        }
    }
}

/// Equal parts. If `total` is not a multiple of `parts`, the first `total % parts` parts are one larger. The
/// caller has checked the plan.
pub fn split_equal(total: u64, parts: u32) -> Vec<u64> {
    let (each, more) = (total / u64::from(parts), total % u64::from(parts));
    (0..u64::from(parts)).map(|part| each + u64::from(part < more)).collect()
}

/// Parts of different sizes, each at least `min`, whose sum is `total`: the double-mean sequence.
///
/// With `rest` = `total` - `parts` × `min`, the parts are made one by one. While `left` parts (including this one)
/// remain and `left` is more than 1, a part is `min` + x, where x is drawn from 0 to ⌊2 × `rest` / `left`⌋, inclusive,
/// and subtracted from `rest`. The last part is `min` + what is left of `rest`. The numbers come from the [`Stream`] of
/// `seed` with the label `award/1/split`.
///
/// All parts have the same mean, up to rounding, but later ones vary more, so they have to be shuffled. The caller has
/// checked the plan.
pub fn split_drawn(seed: &Seed, total: u64, parts: u32, min: u64) -> Vec<u64> {
    let mut stream = Stream::new(seed, "award/1/split");
    let mut rest = total - u64::from(parts) * min;
    let part = |left: u32| {
        // With at least two parts left, twice the mean of what is left is at most all of it.
        let more = if left > 1 { stream.below(2 * rest / u64::from(left) + 1) } else { rest };
        rest -= more;
        min + more
    };
    (1..=parts).rev().map(part).collect()
}
