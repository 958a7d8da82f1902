use std::sync::Arc;

use api::GroupClaims;
use context::{Context, ContextError};
use gate::{Limiter, Memberships};
use runtime::Clock;

use crate::shelf::Shelf;

#[derive(Clone)]
pub struct CatalogDeps {
    pub shelf: Shelf,
    pub memberships: Memberships,
    pub limiter: Arc<Limiter>,
    pub clock: Clock,
}

impl CatalogDeps {
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
