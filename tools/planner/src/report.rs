//! Plans and bills for people.

use std::fmt::{self, Write};

use command_line::{of_these, people};

use crate::cost::{Line, Part, sum};
use crate::figures::{count, time, usd};
use crate::load::busy_at_once;
use crate::plan::{InLine, Plan, Verdict};

impl fmt::Display for Plan {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let with = match (self.verdict, self.setup.line, self.setup.lanes) {
            (Verdict::Refused, ..) | (_, None, 1) => String::new(),
            (_, None, lanes) => format!(" with {lanes} lanes"),
            (_, Some(_), 1) => " with a line".into(),
            (_, Some(_), lanes) => format!(" with a line and {lanes} lanes"),
        };
        let verdict = match (self.verdict, self.to_do.is_empty()) {
            (Verdict::Holds, true) => format!("HOLDS{with}"),
            (Verdict::Holds, false) => format!("HOLDS{with}, once you have done this"),
            (Verdict::Refused, _) => "REFUSED".into(),
        };
        let inputs = &self.inputs;
        writeln!(out, "{}, {}", of_these(inputs.units.into(), "unit"), people(inputs.audience))?;
        writeln!(out, "{} in {}, planned {:.0}\n", inputs.opens_at, inputs.region, inputs.planned_at)?;
        writeln!(out, "{verdict}")?;
        for reason in &self.reasons {
            writeln!(out, "  {}: {}", reason.check, reason.why)?;
        }
        if self.verdict == Verdict::Holds {
            for task in &self.to_do {
                let need = count(task.need);
                writeln!(out, "  {}: {} (needs {need}; begin by {:.0})", task.check, task.how, task.begin_by)?;
            }
        }
        if !self.alternatives.is_empty() {
            writeln!(out, "\nany of these would hold instead (plan it to see what it takes)")?;
            for other in &self.alternatives {
                writeln!(out, "  {}", other.what)?;
            }
        }
        if let Some(line) = &self.line {
            write_line(out, self, line)?;
        }
        writeln!(out, "\nthe busiest second")?;
        let load = &self.load;
        let mut rows = match self.line {
            Some(_) => vec![
                ("people in line at the opening", load.waiting),
                ("tickets, just before the opening", load.tickets_per_s),
                ("tickets, after the opening", load.late_tickets_per_s),
                ("people whose turn comes", load.arrivals_per_s),
            ],
            None => vec![
                ("people on the page at the opening", load.waiting),
                ("people who press the button", load.arrivals_per_s),
                ("card polls, just before the opening", load.polls_before_per_s),
            ],
        };
        rows.extend([
            ("challenges", load.challenges_per_s),
            ("answers", load.answers_per_s),
            ("reservations", load.reservations_per_s),
            ("requests at the gateway", load.gateway_per_s),
            ("scripts in Redis", load.scripts_per_s),
            ("seconds to write all orders", self.drain_s),
        ]);
        for (what, value) in rows {
            writeln!(out, "  {what:<36}{:>14}", count(value))?;
        }
        writeln!(out, "\nenvironments        one request each   many (not deployed)")?;
        for function in &self.functions {
            let (each, many) = (count(function.environments), count(function.managed_environments));
            writeln!(out, "  {:<16}{each:>18}{many:>22}", function.function)?;
        }
        write_sum(out, self)?;
        writeln!(out, "\nbound                       needs           has")?;
        for check in &self.checks {
            let mark = if check.holds() { "" } else { "  <" };
            let (need, have) = (count(check.need), count(check.have));
            writeln!(out, "  {:<20}{need:>11}{have:>14}  {}{mark}", check.name, check.unit)?;
        }
        for note in &self.notes {
            writeln!(out, "\n{note}")?;
        }
        writeln!(out, "\ncost of the sale, USD")?;
        write_lines(out, &self.cost)?;
        writeln!(out, "  {:<36}{:>14}", "the deployment, per month", usd(self.idle_month_usd))?;
        write_prices(out, self.prices_taken, &self.prices_unseen)
    }
}

/// How the environments of the functions add up to the need for concurrency.
fn write_sum(out: &mut impl Write, plan: &Plan) -> fmt::Result {
    let Some(need) = plan.checks.iter().find(|check| check.name == "lambda_concurrency").map(|check| check.need) else {
        return Ok(());
    };
    let busy = busy_at_once(&plan.load);
    for (what, value) in
        [("busy at the same time", busy), ("kept for other functions", need - busy), ("lambda_concurrency", need)]
    {
        writeln!(out, "  {what:<26}{:>8}", count(value))?;
    }
    if busy < plan.functions.iter().map(|function| function.environments).sum::<f64>() {
        writeln!(out, "the last tickets come before the first turns, so not all of these are busy at the same time")?;
    }
    Ok(())
}

/// What the line achieves.
fn write_line(out: &mut impl Write, plan: &Plan, line: &InLine) -> fmt::Result {
    let Some(asked) = plan.setup.line else { return Ok(()) };
    writeln!(out, "\nthe line")?;
    let admitted = people(asked.admits_per_s.into());
    writeln!(out, "  opens {} before the sale and admits {admitted} a second", time(asked.opens_early_s.into()))?;
    let known = time(line.known_within_s);
    match line.sold_out_s {
        Some(sold_out_s) => {
            writeln!(out, "  sells out after {}; everybody else knows within {known}", time(sold_out_s))?;
            let window = time(plan.assumptions.payment_window_s);
            writeln!(out, "  unpaid units come back after {window} and go to the next in line")?;
            writeln!(out, "  if nobody bought, everybody would have had a turn after {}", time(line.everybody_s))?;
        }
        None => {
            let turn = time(line.everybody_s);
            writeln!(out, "  everybody has had a turn after {turn}; pages show it within {known}")?;
        }
    }
    if line.raised.iter().all(|raised| raised.admits_per_s.is_none()) {
        return Ok(());
    }
    writeln!(out, "\nwhat raised quotas buy                 people/s  a turn for all")?;
    for raised in &line.raised {
        let per_s = raised.admits_per_s.map_or("does not hold".into(), |per_s| count(per_s.into()));
        let all = raised.everybody_s.map_or(String::new(), time);
        writeln!(out, "  {:<32}{per_s:>13}{all:>16}", raised.what)?;
    }
    Ok(())
}

fn write_lines(out: &mut impl Write, lines: &[Line]) -> fmt::Result {
    for line in lines {
        writeln!(out, "  {:<36}{:>14}", line.what, usd(line.usd))?;
    }
    writeln!(out, "  {:<36}{:>14}", "total", usd(sum(lines)))
}

fn write_prices(out: &mut impl Write, taken: &str, unseen: &[&str]) -> fmt::Result {
    writeln!(out, "\nlist prices of {taken}, without tax or free tiers")?;
    if !unseen.is_empty() {
        writeln!(out, "from memory, not verified: {}", unseen.join(", "))?;
    }
    Ok(())
}

pub fn bills(bills: &[Part], taken: &str, unseen: &[&str]) -> String {
    let mut out = String::new();
    for bill in bills {
        // Writing to a string never fails.
        let _ = writeln!(out, "{}, USD", bill.what);
        let _ = write_lines(&mut out, &bill.lines);
        let _ = writeln!(out);
    }
    let _ = write_prices(&mut out, taken, unseen);
    out.replace("\n\n\n", "\n\n")
}
