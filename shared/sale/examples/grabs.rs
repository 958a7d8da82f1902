//! Plots what the k-th grab of a packet is worth, for ours and for WeChat's double mean, for docs/draws.md:
//! `cargo run --example grabs` in the root of the checkout.

use std::error::Error;

use plotters::coord::Shift;
use plotters::prelude::*;
use sale::award::{Plan, Seed, Stream, Table};

const PARTS: u32 = 10;
const TOTAL: u64 = 10_000;
const PACKETS: u32 = 20_000;

const FONT: (&str, u32) = ("sans-serif", 14);
const TITLE: (&str, u32) = ("sans-serif", 17);
const BAR: RGBColor = RGBColor(150, 180, 205);
const MEAN: RGBColor = RGBColor(0, 90, 160);
const DEVIATION: RGBColor = RGBColor(200, 80, 0);

/// What one grab was worth, over all packets.
struct Grab {
    mean: f64,
    deviation: f64,
    tenth: f64,
    nine_tenths: f64,
}

fn main() -> Result<(), Box<dyn Error>> {
    let plan = Plan::Drawn { total: TOTAL, parts: PARTS, min: 1 };
    let panels = [
        ("Double mean, then shuffled (ours)", grabs(|seed| Ok(Table::of(&plan, seed, None)?.awards()))?),
        ("Double mean, grab by grab (WeChat)", grabs(|seed| Ok(sequential(seed)))?),
    ];
    let root = SVGBackend::new("docs/draws/grabs.svg", (820, 425)).into_drawing_area();
    root.fill(&WHITE)?;
    let (above, legend) = root.split_vertically(400);
    let (left, right) = above.split_horizontally(410);
    for (area, (title, grabs)) in [left, right].iter().zip(&panels) {
        draw(area, title, grabs)?;
    }
    explain(&legend)?;
    root.present()?;
    Ok(())
}

/// The double mean as it is said of WeChat: each grab draws its amount from 0 to twice the mean of what is left, and
/// gets at least a cent.
fn sequential(seed: &Seed) -> Vec<u64> {
    let mut stream = Stream::new(seed, "sequential");
    let mut rest = TOTAL;
    let amount = |left: u32| {
        let part = (stream.below(1 << 53) as f64 / (1_u64 << 53) as f64) * 2.0 * rest as f64 / f64::from(left);
        let amount = if left == 1 { rest } else { (part as u64).max(1) };
        rest -= amount;
        amount
    };
    (1..=PARTS).rev().map(amount).collect()
}

fn grabs(packet: impl Fn(&Seed) -> Result<Vec<u64>, Box<dyn Error>>) -> Result<Vec<Grab>, Box<dyn Error>> {
    let seed = |number: u32| Seed(std::array::from_fn(|at| number.to_be_bytes()[at % 4]));
    let packets = (0..PACKETS).map(|number| packet(&seed(number))).collect::<Result<Vec<_>, _>>()?;
    let grab = |k: usize| {
        let mut amounts: Vec<f64> = packets.iter().map(|packet| packet[k] as f64 / 100.0).collect();
        amounts.sort_unstable_by(f64::total_cmp);
        let of_all = |value: &dyn Fn(f64) -> f64| amounts.iter().copied().map(value).sum::<f64>() / f64::from(PACKETS);
        let mean = of_all(&|amount| amount);
        Grab {
            mean,
            deviation: of_all(&|amount| (amount - mean).powi(2)).sqrt(),
            tenth: amounts[amounts.len() / 10],
            nine_tenths: amounts[amounts.len() * 9 / 10],
        }
    };
    Ok((0..PARTS as usize).map(grab).collect())
}

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

fn draw(area: &Area<'_>, title: &str, grabs: &[Grab]) -> Result<(), Box<dyn Error>> {
    let mut chart = ChartBuilder::on(area)
        .caption(title, TITLE)
        .margin(12)
        .x_label_area_size(44)
        .y_label_area_size(48)
        .build_cartesian_2d(0.4..f64::from(PARTS) + 0.6, 0.0..22.0)?;
    chart
        .configure_mesh()
        .disable_x_mesh()
        .x_labels(2 * PARTS as usize)
        .x_label_formatter(&|k| if k.fract() == 0.0 { format!("{k:.0}") } else { String::new() })
        .y_label_formatter(&|amount| format!("{amount:.0}"))
        .x_desc("k-th grab")
        .y_desc("amount, of 100.00 in ten parts")
        .max_light_lines(1)
        .label_style(FONT)
        .draw()?;
    let at = || (1..=PARTS).map(f64::from).zip(grabs);
    let bar =
        |(k, grab): (f64, &Grab)| Rectangle::new([(k - 0.3, grab.tenth), (k + 0.3, grab.nine_tenths)], BAR.filled());
    chart.draw_series(at().map(bar))?;
    chart.draw_series(LineSeries::new(at().map(|(k, grab)| (k, grab.deviation)), DEVIATION.stroke_width(2)))?;
    chart.draw_series(at().map(|(k, grab)| Circle::new((k, grab.mean), 5, MEAN.filled())))?;
    Ok(())
}

fn explain(area: &Area<'_>) -> Result<(), Box<dyn Error>> {
    area.draw(&Rectangle::new([(150, 6), (162, 18)], BAR.filled()))?;
    area.draw(&Text::new("the middle 80 %", (168, 6), FONT))?;
    area.draw(&Circle::new((316, 12), 5, MEAN.filled()))?;
    area.draw(&Text::new("mean", (328, 6), FONT))?;
    area.draw(&PathElement::new([(410, 12), (434, 12)], DEVIATION.stroke_width(2)))?;
    area.draw(&Text::new(format!("standard deviation ({PACKETS} packets)"), (440, 6), FONT))?;
    Ok(())
}
