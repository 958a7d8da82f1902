use std::sync::Arc;

use api::GroupClaims;
use context::{Context, ContextError};
use gate::{Gate, Memberships, PassKeys, Rebuilds, VisitorCounts};
use ledger::Ledger;
use process::Snapshots;
use runtime::Clock;
use stock::Stock;

#[derive(Clone)]
pub struct AdmissionDeps {
    pub stock: Stock,
    pub ledger: Ledger,
    pub snapshots: Snapshots,
    pub keys: PassKeys,
    pub counts: Arc<VisitorCounts>,
    pub memberships: Memberships,
    pub rebuilds: Rebuilds,
    pub clock: Clock,
}

impl AdmissionDeps {
    pub fn new(context: &Context) -> Result<Self, ContextError> {
        let claims = context.settings().optional("GROUP_CLAIM");
        let groups = claims.map_or_else(GroupClaims::usual, |claims| GroupClaims::new(&claims));
        let memberships = Memberships::new(context.ledger()?, groups, context.clock());
        Ok(Self {
            stock: context.stock()?,
            ledger: context.ledger()?,
            snapshots: context.snapshots()?,
            keys: context.pass_keys()?,
            counts: Arc::default(),
            memberships,
            rebuilds: Rebuilds::new(context.rebuild_queue()?, context.clock()),
            clock: context.clock(),
        })
    }

    pub(crate) fn gate(&self) -> Gate<'_> {
        let Self { stock, ledger, snapshots, keys, counts, memberships, clock, .. } = self;
        Gate { stock, ledger, snapshots, keys, counts, memberships: Some(memberships), clock: *clock }
    }
}
