//! Wires a process: reads settings, AWS configuration and clock, and makes every dependency from them.
//!
//! A function reads its [`Context`] from the environment. Tests and benchmarks pass their own settings and clients.

mod beforehand;
mod dependencies;
mod made;
mod serve;
mod sync;

use std::any::TypeId;
use std::collections::BTreeMap;
use std::mem;
use std::ops::RangeInclusive;
use std::sync::Arc;

use runtime::{Clock, MissingSetting, SdkConfig, Settings, aws_config};

use crate::beforehand::Beforehand;
use crate::made::{Dependency, Key, Made};
use crate::sync::{Mutex, PoisonError};

pub use lambda_runtime::Error;
#[doc(hidden)]
pub use serve::block_on;
#[cfg(feature = "http")]
pub use serve::serve;
#[cfg(feature = "crowd")]
pub use serve::serve_crowd;
pub use serve::{Serving, serve_events};

#[derive(Debug, thiserror::Error)]
pub enum ContextError {
    #[error(transparent)]
    Missing(#[from] MissingSetting),
    #[error("the setting {setting} has an unusable value")]
    Unusable {
        setting: &'static str,
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

impl ContextError {
    pub fn unusable(setting: &'static str, source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self::Unusable { setting, source: source.into() }
    }
}

/// The wiring of one process. Each dependency is made when it is first asked for; later calls get clones that share its
/// connections and memory.
///
/// Dependencies are kept in a map by type. With fields, the code that drops all of them would be in every function.
#[derive(Debug)]
pub struct Context {
    settings: Settings,
    aws: SdkConfig,
    clock: Clock,
    given: BTreeMap<Key, Dependency>,
    made: Made,
    beforehand: Mutex<Beforehand>,
}

impl Context {
    /// The context of a Lambda function, from the environment of Lambda and deployment. Fails without `AWS_REGION`.
    pub fn from_environment() -> Result<Self, MissingSetting> {
        let settings = Settings::environment();
        let aws = aws_config(&settings)?;
        Ok(Self::new(settings, aws, Clock::system()))
    }

    pub fn new(settings: Settings, aws: SdkConfig, clock: Clock) -> Self {
        Self { settings, aws, clock, given: BTreeMap::new(), made: Made::default(), beforehand: Mutex::default() }
    }

    /// Sets a dependency, which the context then uses instead of making one of that type.
    #[must_use]
    pub fn with<T: Clone + Send + Sync + 'static>(mut self, dependency: T) -> Self {
        self.given.insert((TypeId::of::<T>(), ""), Arc::new(dependency));
        self
    }

    /// Another process with the same settings, configuration, clock and given dependencies, and nothing made yet.
    #[must_use]
    pub fn another_process(&self) -> Self {
        Self { given: self.given.clone(), ..Self::new(self.settings.clone(), self.aws.clone(), self.clock) }
    }

    #[must_use]
    pub fn another_process_at(&self, clock: Clock) -> Self {
        Self { clock, ..self.another_process() }
    }

    pub const fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The number that `setting` has, if it is set. Fails if that is not in the range.
    pub fn number(&self, setting: &'static str, range: RangeInclusive<u32>) -> Result<Option<u32>, ContextError> {
        let Some(text) = self.settings.optional(setting) else { return Ok(None) };
        let number = text.parse().ok().filter(|number| range.contains(number));
        let wrong = || format!("{text:?} is not a number from {} to {}", range.start(), range.end());
        number.map(Some).ok_or_else(|| ContextError::unusable(setting, wrong()))
    }

    pub const fn aws(&self) -> &SdkConfig {
        &self.aws
    }

    pub const fn clock(&self) -> Clock {
        self.clock
    }

    #[cfg_attr(not(any(feature = "secrets", feature = "snapshots")), expect(unused))]
    pub(crate) fn before_the_first_request(
        &self,
        what: &'static str,
        work: impl Future<Output = Result<(), Error>> + Send + 'static,
    ) {
        self.beforehand.lock().unwrap_or_else(PoisonError::into_inner).add(what, work);
    }

    /// Reads, connects and requests whatever the first request needs from the dependencies made so far, all
    /// concurrently. Lambda sends no requests until this is done, so a process is ready when the crowd comes. A failure
    /// is left to the first request, which tries again: not starting the process would not help.
    pub async fn warm(&self) {
        let beforehand = mem::take(&mut *self.beforehand.lock().unwrap_or_else(PoisonError::into_inner));
        beforehand.done().await;
    }

    /// Returns the dependency that was given or made before, or makes it with `make`, which may ask for others.
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
        let known = match self.given.get(&key) {
            Some(given) => Arc::clone(given),
            None => self.made.get_or_make(key, || make().map(|new| Arc::new(new) as Dependency))?,
        };
        Ok(known.downcast_ref::<T>().expect("it is kept by its type").clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A dependency whose clones share memory.
    type Memory = Arc<Mutex<u32>>;

    fn context() -> Context {
        let settings = Settings::given([("ADDRESS", "here"), ("EMPTY", "")]);
        Context::new(settings, SdkConfig::builder().build(), Clock::system())
    }

    fn memory(context: &Context) -> Memory {
        context.once("", || Ok(Memory::default())).unwrap()
    }

    #[test]
    fn whoever_asks_again_shares_what_was_made() {
        let context = context();
        *memory(&context).lock().unwrap() = 1;
        assert_eq!(*memory(&context).lock().unwrap(), 1);
        let other = context.once("another setting", || Ok(Memory::default())).unwrap();
        assert_eq!(*other.lock().unwrap(), 0, "same type, different instance");
    }

    #[test]
    fn what_one_is_made_from_may_be_another() {
        let context = context();
        let both = context.once("", || Ok((memory(&context), ()))).unwrap();
        assert!(Arc::ptr_eq(&both.0, &memory(&context)));
    }

    #[test]
    fn another_process_has_what_was_given_and_has_made_nothing() {
        let given: Arc<str> = "given".into();
        let clock = Clock::ahead_by_ms(3_600_000);
        let context = context().with(Arc::clone(&given));
        *memory(&context).lock().unwrap() = 1;
        for other in [context.another_process(), context.another_process_at(clock).another_process()] {
            assert_eq!(*memory(&other).lock().unwrap(), 0);
            let there = other.once::<Arc<str>>("", || panic!("it is there")).unwrap();
            assert!(Arc::ptr_eq(&there, &given));
            assert_eq!(other.settings().required("ADDRESS").unwrap(), "here");
        }
        let ahead_ms = context.another_process_at(clock).another_process().clock().now().0 - context.clock().now().0;
        assert!(ahead_ms > 3_000_000, "{ahead_ms}");
    }

    #[test]
    fn an_error_names_the_setting_and_is_not_kept() {
        let context = context();
        for missing in ["EMPTY", "AWS_LAMBDA_FUNCTION_NAME", "PATH"] {
            let error = context.once::<String>("", || Ok(context.settings().required(missing)?)).unwrap_err();
            assert!(error.to_string().contains(missing), "{error}");
        }
        assert_eq!(context.once("", || Ok(context.settings().required("ADDRESS")?)).unwrap(), "here");
    }

    #[test]
    fn the_environment_is_read_where_it_is_to_be() {
        let settings = Settings::environment().with("ADDRESS", "here");
        assert_eq!(settings.required("ADDRESS").unwrap(), "here");
        assert_eq!(settings.optional("PATH"), std::env::var("PATH").ok());
        assert!(settings.required("NO_SUCH_SETTING").is_err());
    }
}
