use std::sync::Arc;

use fulfilment::Fulfilment;
use gate::{Gate, PassKeys, Rebuilds, VisitorCounts};
use messaging::queue::OrderQueue;
use process::Snapshots;
use runtime::Clock;

context::deps! {
    ReservationDeps(context) {
        pub fulfilment: Fulfilment = Fulfilment {
            stock: context.stock()?,
            ledger: context.ledger()?,
            terms: context.terms()?,
            awards: context.awards()?,
            expiry: context.expiry_queue()?,
        },
        pub snapshots: Snapshots = context.snapshots()?,
        pub keys: PassKeys = context.pass_keys()?,
        pub counts: Arc<VisitorCounts> = Arc::default(),
        pub orders: OrderQueue = context.order_queue()?,
        pub rebuilds: Rebuilds = Rebuilds::new(context.rebuild_queue()?, context.clock()),
        pub clock: Clock = context.clock(),
    }
}

impl ReservationDeps {
    pub(crate) fn gate(&self) -> Gate<'_> {
        let Self { fulfilment: Fulfilment { stock, ledger, .. }, snapshots, keys, counts, clock, .. } = self;
        Gate { stock, ledger, snapshots, keys, counts, memberships: None, clock: *clock }
    }
}
