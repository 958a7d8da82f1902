use std::collections::BTreeMap;

#[derive(Debug, thiserror::Error)]
#[error(
    "the environment variable {0} is not set; infra/cdk sets it on deployment, infra/cdk/README.md (\"One function\") says how to set it by hand"
)]
pub struct MissingSetting(&'static str);

/// Settings by name: the process's environment, or values of a test.
#[derive(Debug, Clone)]
pub struct Settings {
    given: BTreeMap<&'static str, String>,
    environment: bool,
}

impl Settings {
    pub const fn environment() -> Self {
        Self { given: BTreeMap::new(), environment: true }
    }

    /// Only these settings.
    pub fn given<V: Into<String>>(settings: impl IntoIterator<Item = (&'static str, V)>) -> Self {
        Self { given: settings.into_iter().map(|(name, value)| (name, value.into())).collect(), environment: false }
    }

    /// These settings with one of them replaced.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.given.insert(name, value.into());
        self
    }

    /// The setting `name`. Fails with [`MissingSetting`] if it is not set, or empty.
    pub fn required(&self, name: &'static str) -> Result<String, MissingSetting> {
        self.optional(name).ok_or(MissingSetting(name))
    }

    /// The setting `name`, if it is set, for optional parts of a deployment.
    pub fn optional(&self, name: &'static str) -> Option<String> {
        let given = self.given.get(name).cloned();
        given.or_else(|| std::env::var(name).ok().filter(|_| self.environment)).filter(|value| !value.is_empty())
    }
}
