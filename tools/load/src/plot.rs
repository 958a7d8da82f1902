//! Plots as SVG.

use std::error::Error;

use anyhow::{Result, anyhow};
use plotters::coord::Shift;
use plotters::prelude::*;

pub const FONT: (&str, u32) = ("sans-serif", 14);
pub const TITLE: (&str, u32) = ("sans-serif", 17);
/// The colours of lines, in this order; repeated with another [`Stroke`].
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
/// The strokes of lines, in this order: each with all [`COLORS`] before the next one.
pub const STROKES: [Stroke; 3] = [Stroke::Solid, Stroke::Dashed, Stroke::Dotted];
/// How many lines can be distinguished.
pub const LOOKS: usize = COLORS.len() * STROKES.len();
/// Lines with fewer points than this have a mark at each.
const MARKED: usize = 100;
pub const LIGHT: RGBColor = RGBColor(150, 180, 205);

/// How a line is drawn. Each kind has its own marks at the points, for lines with a single point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stroke {
    Solid,
    Dashed,
    Dotted,
}

impl Stroke {
    /// The pixels of a dash and of the gap after it, if it is not solid.
    pub const fn dash(self) -> Option<[u32; 2]> {
        match self {
            Self::Solid => None,
            Self::Dashed => Some([9, 5]),
            Self::Dotted => Some([2, 4]),
        }
    }
}

pub const fn look(n: usize) -> (RGBColor, Stroke) {
    (COLORS[n % COLORS.len()], STROKES[n / COLORS.len() % STROKES.len()])
}

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

/// Lines over a common horizontal axis, with the names of the plot and its axes. A `legend` names the lines. Fails if
/// it cannot be drawn.
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
    for (n, (name, points)) in series.iter().enumerate() {
        let (color, stroke) = look(n);
        let line = points.iter().copied();
        let style = color.stroke_width(2);
        let drawn = match stroke.dash() {
            None => chart.draw_series(LineSeries::new(line, style))?,
            Some([dash, gap]) => chart.draw_series(DashedLineSeries::new(line, dash, gap, style))?,
        };
        drawn.label(name).legend(move |(x, y)| PathElement::new([(x, y), (x + 18, y)], style));
        if points.len() < MARKED {
            let points = points.iter().copied();
            match stroke {
                Stroke::Solid => chart.draw_series(points.map(|point| Circle::new(point, 3, color.filled())))?,
                Stroke::Dashed => {
                    chart.draw_series(points.map(|point| Circle::new(point, 4, color.stroke_width(1))))?
                }
                Stroke::Dotted => chart.draw_series(points.map(|point| Cross::new(point, 4, color.stroke_width(1))))?,
            };
        }
    }
    if let Some(position) = legend {
        let mut labels = chart.configure_series_labels();
        labels.position(position).background_style(WHITE.filled()).border_style(LIGHT).label_font(FONT).draw()?;
    }
    Ok(())
}
