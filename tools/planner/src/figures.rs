//! Formats figures for people.

use command_line::grouped;

/// A number without a fraction above 100, with digits in groups of three.
pub fn count(value: f64) -> String {
    if value < 100.0 && value.fract() != 0.0 {
        return format!("{value:.1}");
    }
    grouped(value.ceil())
}

pub fn usd(value: f64) -> String {
    let cents = format!("{value:.2}");
    let (whole, rest) = cents.split_once('.').unwrap_or((cents.as_str(), "00"));
    format!("{}.{rest}", grouped(whole))
}

/// A time in a fitting unit: seconds up to two minutes, minutes up to two hours.
pub fn time(seconds: f64) -> String {
    let (value, unit) = match seconds {
        ..120.0 => (seconds, "s"),
        ..7_200.0 => (seconds / 60.0, "min"),
        _ => (seconds / 3_600.0, "h"),
    };
    let value = if value < 10.0 { (value * 10.0).round() / 10.0 } else { value.round() };
    format!("{} {unit}", count(value))
}
