use std::path::Path;

use anyhow::{Context, Result};
use load::plot::{self, Area, COLORS, Drawn, FONT, LIGHT, TITLE};
use plotters::prelude::*;

use super::figure::{Reach, Unit};
use super::measured::{Offered, Report};

const SIZE: (u32, u32) = (820, 400);
const UPPER_LEFT: Option<SeriesLabelPosition> = Some(SeriesLabelPosition::UpperLeft);

pub(crate) fn draw(report: &Report, folder: &Path) -> Result<()> {
    std::fs::create_dir_all(folder)?;
    let plot = |name: &str, height: u32, draw: &dyn Fn(&Area<'_>) -> Drawn| {
        let svg = plot::svg((SIZE.0, height), draw).with_context(|| name.to_owned())?;
        anyhow::Ok(std::fs::write(folder.join(name), svg)?)
    };
    plot("ratios.svg", 30 * report.lines.len() as u32 + 90, &|root| ratios(report, root))?;
    plot("latency.svg", SIZE.1, &|root| latency(report, root))?;
    plot("growth.svg", SIZE.1, &|root| growth(report, root))?;
    plot("rates.svg", SIZE.1, &|root| rates(report, root))?;
    plot("starts.svg", SIZE.1, &|root| starts(report, root))
}

/// Each ratio as a bar from its lowest round to its highest, and its target as a line.
fn ratios(report: &Report, root: &Area<'_>) -> Drawn {
    let lines: Vec<_> = report.lines.iter().filter(|line| matches!(line.unit, Unit::Ratio)).collect();
    let highest = lines.iter().flat_map(|line| line.rounds.iter().copied()).fold(1.0, f64::max) * 1.05;
    let mut chart = ChartBuilder::on(root)
        .caption("Ratios: all rounds (bar), their median (dot), what it has to be (orange)", TITLE)
        .margin(12)
        .margin_right(32)
        .x_label_area_size(30)
        .y_label_area_size(190)
        .build_cartesian_2d(0.0..highest, 0.0..lines.len() as f64)?;
    let names = |y: &f64| {
        let at = lines.len() as f64 - y - 0.5;
        if at.fract().abs() > 1e-6 { String::new() } else { lines.get(at as usize).map_or("", |line| line.name).into() }
    };
    chart
        .configure_mesh()
        .disable_y_mesh()
        .y_labels(2 * lines.len() + 1)
        .y_label_formatter(&names)
        .max_light_lines(1)
        .label_style(FONT)
        .draw()?;
    for (n, line) in lines.iter().enumerate() {
        let y = lines.len() as f64 - n as f64 - 0.5;
        let low = line.rounds.iter().copied().fold(f64::INFINITY, f64::min);
        let high = line.rounds.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        chart.draw_series([Rectangle::new([(low, y - 0.12), (high, y + 0.12)], LIGHT.filled())])?;
        chart.draw_series([Circle::new((line.median(), y), 5, COLORS[0].filled())])?;
        if let Some(Reach::AtLeast(reach) | Reach::AtMost(reach)) = line.reach {
            chart.draw_series([PathElement::new([(reach, y - 0.35), (reach, y + 0.35)], COLORS[1].stroke_width(3))])?;
        }
    }
    Ok(())
}

fn latency(report: &Report, root: &Area<'_>) -> Drawn {
    let names = ["The call to Redis, 64 clients: latency", "part of the calls"];
    plot::latency(root, names, &report.curves, 1e6, UPPER_LEFT)
}

fn growth(report: &Report, root: &Area<'_>) -> Drawn {
    let points = report.growth.iter().map(|(live, p50_us)| (*live as f64, *p50_us)).collect();
    let names = ["reserve: time of a call, one after the other", "live reservations", "µs (p50)"];
    plot::lines(root, names, &[("reserve".to_owned(), points)], &|live| format!("{live:.0}"), UPPER_LEFT)
}

