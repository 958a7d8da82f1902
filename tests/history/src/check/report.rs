//! The rules, and what a check found.

use std::fmt;

use crate::check::view::View;

pub const MOST_SHOWN: usize = 20;

/// `tests/model/README.md` explains each of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, strum::Display)]
#[strum(serialize_all = "snake_case")]
pub enum Rule {
    UnitOwnedTwice,
    NoSuchUnit,
    SoldOutWhileFree,
    LimitReachedTooEarly,
    OverTheLimit,
    TwoAnswers,
    WentBack,
    UnitChanged,
    Forgotten,
    PromiseBroken,
    NoReason,
    WithoutCause,
    OutOfTime,
}

/// An answer or a state that no correct system can produce.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    pub rule: Rule,
    pub round: String,
    pub message: String,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Judged {
    pub operations: usize,
    /// How many of them belong to rounds that the history does not describe. They are not checked.
    pub unchecked: usize,
    /// Reservations that certainly had a unit for some time.
    pub owned: usize,
    pub sold_out: usize,
    /// Accepted reservations that were looked up in the ledger.
    pub promises: usize,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Report {
    pub judged: Judged,
    pub violations: Vec<Violation>,
}

/// Where a check puts what it finds in a round.
pub(super) struct Found<'a> {
    pub(super) view: &'a View<'a>,
    pub(super) report: &'a mut Report,
}

impl Found<'_> {
    pub(super) fn violation(&mut self, rule: Rule, message: String) {
        let round = self.view.round.id.clone();
        self.report.violations.push(Violation { rule, round, message });
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {}: {}", self.rule, self.round, self.message)
    }
}

impl Report {
    /// Everything that speaks against the run, one line each: the violations, and operations that were not checked. A
    /// history without any operation proves nothing.
    pub fn objections(&self) -> Vec<String> {
        let Judged { operations, unchecked, .. } = self.judged;
        let nothing = (operations == 0).then(|| "no operation was recorded".to_owned());
        let not_all = (unchecked > 0).then(|| format!("{unchecked} operations are of rounds that are not described"));
        let violations = self.violations.iter().map(ToString::to_string);
        nothing.into_iter().chain(not_all).chain(violations).collect()
    }

    pub fn is_consistent(&self) -> bool {
        self.violations.is_empty()
    }

    pub fn violates(&self, rule: Rule) -> bool {
        self.violations.iter().any(|violation| violation.rule == rule)
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Judged { operations, owned, sold_out, promises, .. } = self.judged;
        let objections = self.objections();
        write!(f, "{operations} operations, ")?;
        match objections.len() {
            0 => write!(f, "consistent")?,
            1 => write!(f, "1 OBJECTION")?,
            many => write!(f, "{many} OBJECTIONS")?,
        }
        write!(f, " ({owned} holdings, {sold_out} × sold_out and {promises} promises judged)")?;
        for objection in objections.iter().take(MOST_SHOWN) {
            write!(f, "\n  {objection}")?;
        }
        match objections.len().checked_sub(MOST_SHOWN) {
            None | Some(0) => Ok(()),
            Some(more) => write!(f, "\n  and {more} more"),
        }
    }
}
