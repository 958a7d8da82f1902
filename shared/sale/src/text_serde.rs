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
