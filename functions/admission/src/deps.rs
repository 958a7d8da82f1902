use std::sync::Arc;

use gate::{Gate, Memberships, PassKeys, Rebuilds, VisitorCounts};
use ledger::Ledger;
use process::Snapshots;
use runtime::Clock;
use stock::Stock;

context::deps! {
    AdmissionDeps(context) {
        pub stock: Stock = context.stock()?,
        pub ledger: Ledger = context.ledger()?,
        pub snapshots: Snapshots = context.snapshots()?,
        pub keys: PassKeys = context.pass_keys()?,
        pub counts: Arc<VisitorCounts> = Arc::default(),
        pub memberships: Memberships =
            Memberships::new(context.ledger()?, context.settings().optional("GROUP_CLAIM"), context.clock()),
        pub rebuilds: Rebuilds = Rebuilds::new(context.rebuild_queue()?, context.clock()),
        pub clock: Clock = context.clock(),
    }
}

impl AdmissionDeps {
    pub(crate) fn gate(&self) -> Gate<'_> {
        let Self { stock, ledger, snapshots, keys, counts, memberships, clock, .. } = self;
        Gate { stock, ledger, snapshots, keys, counts, memberships: Some(memberships), clock: *clock }
    }
}
