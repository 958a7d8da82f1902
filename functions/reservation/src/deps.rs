use std::sync::Arc;

use context::{Context, ContextError};
use fulfilment::Fulfilment;
use gate::{Gate, PassKeys, Rebuilds, VisitorCounts};
use messaging::queue::OrderQueue;
use process::Snapshots;
use runtime::Clock;

#[derive(Clone)]
pub struct ReservationDeps {
    pub fulfilment: Fulfilment,
    pub snapshots: Snapshots,
    pub keys: PassKeys,
    pub counts: Arc<VisitorCounts>,
    pub orders: OrderQueue,
    pub rebuilds: Rebuilds,
    pub clock: Clock,
}

impl ReservationDeps {
    pub fn new(context: &Context) -> Result<Self, ContextError> {
        Ok(Self {
            fulfilment: Fulfilment {
                stock: context.stock()?,
                ledger: context.ledger()?,
                terms: context.terms()?,
                awards: context.awards()?,
                expiry: context.expiry_queue()?,
            },
            snapshots: context.snapshots()?,
            keys: context.pass_keys()?,
            counts: Arc::default(),
            orders: context.order_queue()?,
            rebuilds: Rebuilds::new(context.rebuild_queue()?, context.clock()),
            clock: context.clock(),
        })
    }

    pub(crate) fn gate(&self) -> Gate<'_> {
        let Self { fulfilment: Fulfilment { stock, ledger, .. }, snapshots, keys, counts, clock, .. } = self;
        Gate { stock, ledger, snapshots, keys, counts, memberships: None, clock: *clock }
    }
}
