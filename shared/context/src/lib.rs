//! One place for wiring: settings, AWS configuration and clock, and every dependency that is made from them.
//!
//! A function reads its [`Context`] from the environment. Tests and benchmarks give settings and clients of their own.

mod dependencies;
mod serve;

use std::any::{Any, TypeId};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use runtime::{Clock, MissingSetting, SdkConfig, Settings, aws_config};

pub use lambda_runtime::Error;
#[cfg(feature = "http")]
pub use serve::serve;
#[cfg(feature = "crowd")]
pub use serve::serve_crowd;
pub use serve::serve_events;

/// Why a dependency cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum ContextError {
    /// A setting is not there.
    #[error(transparent)]
    Missing(#[from] MissingSetting),
    /// A setting is there, and of no use.
    #[error("the setting {setting} is of no use")]
    Unusable {
        /// Its name.
        setting: &'static str,
        /// What is wrong with it.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

/// What one process is made from. Each dependency is made when it is first asked for, and once: whoever asks again gets a
/// clone that shares connections and memory.
///
/// They are kept by their types: a field for each would have every function linked with the code that drops them all.
#[derive(Debug)]
pub struct Context {
    settings: Settings,
    aws: SdkConfig,
    clock: Clock,
    given: BTreeMap<Key, Arc<dyn Any + Send + Sync>>,
    made: Mutex<BTreeMap<Key, Arc<dyn Any + Send + Sync>>>,
}

/// A type, and the setting that tells one of this type from another.
type Key = (TypeId, &'static str);

impl Context {
    /// The context of a function, as Lambda and the deployment set it.
    ///
    /// # Errors
    /// If `AWS_REGION` is not set.
    pub fn from_environment() -> Result<Self, MissingSetting> {
        let settings = Settings::environment();
        let aws = aws_config(&settings)?;
        Ok(Self::new(settings, aws, Clock::system()))
    }

    /// A context of these.
    pub fn new(settings: Settings, aws: SdkConfig, clock: Clock) -> Self {
        Self { settings, aws, clock, given: BTreeMap::new(), made: Mutex::default() }
    }

    /// Likewise, with this dependency where it would make one of the type.
    #[must_use]
    pub fn with<T: Clone + Send + Sync + 'static>(mut self, dependency: T) -> Self {
        self.given.insert((TypeId::of::<T>(), ""), Arc::new(dependency));
        self
    }

    /// The context of another process with the same settings, configuration, clock and given dependencies. It has made
    /// nothing yet.
    #[must_use]
    pub fn another_process(&self) -> Self {
        let given = self.given.clone();
        Self { given, ..Self::new(self.settings.clone(), self.aws.clone(), self.clock) }
    }

    /// Likewise, by another clock.
    #[must_use]
    pub fn another_process_at(&self, clock: Clock) -> Self {
        Self { clock, ..self.another_process() }
    }

    /// The settings.
    pub const fn settings(&self) -> &Settings {
        &self.settings
    }

    /// What AWS clients are made from.
    pub const fn aws(&self) -> &SdkConfig {
        &self.aws
    }

    /// The time.
    pub const fn clock(&self) -> Clock {
        self.clock
    }

    /// What was given or made before, or else what `make` makes now. No lock is held meanwhile: it may ask for others.
    #[cfg_attr(
        not(any(feature = "secrets", feature = "sqs", feature = "ledger", feature = "push_gateway")),
        expect(unused)
    )]
    fn once<T: Clone + Send + Sync + 'static>(
        &self,
        name: &'static str,
        make: impl FnOnce() -> Result<T, ContextError>,
    ) -> Result<T, ContextError> {
        let key = (TypeId::of::<T>(), name);
        let made = || self.made.lock().unwrap_or_else(PoisonError::into_inner);
        let known = self.given.get(&key).cloned().or_else(|| made().get(&key).cloned());
        let known = match known {
            Some(known) => known,
            None => {
                let new = Arc::new(make()?);
                Arc::clone(made().entry(key).or_insert(new))
            }
        };
        Ok(known.downcast_ref::<T>().expect("it is kept by its type").clone())
    }
}
