//! Plots as SVG.

use std::error::Error;

use anyhow::{Result, anyhow};
use plotters::coord::Shift;
use plotters::prelude::*;

pub const FONT: (&str, u32) = ("sans-serif", 14);
pub const TITLE: (&str, u32) = ("sans-serif", 17);
/// The colours of lines, in this order. No more lines are drawn than there are colours.
pub const COLORS: [RGBColor; 8] = [
    RGBColor(0, 90, 160),
    RGBColor(200, 80, 0),
    RGBColor(0, 130, 90),
    RGBColor(140, 60, 140),
    RGBColor(170, 130, 0),
    RGBColor(190, 30, 60),
    RGBColor(60, 160, 190),
    RGBColor(110, 110, 110),
];
/// Lines with fewer points than this have a mark at each, so that a single point is seen.
const MARKED: usize = 100;
pub const LIGHT: RGBColor = RGBColor(150, 180, 205);

pub type Drawn = std::result::Result<(), Box<dyn Error + Send + Sync>>;
pub type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
pub type Line = (String, Vec<(f64, f64)>);

pub fn svg(size: (u32, u32), draw: impl FnOnce(&Area<'_>) -> Drawn) -> Result<String> {
    let mut text = String::new();
    {
        let root = SVGBackend::with_string(&mut text, size).into_drawing_area();
        let drawn = root.fill(&WHITE).map_err(Into::into).and_then(|()| draw(&root));
        drawn.and_then(|()| root.present().map_err(Into::into)).map_err(|error| anyhow!("a plot: {error}"))?;
    }
    Ok(text)
}

/// Lines over a common horizontal axis, with the names of the plot and its axes. A `legend` names the lines.
pub fn lines(
    root: &Area<'_>,
    [title, x_name, y_name]: [&str; 3],
    series: &[Line],
    x_label: &dyn Fn(&f64) -> String,
    legend: Option<SeriesLabelPosition>,
) -> Drawn {
    let points = || series.iter().flat_map(|(_, points)| points);
    let highest = |of: fn(&(f64, f64)) -> f64| points().map(of).fold(0.0, f64::max);
    // An axis of zero length cannot be drawn.
    let extent = |highest: f64| if highest > 0.0 { highest } else { 1.0 };
    let mut builder = ChartBuilder::on(root);
    if !title.is_empty() {
        builder.caption(title, TITLE);
    }
    let mut chart = builder
        .margin(12)
        .margin_right(32)
        .x_label_area_size(44)
        .y_label_area_size(64)
        .build_cartesian_2d(0.0..extent(highest(|point| point.0)), 0.0..extent(highest(|point| point.1)) * 1.1)?;
    chart
        .configure_mesh()
        .x_desc(x_name)
        .y_desc(y_name)
        .x_label_formatter(x_label)
        .max_light_lines(0)
        .label_style(FONT)
        .draw()?;
    for ((name, points), color) in series.iter().zip(COLORS) {
        let style = color.stroke_width(2);
        let drawn = chart.draw_series(LineSeries::new(points.iter().copied(), style))?;
        drawn.label(name).legend(move |(x, y)| PathElement::new([(x, y), (x + 18, y)], style));
        if points.len() < MARKED {
            chart.draw_series(points.iter().map(|point| Circle::new(*point, 3, color.filled())))?;
        }
    }
    if let Some(position) = legend {
        let mut labels = chart.configure_series_labels();
        labels.position(position).background_style(WHITE.filled()).border_style(LIGHT).label_font(FONT).draw()?;
    }
    Ok(())
}
