//! The report as Markdown: the tables of docs/performance.md, between two markers.

use std::fmt::Write;
use std::path::Path;

use anyhow::{Context, Result};

use super::figure::Line;
use super::measured::{Report, Started};

pub(crate) const BEGIN: &str = "<!-- `make bench` writes what follows -->";
pub(crate) const END: &str = "<!-- `make bench` wrote what is above -->";

pub(crate) fn tables(report: &Report) -> String {
    let mut page = String::new();
    let _ = write!(page, "{}\n\n| what | against | has to be | is | each run | measured | |\n", report.made);
    page.push_str("| --- | --- | --- | --- | --- | --- | --- |\n");
    for line in &report.lines {
        let reached = line.is_reached().map_or("", |reached| if reached { "reached" } else { "**missed**" });
        let Line { what, against, measured, .. } = line;
        let (wanted, value, by_run) = (line.wanted(), line.value(), line.by_run(report.runs));
        let _ = writeln!(page, "| {what} | {against} | {wanted} | {value} | {by_run} | {measured} | {reached} |");
    }
    page.push_str("\nWhat one request costs, and in brackets the least that the design needs:\n\n");
    page.push_str(
        "| answer | calls to Redis | messages | write units | allocations |\n| --- | --- | --- | --- | --- |\n",
    );
    for cost in &report.costs {
        let pair = |[is, needs]: [f64; 2]| format!("{is} ({needs})");
        let allocations = cost.allocations.map_or("–".to_owned(), |count| count.to_string());
        let [redis, sqs, units] = [cost.redis, cost.sqs, cost.write_units].map(pair);
        let _ = writeln!(page, "| {} | {redis} | {sqs} | {units} | {allocations} |", cost.answer);
    }
    let _ =
        writeln!(page, "\nReading an event and answering nothing is {} allocations.", report.allocations_of_nothing);
    page.push_str("\n| function | start, ms | peak, MB | zipped, MB |\n| --- | --- | --- | --- |\n");
    for Started { function, start_ms, peak_mb, zipped_mb } in &report.starts {
        let _ = writeln!(page, "| {function} | {start_ms:.1} | {peak_mb:.1} | {zipped_mb:.2} |");
    }
    page
}

/// Puts `text` between the markers of a file.
pub(crate) fn put(file: &Path, text: &str) -> Result<()> {
    let page = std::fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
    let (before, after) = around(&page).with_context(|| format!("{} lacks a marker", file.display()))?;
    Ok(std::fs::write(file, format!("{before}{BEGIN}\n\n{}\n\n{END}{after}", text.trim()))?)
}

fn around(page: &str) -> Option<(&str, &str)> {
    let (before, rest) = page.split_once(BEGIN)?;
    Some((before, rest.split_once(END)?.1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_around_the_marks_stays() {
        assert_eq!(around(&format!("a\n{BEGIN}\nb\n{END}\nc\n")), Some(("a\n", "\nc\n")));
        assert_eq!(around("nothing"), None);
    }
}
