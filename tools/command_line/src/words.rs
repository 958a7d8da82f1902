use std::fmt::Display;

/// A whole number with its digits in groups of three: `10,462`.
pub fn grouped(number: impl Display) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A count with its noun: "1 unit", "2,000 units".
pub fn of_these(number: u64, noun: &str) -> String {
    format!("{} {noun}{}", grouped(number), if number == 1 { "" } else { "s" })
}

/// "1 person", "2,000 people".
pub fn people(number: u64) -> String {
    if number == 1 { "1 person".to_owned() } else { format!("{} people", grouped(number)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_in_groups_of_three() {
        assert_eq!([0, 999, 1_000, 10_462, 1_000_005].map(grouped), ["0", "999", "1,000", "10,462", "1,000,005"]);
    }

    #[test]
    fn nouns_agree_with_their_numbers() {
        assert_eq!([0, 1, 2_000].map(|number| of_these(number, "unit")), ["0 units", "1 unit", "2,000 units"]);
        assert_eq!([0, 1, 2_000].map(people), ["0 people", "1 person", "2,000 people"]);
    }
}
