use std::fmt::Display;
use std::ops::RangeInclusive;
use std::str::FromStr;

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

/// Parses a whole number in a range. The error names the range.
pub fn whole<T>(range: RangeInclusive<T>) -> impl Fn(&str) -> Result<T, String> + Clone
where
    T: FromStr + PartialOrd + Display + Clone,
{
    move |text| match text.parse() {
        Ok(number) if range.contains(&number) => Ok(number),
        _ => Err(format!("a whole number from {} to {}", grouped(range.start()), grouped(range.end()))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_outside_of_the_range_is_answered_with_the_range() {
        let parse = whole(1..=10_000_000_u32);
        assert_eq!((parse("1"), parse("10000000")), (Ok(1), Ok(10_000_000)));
        for bad in ["0", "10000001", "-1", "abc", "", "1.5", "99999999999999999999"] {
            assert_eq!(parse(bad), Err("a whole number from 1 to 10,000,000".to_owned()), "{bad:?}");
        }
    }

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
