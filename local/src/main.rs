//! The command line.
fn main() -> anyhow::Result<()> {
    local::install::install()
}
