use std::fmt;

use serde::{Deserialize, Serialize};

macro_rules! number {
    ($(#[$doc:meta])* $name:ident, $inner:ty) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub $inner);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

number!(
    /// The number of a sale's round, from 1. A daily sale begins a new round each day.
    RoundNumber,
    u32
);
number!(
    /// A numbered unit of a round's stock: 1 to the round's total.
    Unit,
    u32
);
number!(
    /// Which of a user's allowed purchases in the round it is: 0 to `per_user_limit` - 1.
    Slot,
    u8
);
