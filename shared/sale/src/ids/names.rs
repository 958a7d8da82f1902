use std::borrow::Borrow;

use super::{InvalidId, MAX_SALE_ID_LENGTH, MAX_USER_ID_LENGTH};
use crate::text_serde::text_type;

text_type!(
    /// The id of a sale, chosen by the operator.
    SaleId, InvalidId, InvalidId::Sale, |text| {
        let allowed = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
        (1..=MAX_SALE_ID_LENGTH).contains(&text.len()) && text.bytes().all(allowed) && !text.starts_with('-')
    }
);

/// A map by sale can be asked with a text that may be anything.
impl Borrow<str> for SaleId {
    fn borrow(&self) -> &str {
        &self.0
    }
}

text_type!(
    /// The id of a user: the subject of a verified token.
    UserId, InvalidId, InvalidId::User, |text| {
        // Spaces separate the fields of records in Redis, so no id may contain one.
        let good = (1..=MAX_USER_ID_LENGTH).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_graphic());
        // In a path of the operators' API these two would not be segments.
        good && !matches!(text, "." | "..")
    }
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sale_ids_are_short_plain_names() {
        for good in ["a", "7", "summer-2026", &"a".repeat(MAX_SALE_ID_LENGTH)] {
            assert_eq!(good.parse::<SaleId>().unwrap().as_str(), good);
        }
        for bad in ["", "-a", "A", "a b", "a.b", "a#b", "{a}", "a\0", "é", &"a".repeat(MAX_SALE_ID_LENGTH + 1)] {
            assert_eq!(bad.parse::<SaleId>(), Err(InvalidId::Sale), "{bad:?}");
        }
    }

    #[test]
    fn user_ids_are_token_subjects() {
        for good in ["1", "auth0|abc", "a#b/c=", &"u".repeat(MAX_USER_ID_LENGTH)] {
            assert_eq!(good.parse::<UserId>().unwrap().as_str(), good);
        }
        for bad in ["", ".", "..", "a b", "a\n", "ü", "\u{7f}", &"u".repeat(MAX_USER_ID_LENGTH + 1)] {
            assert_eq!(bad.parse::<UserId>(), Err(InvalidId::User), "{bad:?}");
        }
    }
}
