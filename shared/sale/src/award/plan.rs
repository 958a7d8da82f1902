/// The largest number of parts of a split: its table is made and checked in about a second.
pub const MAX_PARTS: u32 = 1_000_000;
/// The largest amount to split. Twice as much is still exact in JavaScript.
pub const MAX_TOTAL_MINOR: u64 = 1_000_000_000_000;
pub const MAX_TICKETS: u32 = 10_000_000;
pub const MAX_PRIZE_KINDS: usize = 1_000;

/// The public input of a table: everything it is computed from except the seed.
#[derive(Debug, Clone, PartialEq, Eq)]
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
        match self {
            Self::Equal { total, parts, min } | Self::Drawn { total, parts, min } => {
                if !(1..=MAX_PARTS).contains(parts) {
                    return Err(InvalidPlan::Parts);
                }
                if *min == 0 {
                    return Err(InvalidPlan::Min);
                }
                let least = min.checked_mul(u64::from(*parts));
                if *total > MAX_TOTAL_MINOR || least.is_none_or(|least| least > *total) {
                    return Err(InvalidPlan::Total);
                }
            }
            Self::Prizes { counts, tickets } => {
                if *tickets > MAX_TICKETS {
                    return Err(InvalidPlan::Tickets);
                }
                if counts.len() > MAX_PRIZE_KINDS {
                    return Err(InvalidPlan::PrizeKinds);
                }
            }
        }
        Ok(())
    }

    pub const fn units(&self) -> u32 {
        match self {
            Self::Equal { parts, .. } | Self::Drawn { parts, .. } => *parts,
            Self::Prizes { tickets, .. } => *tickets,
        }
    }
}

/// Panics if the plan violates a bound, which the caller must have checked.
pub(crate) fn in_bounds(plan: &Plan) {
    if let Err(invalid) = plan.check() {
        panic!("{invalid}: {plan:?}");
    }
}
