use std::fmt;

/// A line of the report.
pub(super) fn line(f: &mut fmt::Formatter<'_>, name: &str, value: &dyn fmt::Display) -> fmt::Result {
    writeln!(f, "  {name:<28} {value}")
}
