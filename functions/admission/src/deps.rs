use std::sync::Arc;

use api::GroupClaims;
use context::{Context, ContextError};
use gate::{Gate, Memberships, PassKeys, Rebuilds, VisitorCounts};
use ledger::Ledger;
use process::Snapshots;
use runtime::Clock;
use stock::Stock;

/// The function's dependencies.
#[derive(Clone)]
pub struct AdmissionDeps {
    /// Redis.
    pub stock: Stock,
    /// DynamoDB.
    pub ledger: Ledger,
    /// Published sales and kill switches.
    pub snapshots: Snapshots,
    /// The keys that sign passes.
    pub keys: PassKeys,
    /// This process's counts of users and addresses.
    pub counts: Arc<VisitorCounts>,
    /// The members of groups.
    pub memberships: Memberships,
    /// Asks for rounds that Redis has lost.
    pub rebuilds: Rebuilds,
    /// The clock.
    pub clock: Clock,
}

impl AdmissionDeps {
    /// Makes the dependencies from the settings. Fails if a setting is missing or unusable.
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
