macro_rules! number {
    ($(#[$of_it:meta])* $name:ident, $inner:ty) => {
        $(#[$of_it])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub $inner);

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}
pub(super) use number;

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
