use std::sync::Arc;

use context::{Context, ContextError};
use fulfilment::Fulfilment;
use gate::{Gate, PassKeys, Rebuilds, VisitorCounts};
use messaging::queue::OrderQueue;
use process::Snapshots;
use runtime::Clock;

/// The function's dependencies.
#[derive(Clone)]
pub struct ReservationDeps {
    /// Redis, DynamoDB, and what places orders.
    pub fulfilment: Fulfilment,
    /// Published sales and kill switches.
    pub snapshots: Snapshots,
    /// The keys that sign passes.
    pub keys: PassKeys,
    /// This process's counts of users and addresses.
    pub counts: Arc<VisitorCounts>,
    /// The order queue.
    pub orders: OrderQueue,
    /// Asks for rounds that Redis has lost.
    pub rebuilds: Rebuilds,
    /// The clock.
    pub clock: Clock,
}

impl ReservationDeps {
    /// Makes the dependencies from the settings. Fails if a setting is missing or unusable.
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
