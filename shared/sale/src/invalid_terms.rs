use std::fmt::Display;
use std::ops::RangeInclusive;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{problem}")]
pub struct InvalidTerms {
    field: &'static str,
    problem: String,
}

impl InvalidTerms {
    pub(crate) fn new(field: &'static str, problem: impl Into<String>) -> Self {
        Self { field, problem: problem.into() }
    }

    /// The wrong field, by its name in the API.
    pub const fn field(&self) -> &'static str {
        self.field
    }
}

/// Whether a text that is shown to people has 1 to `longest` characters and no control characters.
pub(crate) fn is_name(text: &str, longest: usize) -> bool {
    (1..=longest).contains(&text.chars().count()) && !text.chars().any(char::is_control)
}

/// Fails with this problem of the field unless its bound holds.
pub(crate) fn require(holds: bool, field: &'static str, problem: impl Into<String>) -> Result<(), InvalidTerms> {
    if holds { Ok(()) } else { Err(InvalidTerms::new(field, problem)) }
}

pub(crate) fn within<T: Display + PartialOrd>(
    range: RangeInclusive<T>,
    field: &'static str,
    value: T,
) -> Result<(), InvalidTerms> {
    require(range.contains(&value), field, format!("{field} must be {} to {}", range.start(), range.end()))
}
