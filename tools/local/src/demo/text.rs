/// A row of a report: a name, and what is formatted beside it. Without a name it is empty.
macro_rules! row {
    ($f:expr) => {
        writeln!($f, "  {:<28} ", "")
    };
    ($f:expr, $name:expr, $value:literal $($rest:tt)*) => {
        writeln!($f, "  {:<28} {}", $name, format_args!($value $($rest)*))
    };
    ($f:expr, $name:expr, $value:expr) => {
        writeln!($f, "  {:<28} {}", $name, $value)
    };
}

pub(super) use row;
