//! The plot of one opening.

use anyhow::Result;
use load::plot::{COLORS, Drawn, FONT, LIGHT, Line, TITLE, lines, svg};
use plotters::prelude::*;

use crate::meter::Second;
use crate::opening::Run;

const SIZE: (u32, u32) = (900, 1_120);
/// Plotted seconds before and after the opening.
const BEFORE_S: i64 = 60;
const AFTER_S: i64 = 60;

/// Requests, people and units around the opening of the first run, and the tenths of all runs.
pub fn draw(runs: &[Run]) -> Result<String> {
    svg(SIZE, |root| {
        let parts = root.split_evenly((3, 1));
        let Some(first) = runs.first() else { return Ok(()) };
        let shown: Vec<&Second> =
            first.seconds.iter().filter(|second| (-BEFORE_S..=AFTER_S).contains(&second.at_s)).collect();
        let line = |name: &str, of: &dyn Fn(&Second) -> f64| -> Line {
            (name.into(), shown.iter().map(|second| ((second.at_s + BEFORE_S) as f64, of(second))).collect())
        };
        let label = |x: &f64| format!("{:.0}", x - BEFORE_S as f64);
        let seconds = "seconds after the opening";
        let right = || Some(SeriesLabelPosition::UpperRight);
        let requests = [
            line("edge, in tens", &|second| second.edge / 10.0),
            line("gateway", &|second| second.gateway),
            line("Redis", &|second| second.redis),
        ];
        lines(&parts[0], ["Requests a second", seconds, ""], &requests, &label, right())?;
        let people = [
            line("in line, in hundreds", &|second| f64::from(second.waiting) / 100.0),
            line("turns", &|second| f64::from(second.admitted)),
            line("free units", &|second| f64::from(second.free)),
            line("paid units", &|second| f64::from(second.paid)),
        ];
        lines(&parts[1], ["People and units", seconds, ""], &people, &label, right())?;
        deciles(&parts[2], runs)
    })
}

/// The share of each tenth whose turn came: the mean of all runs as a bar, the range of the runs as a line.
fn deciles(root: &load::plot::Area<'_>, runs: &[Run]) -> Drawn {
    let shares = || runs.iter().flat_map(|run| run.fairness.admitted_by_decile);
    let highest = shares().fold(0.0, f64::max).max(1e-6) * 1.2;
    let mut chart = ChartBuilder::on(root)
        .caption("Part of each tenth of the early people, in the order of arrival, whose turn came", TITLE)
        .margin(12)
        .margin_right(32)
        .x_label_area_size(44)
        .y_label_area_size(64)
        .build_cartesian_2d(0.5..10.5, 0.0..highest * 100.0)?;
    let whole = |x: &f64| if x.fract().abs() < 1e-6 { format!("{x:.0}") } else { String::new() };
    chart
        .configure_mesh()
        .disable_x_mesh()
        .x_labels(11)
        .x_label_formatter(&whole)
        .x_desc("tenth, the first to come on the left")
        .y_desc("per cent")
        .max_light_lines(0)
        .label_style(FONT)
        .draw()?;
    for decile in 0..10 {
        let of = |run: &Run| run.fairness.admitted_by_decile[decile] * 100.0;
        let mean = runs.iter().map(of).sum::<f64>() / runs.len().max(1) as f64;
        let x = decile as f64 + 1.0;
        chart.draw_series([Rectangle::new([(x - 0.35, 0.0), (x + 0.35, mean)], LIGHT.filled())])?;
        let all: Vec<(f64, f64)> = runs.iter().map(|run| (x, of(run))).collect();
        chart.draw_series([PathElement::new(all, COLORS[0].stroke_width(4))])?;
    }
    Ok(())
}
