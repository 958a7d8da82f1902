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

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(change: impl FnOnce(&mut DoorTerms)) -> Result<(), &'static str> {
        let mut door = DoorTerms::default();
        change(&mut door);
        door.validate().map_err(|invalid| invalid.field())
    }

    #[test]
    fn ten_violations_block_unless_a_sale_says_otherwise() {
        assert_eq!(DoorTerms::default().violations, 10);
    }

    #[test]
    fn bounds_are_inclusive() {
        assert_eq!(verdict(|_| {}), Ok(()));
        assert_eq!(verdict(|d| d.violations = 1), Ok(()));
        assert_eq!(verdict(|d| d.violations = MAX_VIOLATIONS), Ok(()));
        assert_eq!(verdict(|d| d.violation_window_s = MAX_VIOLATION_WINDOW_S), Ok(()));
        assert_eq!(verdict(|d| d.blocked_for_s = MAX_BLOCKED_FOR_S), Ok(()));
        assert_eq!(verdict(|d| d.unpaid_limit = 1), Ok(()));
        assert_eq!(verdict(|d| d.planned_requests_per_s = Some(MAX_PLANNED_REQUESTS_PER_S)), Ok(()));
    }

    #[test]
    fn outside_the_bounds_is_refused() {
        assert_eq!(verdict(|d| d.violations = 0), Err("door.violations"));
        assert_eq!(verdict(|d| d.violations = MAX_VIOLATIONS + 1), Err("door.violations"));
        assert_eq!(verdict(|d| d.violation_window_s = 0), Err("door.violation_window_s"));
        assert_eq!(verdict(|d| d.violation_window_s = MAX_VIOLATION_WINDOW_S + 1), Err("door.violation_window_s"));
        assert_eq!(verdict(|d| d.blocked_for_s = 0), Err("door.blocked_for_s"));
        assert_eq!(verdict(|d| d.blocked_for_s = MAX_BLOCKED_FOR_S + 1), Err("door.blocked_for_s"));
        assert_eq!(verdict(|d| d.unpaid_limit = 0), Err("door.unpaid_limit"));
        for plan in [0, MAX_PLANNED_REQUESTS_PER_S + 1] {
            assert_eq!(verdict(|d| d.planned_requests_per_s = Some(plan)), Err("door.planned_requests_per_s"));
        }
    }
}
