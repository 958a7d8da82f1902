/// A setting that the function cannot work without.
#[derive(Debug, thiserror::Error)]
#[error(
    "the environment variable {0} is not set; infra/cdk sets it on deployment, README.md says how to set it by hand"
)]
pub struct MissingSetting(&'static str);

/// The setting `name` from the environment.
///
/// # Errors
/// [`MissingSetting`] if it is not set, or empty.
pub fn setting(name: &'static str) -> Result<String, MissingSetting> {
    std::env::var(name).ok().filter(|value| !value.is_empty()).ok_or(MissingSetting(name))
}

/// The setting `name` from the environment, if it is set: for what not every deployment has.
pub fn optional_setting(name: &'static str) -> Option<String> {
    setting(name).ok()
}
