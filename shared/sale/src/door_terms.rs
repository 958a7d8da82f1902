use serde::{Deserialize, Serialize};

use crate::invalid_terms::{InvalidTerms, within};

/// The highest number of violations that a sale can require before it blocks a user.
pub const MAX_VIOLATIONS: u32 = 100;
pub const MAX_VIOLATION_WINDOW_S: u32 = 24 * 60 * 60;
/// The longest block for violations. Operators may block for longer.
pub const MAX_BLOCKED_FOR_S: u32 = 31 * 24 * 60 * 60;
/// The highest plan: ten times what the gateway accepts for one account unless AWS raises it.
pub const MAX_PLANNED_REQUESTS_PER_S: u32 = 100_000;

/// Who is blocked from a sale, and how many people are expected.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DoorTerms {
    pub violations: u32,
    /// The time within which violations add up, from the first one, in seconds.
    pub violation_window_s: u32,
    pub blocked_for_s: u32,
    /// How many of a user's reservations in a round may end unpaid, cancelled or expired, before the user gets no more.
    pub unpaid_limit: u8,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub planned_requests_per_s: Option<u32>,
}

impl Default for DoorTerms {
    fn default() -> Self {
        Self {
            violations: 10,
            violation_window_s: 600,
            blocked_for_s: 3600,
            unpaid_limit: 3,
            planned_requests_per_s: None,
        }
    }
}

impl DoorTerms {
    pub(crate) fn validate(&self) -> Result<(), InvalidTerms> {
        let Self { violations, violation_window_s, blocked_for_s, unpaid_limit, planned_requests_per_s } = self;
        within(1..=MAX_VIOLATIONS, "door.violations", *violations)?;
        within(1..=MAX_VIOLATION_WINDOW_S, "door.violation_window_s", *violation_window_s)?;
        within(1..=MAX_BLOCKED_FOR_S, "door.blocked_for_s", *blocked_for_s)?;
        within(1..=u8::MAX, "door.unpaid_limit", *unpaid_limit)?;
        planned_requests_per_s
            .map_or(Ok(()), |plan| within(1..=MAX_PLANNED_REQUESTS_PER_S, "door.planned_requests_per_s", plan))
    }
}
