use std::sync::Arc;

use api::GroupClaims;
use gate::{Limiter, Memberships};
use runtime::Clock;

use crate::shelf::Shelf;

context::deps! {
    CatalogDeps(context) {
        pub shelf: Shelf = Shelf::new(context.stock()?, context.ledger()?, context.clock()),
        pub memberships: Memberships = {
            let claims = GroupClaims::or_usual(context.settings().optional("GROUP_CLAIM"));
            Memberships::new(context.ledger()?, claims, context.clock())
        },
        pub limiter: Arc<Limiter> = Arc::default(),
        pub clock: Clock = context.clock(),
    }
}
