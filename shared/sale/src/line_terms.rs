use serde::{Deserialize, Serialize};

use crate::Terms;

/// The earliest tickets, in seconds before the opening.
pub const MAX_OPENS_EARLY_S: u32 = 24 * 60 * 60;
/// The most people a line can admit in a second: more than a gateway accepts would make the line pointless.
pub const MAX_ADMITS_PER_S: u32 = 100_000;

/// The line in front of a sale that expects more people than can be served at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct LineTerms {
    /// How many seconds before the opening tickets are given out. Everybody who has one by the opening is early,
    /// whenever they came.
    pub opens_early_s: u32,
    /// How many people are admitted every second.
    pub admits_per_s: u32,
    /// Whether operators are holding it up.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub paused: bool,
}

/// Invalid line terms.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum InvalidLine {
    /// The time of the tickets is out of range.
    #[error("line.opens_early_s must be 1 to {MAX_OPENS_EARLY_S}")]
    OpensEarly,
    /// A rate out of range.
    #[error("line.admits_per_s must be 1 to {MAX_ADMITS_PER_S}")]
    AdmitsPerS,
    /// A line has only one opening.
    #[error("line: cannot be combined with early_access, whose groups buy before the line opens")]
    EarlyAccess,
    /// The public document of a line would reveal a hidden sale.
    #[error("line: cannot be combined with gate.groups_see, since lines are public")]
    Hidden,
}

impl Terms {
    /// Checks all bounds of the line.
    pub(crate) fn validate_line(&self) -> Result<(), InvalidLine> {
        let Some(LineTerms { opens_early_s, admits_per_s, paused: _ }) = self.line else { return Ok(()) };
        let bounds = [
            ((1..=MAX_OPENS_EARLY_S).contains(&opens_early_s), InvalidLine::OpensEarly),
            ((1..=MAX_ADMITS_PER_S).contains(&admits_per_s), InvalidLine::AdmitsPerS),
            (self.early_access.is_empty(), InvalidLine::EarlyAccess),
            (!self.gate.is_hidden(), InvalidLine::Hidden),
        ];
        bounds.into_iter().find(|(holds, _)| !holds).map_or(Ok(()), |(_, problem)| Err(problem))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terms::lamp;
    use crate::{EarlyAccess, EpochMs, GateTerms, InvalidTerms};

    const LINE: LineTerms = LineTerms { opens_early_s: 3600, admits_per_s: 50, paused: false };

    #[test]
    fn outside_the_bounds_is_refused() {
        let verdict = |line: LineTerms, change: &dyn Fn(&mut Terms)| {
            let mut terms = Terms { line: Some(line), ..lamp(EpochMs(1_000_000), EpochMs(2_000_000)) };
            change(&mut terms);
            terms.validate()
        };
        let line = |line, problem| {
            let verdict = verdict(line, &|_| {});
            assert_eq!(verdict, Err(InvalidTerms::Line(problem)));
        };
        assert_eq!(verdict(LINE, &|_| {}), Ok(()));
        assert_eq!(
            verdict(LineTerms { opens_early_s: MAX_OPENS_EARLY_S, admits_per_s: MAX_ADMITS_PER_S, ..LINE }, &|_| {}),
            Ok(())
        );
        line(LineTerms { opens_early_s: 0, ..LINE }, InvalidLine::OpensEarly);
        line(LineTerms { opens_early_s: MAX_OPENS_EARLY_S + 1, ..LINE }, InvalidLine::OpensEarly);
        line(LineTerms { admits_per_s: 0, ..LINE }, InvalidLine::AdmitsPerS);
        line(LineTerms { admits_per_s: MAX_ADMITS_PER_S + 1, ..LINE }, InvalidLine::AdmitsPerS);
        let group: crate::GroupName = "members".parse().unwrap();
        let early = EarlyAccess { group: group.clone(), lead_s: 60, quota: None };
        assert_eq!(
            verdict(LINE, &|terms| terms.early_access = vec![early.clone()]),
            Err(InvalidTerms::Line(InvalidLine::EarlyAccess))
        );
        let gate = GateTerms { groups_see: vec![group.clone()], groups_buy: vec![group], ..GateTerms::default() };
        assert_eq!(verdict(LINE, &|terms| terms.gate = gate.clone()), Err(InvalidTerms::Line(InvalidLine::Hidden)));
    }

    #[test]
    fn terms_without_a_line_are_stored_as_before() {
        let terms = lamp(EpochMs(1), EpochMs(2));
        let stored = serde_json::to_value(&terms).unwrap();
        assert!(stored.get("line").is_none());
        let with_line = serde_json::to_value(Terms { line: Some(LINE), ..terms }).unwrap();
        assert_eq!(with_line["line"], serde_json::json!({ "opens_early_s": 3600, "admits_per_s": 50 }));
    }
}
