//! Plots grabs over time against the plan.

use std::ops::Range;

use plotters::prelude::*;

/// Seconds per point. With a point for each second the drops would look like a comb.
const STEP: usize = 5;

const SIZE: (u32, u32) = (820, 440);
const FONT: (&str, u32) = ("sans-serif", 14);
const BAR: RGBColor = RGBColor(150, 180, 205);
const PLAN: RGBColor = RGBColor(200, 80, 0);
const WITHOUT: RGBColor = RGBColor(110, 110, 110);

/// Plots grabs and dropped units by second, and the grabs that there would be if all units had been available at the opening.
pub(crate) fn svg(grabs: &[u32], dropped: &[u32], arrivals_per_s: u32) -> String {
    let mut svg = String::new();
    draw(&mut svg, grabs, dropped, arrivals_per_s).expect("writing to a string cannot fail");
    svg
}

type Drawn = Result<(), Box<dyn std::error::Error>>;

fn draw(svg: &mut String, grabs: &[u32], dropped: &[u32], arrivals_per_s: u32) -> Drawn {
    let root = SVGBackend::with_string(svg, SIZE).into_drawing_area();
    root.fill(&WHITE)?;
    let (above, legend) = root.split_vertically(SIZE.1 - 28);
    let mut chart = ChartBuilder::on(&above)
        .margin(12)
        .x_label_area_size(44)
        .y_label_area_size(48)
        .build_cartesian_2d(0.0..grabs.len() as f64 / 60.0, 0.0..f64::from(arrivals_per_s) + 1.0)?;
    chart
        .configure_mesh()
        .disable_x_mesh()
        .x_labels(11)
        .x_label_formatter(&|minute| format!("{minute:.0}"))
        .y_label_formatter(&|rate| format!("{rate:.0}"))
        .x_desc("minutes after the opening")
        .y_desc("units a second")
        .max_light_lines(1)
        .label_style(FONT)
        .draw()?;
    let steps = || (0..grabs.len()).step_by(STEP).map(|from| from..(from + STEP).min(grabs.len()));
    let ends = |step: &Range<usize>| (step.start as f64 / 60.0, step.end as f64 / 60.0);
    let per_s = |count: u32, step: &Range<usize>| f64::from(count) / step.len() as f64;
    let bar = |step: Range<usize>| {
        let (from, to) = ends(&step);
        Rectangle::new([(from, 0.0), (to, per_s(grabs[step.clone()].iter().sum(), &step))], BAR.filled())
    };
    chart.draw_series(steps().map(bar))?;

    let stairs = |rate: &dyn Fn(&Range<usize>) -> f64| -> Vec<(f64, f64)> {
        steps().flat_map(|step| [(ends(&step).0, rate(&step)), (ends(&step).1, rate(&step))]).collect()
    };
    let planned = |step: &Range<usize>| {
        let before = if step.start == 0 { 0 } else { dropped[step.start - 1] };
        per_s(dropped[step.end - 1] - before, step)
    };
    chart.draw_series(LineSeries::new(stairs(&planned), PLAN.stroke_width(2)))?;
    let all = f64::from(dropped.last().copied().unwrap_or(0));
    let without = |step: &Range<usize>| {
        let taken = |second: usize| (second as f64 * f64::from(arrivals_per_s)).min(all);
        (taken(step.end) - taken(step.start)) / step.len() as f64
    };
    chart.draw_series(DashedLineSeries::new(stairs(&without), 6, 4, WITHOUT.stroke_width(2)))?;

    legend.draw(&Rectangle::new([(60, 6), (72, 18)], BAR.filled()))?;
    legend.draw(&Text::new("grabs", (78, 6), FONT))?;
    legend.draw(&PathElement::new([(160, 12), (184, 12)], PLAN.stroke_width(2)))?;
    legend.draw(&Text::new("plan", (190, 6), FONT))?;
    legend.draw(&PathElement::new([(260, 12), (284, 12)], WITHOUT.stroke_width(2)))?;
    let words = format!("{arrivals_per_s} arrivals a second, had all {all} been available at the opening");
    legend.draw(&Text::new(words, (290, 6), FONT))?;
    root.present()?;
    Ok(())
}
