use std::sync::Arc;

use api::GroupClaims;
use context::{Context, ContextError};
use gate::{Limiter, Memberships};
use runtime::Clock;

use crate::shelf::Shelf;

/// The function's dependencies.
#[derive(Clone)]
pub struct CatalogDeps {
    /// Cached access to Redis and DynamoDB.
    pub shelf: Shelf,
    /// The members of groups.
    pub memberships: Memberships,
    /// This process's counts of members' requests.
    pub limiter: Arc<Limiter>,
    /// The clock.
    pub clock: Clock,
}

impl CatalogDeps {
    /// Makes the dependencies from the settings. Fails if a setting is missing or unusable.
    pub fn new(context: &Context) -> Result<Self, ContextError> {
        let claims = context.settings().optional("GROUP_CLAIM");
        let claims = claims.map_or_else(GroupClaims::usual, |claims| GroupClaims::new(&claims));
        Ok(Self {
            shelf: Shelf::new(context.stock()?, context.ledger()?, context.clock()),
            memberships: Memberships::new(context.ledger()?, claims, context.clock()),
            limiter: Arc::default(),
            clock: context.clock(),
        })
    }
}
