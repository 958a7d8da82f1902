use std::sync::LazyLock;
use std::time::Duration;

use crate::script::Script;
use crate::script_code::{parse, unexpected};
use crate::{RoundStock, ScriptCode, StockError};

static LEASE: LazyLock<Script> = LazyLock::new(|| Script::new(crate::expanded::LEASE));

/// Requests that a process may pass on to Redis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lease {
    /// So many.
    pub count: u32,
    /// For so long.
    pub holds_for: Duration,
}

impl RoundStock<'_> {
    /// Asks for some of the `per_s` requests of one step that an isolated sale may get in the current second of Redis's clock.
    ///
    /// # Errors
    /// If Redis does not answer; then some may be granted in vain.
    pub async fn lease(self, step: &str, per_s: u32, wanted: u32) -> Result<Lease, StockError> {
        let call = LEASE.key(self.keys().lease(step)).arg(per_s).arg(wanted);
        let answer = call.invoke_async(self.connection).await?;
        let lease = |rest: &str| {
            let (count, ms) = rest.split_once(' ')?;
            Some(Lease { count: count.parse().ok()?, holds_for: Duration::from_millis(ms.parse().ok()?) })
        };
        match parse(&answer)? {
            (ScriptCode::Leased, rest) => lease(rest).ok_or_else(|| unexpected(&answer)),
            _ => Err(unexpected(&answer)),
        }
    }
}
