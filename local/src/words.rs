//! Numbers with their nouns.

/// "1 row", "2 rows".
pub(crate) fn of_these(number: u64, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

/// "1 person", "2 people".
pub(crate) fn people(number: u64) -> String {
    if number == 1 { "1 person".to_owned() } else { format!("{number} people") }
}
