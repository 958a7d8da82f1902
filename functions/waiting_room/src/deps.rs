use std::sync::Arc;

use gate::{Gate, PassKeys, VisitorCounts};
use ledger::Ledger;
use process::Snapshots;
use runtime::Clock;
use stock::Stock;

use crate::line_cache::LineCache;
use crate::lines::Lines;
use crate::missed::Missed;

context::deps! {
    WaitingRoomDeps(context) {
        pub stock: Stock = context.stock()?,
        pub ledger: Ledger = context.ledger()?,
        pub snapshots: Snapshots = context.snapshots()?,
        /// The keys that sign passes, from which the keys of tickets are derived.
        pub keys: PassKeys = context.pass_keys()?,
        pub counts: Arc<VisitorCounts> = Arc::default(),
        pub lines: Lines = Lines(Arc::new(LineCache::new())),
        /// Users who got tickets without Redis.
        pub missed: Missed = Missed::default(),
        pub clock: Clock = context.clock(),
    }
}

impl WaitingRoomDeps {
    pub(crate) fn gate(&self) -> Gate<'_> {
        let Self { stock, ledger, snapshots, keys, counts, clock, .. } = self;
        Gate { stock, ledger, snapshots, keys, counts, memberships: None, clock: *clock }
    }
}
