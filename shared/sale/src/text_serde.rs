use serde::{Deserialize, Deserializer};

/// Of an optional field, which is `None` only if it is absent: null is for its type to take or to refuse.
pub fn present<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}

pub(crate) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// Implements what `#[serde(try_from = "String", into = "String")]` requires, for a type that is stored as its text.
macro_rules! text_serde {
    ($type:ty, $error:ty) => {
        impl TryFrom<String> for $type {
            type Error = $error;
            fn try_from(text: String) -> Result<Self, $error> {
                text.parse()
            }
        }
        impl From<$type> for String {
            fn from(value: $type) -> String {
                value.to_string()
            }
        }
    };
}
pub(crate) use text_serde;

/// Implements a type that holds its text, which `$valid` has accepted.
macro_rules! text_type {
    ($type:ty, $error:ty, $invalid:expr, $valid:expr) => {
        impl $type {
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl std::str::FromStr for $type {
            type Err = $error;
            fn from_str(text: &str) -> Result<Self, $error> {
                let is_valid: fn(&str) -> bool = $valid;
                if is_valid(text) { Ok(Self(text.to_owned())) } else { Err($invalid) }
            }
        }

        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(&self.0)
            }
        }

        $crate::text_serde::text_serde!($type, $error);
    };
}
pub(crate) use text_type;
