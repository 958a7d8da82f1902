use std::sync::Arc;

use context::{Context, ContextError};
use gate::{Gate, PassKeys, VisitorCounts};
use ledger::Ledger;
use process::Snapshots;
use runtime::Clock;
use stock::Stock;

use crate::lines::Lines;
use crate::missed::Missed;

#[derive(Clone)]
pub struct WaitingRoomDeps {
    pub stock: Stock,
    pub ledger: Ledger,
    pub snapshots: Snapshots,
    /// The keys that sign passes, from which the keys of tickets are derived.
    pub keys: PassKeys,
    pub counts: Arc<VisitorCounts>,
    pub lines: Lines,
    /// Users who got tickets without Redis.
    pub missed: Missed,
    pub clock: Clock,
}

impl WaitingRoomDeps {
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
