//! The report as Markdown: the tables of docs/performance.md, between two markers.

use std::path::Path;

use anyhow::{Context, Result};

use super::figure::Line;
use super::measured::{Report, Started};

const BEGIN: &str = "<!-- `make bench` writes what follows -->";
const END: &str = "<!-- `make bench` wrote what is above -->";

pub(crate) fn table<const N: usize>(head: [&str; N], rows: impl IntoIterator<Item = [String; N]>) -> String {
    let rule = format!("|{}\n", " --- |".repeat(N));
    let rows = rows.into_iter().map(|row| format!("| {} |\n", row.join(" | ")));
    format!("| {} |\n{rule}{}", head.join(" | "), rows.collect::<String>())
}

/// Figures of so many runs.
pub(crate) fn of_lines(lines: &[Line], runs: usize) -> String {
    let row = |line: &Line| {
        let reached = line.is_reached().map_or("", |reached| if reached { "reached" } else { "**missed**" });
        let (wanted, value, by_run) = (line.wanted(), line.value(), line.by_run(runs));
        [line.what.clone(), line.against.clone(), wanted, value, by_run, line.measured.clone(), reached.to_owned()]
    };
    table(["what", "against", "has to be", "is", "each run", "measured", ""], lines.iter().map(row))
}

pub(super) fn tables(report: &Report) -> String {
    let costs = report.costs.iter().map(|cost| {
        let [redis, sqs, units] = [cost.redis, cost.sqs, cost.write_units].map(|[is, needs]| format!("{is} ({needs})"));
        let allocations = cost.allocations.map_or("–".to_owned(), |count| count.to_string());
        [cost.answer.to_owned(), redis, sqs, units, allocations]
    });
    let starts = report.starts.iter().map(|Started { function, start_ms, peak_mb, zipped_mb }| {
        [(*function).to_owned(), format!("{start_ms:.1}"), format!("{peak_mb:.1}"), format!("{zipped_mb:.2}")]
    });
    format!(
        "{}\n\n{}\nWhat one request costs, and in brackets the least that the design needs:\n\n{}\nReading an event and \
         answering nothing is {} allocations.\n\n{}",
        report.made,
        of_lines(&report.lines, report.runs),
        table(["answer", "calls to Redis", "messages", "write units", "allocations"], costs),
        report.allocations_of_nothing,
        table(["function", "start, ms", "peak, MB", "zipped, MB"], starts),
    )
}

/// Puts `text` between the markers of a file.
pub(super) fn put(file: &Path, text: &str) -> Result<()> {
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
