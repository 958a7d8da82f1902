use std::sync::Arc;

use gate::{Limiter, Memberships};
use runtime::Clock;

use crate::shelf::Shelf;

context::deps! {
    CatalogDeps(context) {
        pub shelf: Shelf = Shelf::new(context.stock()?, context.ledger()?, context.clock()),
        pub memberships: Memberships =
            Memberships::new(context.ledger()?, context.settings().optional("GROUP_CLAIM"), context.clock()),
        pub limiter: Arc<Limiter> = Arc::default(),
        pub clock: Clock = context.clock(),
    }
}