fn rates(report: &Report, root: &Area<'_>) -> Drawn {
    let of = |pick: fn(&Offered) -> f64| report.rates.iter().map(|at| (at.per_s, pick(at))).collect();
    let series = [
        ("p50".to_owned(), of(|at| at.p50_ms)),
        ("p90".to_owned(), of(|at| at.p90_ms)),
        ("p99".to_owned(), of(|at| at.p99_ms)),
    ];
    let names = ["The reservation function, sold out in Redis, by rate", "requests/s, by the clock", "ms"];
    plot::lines(root, names, &series, &|per_s| format!("{per_s:.0}"), UPPER_LEFT)
}

fn starts(report: &Report, root: &Area<'_>) -> Drawn {
    let highest = report.starts.iter().map(|start| start.start_ms).fold(0.0, f64::max) * 1.15;
    let mut chart = ChartBuilder::on(root)
        .caption("From being spawned to asking for the first event (line: a function that does nothing)", TITLE)
        .margin(12)
        .margin_right(32)
        .x_label_area_size(34)
        .y_label_area_size(120)
        .build_cartesian_2d(0.0..highest, (0..report.starts.len()).into_segmented())?;
    let name = |at: &SegmentValue<usize>| match at {
        SegmentValue::CenterOf(n) => report.starts.get(*n).map_or("", |start| start.function).to_owned(),
        _ => String::new(),
    };
    chart
        .configure_mesh()
        .disable_y_mesh()
        .y_labels(report.starts.len())
        .y_label_formatter(&name)
        .x_desc("ms")
        .max_light_lines(1)
        .label_style(FONT)
        .draw()?;
    chart.draw_series(report.starts.iter().enumerate().map(|(n, start)| {
        let corners = [(0.0, SegmentValue::Exact(n)), (start.start_ms, SegmentValue::Exact(n + 1))];
        let mut bar = Rectangle::new(corners, LIGHT.filled());
        bar.set_margin(3, 3, 0, 0);
        bar
    }))?;
    chart.draw_series(report.starts.iter().enumerate().map(|(n, start)| {
        let ends = [SegmentValue::Exact(n), SegmentValue::Exact(n + 1)];
        PathElement::new(ends.map(|end| (start.start_ms / start.start_ratio, end)), COLORS[1].stroke_width(3))
    }))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use hdrhistogram::Histogram;

    use super::*;
    use crate::report::figure::Line;
    use crate::report::measured::Started;

    #[test]
    fn every_plot_has_what_was_measured() {
        let line = Line {
            name: "a_ratio",
            what: String::new(),
            against: String::new(),
            unit: Unit::Ratio,
            rounds: vec![0.8, 0.9, 1.1],
            reach: Some(Reach::AtLeast(0.75)),
            measured: String::new(),
        };
        let start = |function| Started {
            function,
            start_ms: 20.0,
            start_ratio: 1.2,
            peak_mb: 12.0,
            peak_ratio: 1.3,
            zipped_mb: 3.0,
        };
        let mut latency_ns = Histogram::new(3).unwrap();
        (1..1000).for_each(|n| latency_ns.record(n * 1000).unwrap());
        let report = Report {
            lines: vec![Line { name: "another_ratio", ..line.clone() }, line],
            starts: vec![start("order"), start("reservation")],
            growth: vec![(1_000, 25.0), (2_000, 26.0)],
            rates: [1_000.0, 2_000.0].map(|per_s| Offered { per_s, p50_ms: 1.0, p90_ms: 2.0, p99_ms: 3.0 }).into(),
            curves: vec![("a crowd".to_owned(), latency_ns)],
            ..Report::default()
        };
        let folder = local::paths::target().join("bench/plots-of-a-test");
        draw(&report, &folder).unwrap();
        for (name, texts) in [
            ("ratios.svg", ["a_ratio", "another_ratio"]),
            ("latency.svg", ["a crowd", "99.9 %"]),
            ("growth.svg", ["live reservations", "µs (p50)"]),
            ("rates.svg", ["p50", "p99"]),
            ("starts.svg", ["order", "reservation"]),
        ] {
            let svg = std::fs::read_to_string(folder.join(name)).unwrap();
            for text in texts {
                assert!(svg.contains(text), "{name} has no {text}");
            }
        }
        std::fs::remove_dir_all(folder).unwrap();
    }
}
