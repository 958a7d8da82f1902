use std::fmt::Display;
use std::ops::RangeInclusive;
use std::str::FromStr;

use crate::words::grouped;

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
}
