//! The report as Markdown: the tables of docs/performance.md and the few figures of README.md, each between two markers.

use std::fmt::Write;
use std::path::Path;

use anyhow::{Context, Result};
use command_line::grouped;

use super::figure::Line;
use super::measured::Report;

pub(crate) const BEGIN: &str = "<!-- `make bench` writes what follows -->";
pub(crate) const END: &str = "<!-- `make bench` wrote what is above -->";

/// The answer whose cost README.md quotes.
const WINNER: &str = "202, a unit";

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
    page.push_str("\n| function | start, ms | × nothing | peak, MB | × nothing | zipped, MB |\n");
    page.push_str("| --- | --- | --- | --- | --- | --- |\n");
    for start in &report.starts {
        let _ = writeln!(
            page,
            "| {} | {:.1} | {:.2} | {:.1} | {:.2} | {:.2} |",
            start.function, start.start_ms, start.start_ratio, start.peak_mb, start.peak_ratio, start.zipped_mb
        );
    }
    page
}

/// The three figures of README.md.
pub(crate) fn few(report: &Report) -> Result<String> {
    let measured = |name| {
        let line = report.lines.iter().find(|line| line.name == name).with_context(|| format!("{name} is missing"))?;
        Ok::<_, anyhow::Error>(line.measured.as_str())
    };
    let winner = report.costs.iter().find(|cost| cost.answer == WINNER).context("the cost of a winner is missing")?;
    let calls = [winner.redis[0], winner.sqs[0]];
    three(&report.made, measured("gateway_marked")?, measured("gateway_marked_p99")?, calls)
}

/// Made of `2 cores for everything, …`, `10462 of 21648 requests/s`, `p50 1.1, p90 1.8, p99 4.7 ms at 5231 requests/s`, and how
/// often a winner calls Redis and SQS.
fn three(made: &str, throughput: &str, latency: &str, [redis, sqs]: [f64; 2]) -> Result<String> {
    let (machine, _) = made.split_once(" for everything").context("the report names no machine")?;
    let (per_s, _) = throughput.split_once(' ').context("the throughput has no number")?;
    let per_s = grouped(per_s.parse::<u64>()?);
    let (_, p99) = latency.split_once("p99 ").context("the latency has no 99th percentile")?;
    let (p99, _) = p99.split_once(" at ").context("the latency names no rate")?;
    Ok(format!(
        "| on {machine}, which also generate the load | |\n\
         | --- | --- |\n\
         | sold-out answers through the local HTTP gateway, each with a JWT to verify | {per_s} a second |\n\
         | 99th percentile of such an answer at half that rate | {p99} |\n\
         | calls to Redis and to SQS for a unit that is won | {redis} and {sqs} |\n"
    ))
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

    /// The text between the markers of a file of the checkout.
    fn written(file: &str) -> String {
        let page = std::fs::read_to_string(local::paths::root().join(file)).unwrap();
        let (before, after) = around(&page).expect("both markers");
        page[before.len()..page.len() - after.len()].to_owned()
    }

    /// The cells of the row of docs/performance.md that begins with `first`.
    fn row(tables: &str, first: &str) -> Vec<String> {
        let row = tables.lines().find(|line| line.starts_with(&format!("| {first} |"))).expect(first);
        row.trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect()
    }

    #[test]
    fn the_readme_tells_what_the_page_has() {
        let tables = written("docs/performance.md");
        let throughput = row(&tables, "through the gateway with a JWT each, sold-out mark set");
        let latency = row(&tables, "p99 through the gateway at half of that rate, mark set");
        let winner = row(&tables, WINNER);
        let calls = |cell: &str| cell.split(' ').next().unwrap().parse::<f64>().unwrap();
        let made = tables.lines().nth(2).unwrap();
        let few = three(made, &throughput[5], &latency[5], [calls(&winner[1]), calls(&winner[2])]).unwrap();
        assert_eq!(written("README.md"), format!("{BEGIN}\n\n{}\n\n{END}", few.trim()));
    }

    #[test]
    fn what_stands_around_the_marks_stays() {
        assert_eq!(around(&format!("a\n{BEGIN}\nb\n{END}\nc\n")), Some(("a\n", "\nc\n")));
        assert_eq!(around("nothing"), None);
    }
}
