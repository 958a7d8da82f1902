use serde::{Deserialize, Deserializer};

/// Of an optional field, which is `None` only if it is absent: null is for its type to take or to refuse.
pub fn present<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}

pub(crate) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// A type that holds its text, which `$valid` has accepted.
macro_rules! text_type {
    ($(#[$doc:meta])* $name:ident, $error:ty, $invalid:expr, $valid:expr) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[derive(serde_with::SerializeDisplay, serde_with::DeserializeFromStr)]
        pub struct $name(String);

        impl $name {
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl std::str::FromStr for $name {
            type Err = $error;
            fn from_str(text: &str) -> Result<Self, $error> {
                let is_valid: fn(&str) -> bool = $valid;
                if is_valid(text) { Ok(Self(text.to_owned())) } else { Err($invalid) }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}
pub(crate) use text_type;
