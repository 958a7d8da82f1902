use std::sync::Arc;

use context::{Context, ContextError};
use gate::{Gate, PassKeys, VisitorCounts};
use ledger::Ledger;
use process::Snapshots;
use runtime::Clock;
use stock::Stock;

use crate::lines::Lines;
use crate::missed::Missed;

/// The function's dependencies.
#[derive(Clone)]
pub struct WaitingRoomDeps {
    /// Redis.
    pub stock: Stock,
    /// DynamoDB.
    pub ledger: Ledger,
    /// Published sales and kill switches.
    pub snapshots: Snapshots,
    /// The keys that sign passes, from which the keys of tickets are derived.
    pub keys: PassKeys,
    /// This process's counts of users and addresses.
    pub counts: Arc<VisitorCounts>,
    /// This process's cache of lines.
    pub lines: Lines,
    /// Users who got tickets without Redis.
    pub missed: Missed,
    /// The clock.
    pub clock: Clock,
}

impl WaitingRoomDeps {
    /// Makes the dependencies from the settings. Fails if a setting is missing or unusable.
    pub fn new(context: &Context) -> Result<Self, ContextError> {
        Ok(Self {
            stock: context.stock()?,
            ledger: context.ledger()?,
            snapshots: context.snapshots()?,
            keys: context.pass_keys()?,
            counts: Arc::default(),
            lines: Lines::new(),
            missed: Missed::default(),
            clock: context.clock(),
        })
    }

    pub(crate) fn gate(&self) -> Gate<'_> {
        let Self { stock, ledger, snapshots, keys, counts, clock, .. } = self;
        Gate { stock, ledger, snapshots, keys, counts, memberships: None, clock: *clock }
    }
}
