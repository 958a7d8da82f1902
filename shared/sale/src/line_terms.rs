use serde::{Deserialize, Serialize};

use crate::invalid_terms::{InvalidTerms, require, within};

/// The earliest tickets, in seconds before the opening.
pub const MAX_OPENS_EARLY_S: u32 = 24 * 60 * 60;
/// The most people a line can admit in a second: more than a gateway accepts would make the line pointless.
pub const MAX_ADMITS_PER_S: u32 = 100_000;

/// The line in front of a sale that expects more people than can be served at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct LineTerms {
    /// How many seconds before the opening tickets are given out. All who have one by the opening are early.
    pub opens_early_s: u32,
    pub admits_per_s: u32,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub paused: bool,
}

impl LineTerms {
    pub(crate) fn validate(&self, has_early_access: bool, is_hidden: bool) -> Result<(), InvalidTerms> {
        let Self { opens_early_s, admits_per_s, paused: _ } = self;
        within(1..=MAX_OPENS_EARLY_S, "line.opens_early_s", *opens_early_s)?;
        within(1..=MAX_ADMITS_PER_S, "line.admits_per_s", *admits_per_s)?;
        // A line has only one opening, and its public document would reveal a hidden sale.
        let early = "line: cannot be combined with early_access, whose groups buy before the line opens";
        require(!has_early_access, "line", early)?;
        require(!is_hidden, "line", "line: cannot be combined with gate.groups_see, since lines are public")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terms::lamp;
    use crate::{EarlyAccess, EpochMs, GateTerms, Terms};

    #[test]
    fn a_line_has_one_opening_and_is_public() {
        let line = Some(LineTerms { opens_early_s: 3600, admits_per_s: 50, paused: false });
        let plain = Terms { line, ..lamp(EpochMs(1_000_000), EpochMs(2_000_000)) };
        let verdict = |terms: Terms| terms.validate().map_err(|invalid| invalid.to_string());
        assert_eq!(verdict(plain.clone()), Ok(()));
        let group: crate::GroupName = "members".parse().unwrap();
        let early_access = vec![EarlyAccess { group: group.clone(), lead_s: 60, quota: None }];
        let problem = "line: cannot be combined with early_access, whose groups buy before the line opens";
        assert_eq!(verdict(Terms { early_access, ..plain.clone() }), Err(problem.to_owned()));
        let gate = GateTerms { groups_see: vec![group.clone()], groups_buy: vec![group], ..GateTerms::default() };
        let problem = "line: cannot be combined with gate.groups_see, since lines are public";
        assert_eq!(verdict(Terms { gate, ..plain }), Err(problem.to_owned()));
    }
}
