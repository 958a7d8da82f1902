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

/// Fails with the first of these problems whose bound does not hold.
pub(crate) fn all_hold(bounds: impl IntoIterator<Item = (bool, InvalidTerms)>) -> Result<(), InvalidTerms> {
    bounds.into_iter().find(|(holds, _)| !holds).map_or(Ok(()), |(_, problem)| Err(problem))
}
