use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rand::{Rng, RngExt};

use crate::glyphs::{Stroke, strokes};

/// Wide enough for digits the size of a finger on a phone.
const WIDTH: u32 = 240;
const HEIGHT: u32 = 72;
/// The largest overhead of a PNG: a filter byte for each row, its chunks, and what deflate adds to what cannot shrink.
const PNG_OVERHEAD: u32 = HEIGHT + 512;
/// The largest picture in bytes, whatever is drawn.
pub const MAX_PICTURE_BYTES: usize = PREFIX.len() + (WIDTH * HEIGHT / 2 + PNG_OVERHEAD).div_ceil(3) as usize * 4;
const _: () = assert!(MAX_PICTURE_BYTES < 20_000);

const PREFIX: &str = "data:image/png;base64,";
type Point = (f32, f32);
/// The shade of each pixel, row by row: 0 is black, 1 is white.
type Canvas = Vec<f32>;

/// Points on a curve between two given ones.
const STEPS: usize = 6;
/// Pale strokes behind the glyphs.
const SHADOWS: usize = 3;
/// Lines across: two are enough to join the glyphs for a program, and a person can still read them.
const LINES: usize = 2;
/// Shades of grey in a picture: 4 bits for each pixel.
const SHADES: f32 = 15.0;

/// Draws a question so that a person can read it and programs for printed text mostly cannot: each glyph is bent,
/// slanted, rotated and sized individually, and lines like their strokes run through all of them.
pub(crate) fn data_url(question: &str, rng: &mut impl Rng) -> String {
    let mut url = PREFIX.to_owned();
    STANDARD.encode_string(png(&draw(question, rng)), &mut url);
    url
}

fn draw(question: &str, rng: &mut impl Rng) -> Canvas {
    let mut canvas = vec![rng.random_range(0.82..0.95); (WIDTH * HEIGHT) as usize];
    let wave = Wave::random(rng);
    for _ in 0..SHADOWS {
        shadow(&mut canvas, rng);
    }
    let step = (WIDTH as f32 - 24.0) / question.chars().count() as f32;
    for (i, glyph) in question.chars().enumerate() {
        let place = Place::random(rng, 12.0 + step * i as f32, step);
        let ink = rng.random_range(0.05..0.3);
        let width = rng.random_range(3.0..5.0);
        for stroke in strokes(glyph) {
            let points = points(stroke).into_iter().map(|point| wave.moved(place.of(point)));
            stroke_along(&mut canvas, points, ink, width);
        }
    }
    for _ in 0..LINES {
        line_across(&mut canvas, rng);
    }
    canvas
}

struct Place {
    left: f32,
    top: f32,
    width: f32,
    height: f32,
    lean: f32,
    turn: (f32, f32),
}

impl Place {
    fn random(rng: &mut impl Rng, left: f32, step: f32) -> Self {
        let height = rng.random_range(30.0..38.0);
        Self {
            left: left + step * 0.12 + rng.random_range(-2.0..2.0),
            top: rng.random_range(8.0..HEIGHT as f32 - height - 8.0),
            width: step * rng.random_range(0.62..0.76),
            height,
            lean: rng.random_range(-0.3..0.3),
            turn: rng.random_range(-0.28_f32..0.28).sin_cos(),
        }
    }

    /// Maps a point of the glyph's box to the canvas.
    fn of(&self, (x, y): (f32, f32)) -> (f32, f32) {
        let (x, y) = (x - 0.5, y / 1.5 - 0.5);
        let (x, y) = ((x - self.lean * y) * self.width, y * self.height);
        let (sin, cos) = self.turn;
        let (x, y) = (x * cos - y * sin, x * sin + y * cos);
        (x + self.left + self.width / 2.0, y + self.top + self.height / 2.0)
    }
}

struct Wave {
    across: (f32, f32, f32),
    down: (f32, f32, f32),
}

impl Wave {
    fn random(rng: &mut impl Rng) -> Self {
        let mut one = |amplitude: f32, length: std::ops::Range<f32>| {
            let (amplitude, length) = (rng.random_range(amplitude / 2.0..amplitude), rng.random_range(length));
            (amplitude, std::f32::consts::TAU / length, rng.random_range(0.0..length))
        };
        Self { across: one(3.5, 30.0..60.0), down: one(5.0, 50.0..110.0) }
    }

    fn moved(&self, (x, y): (f32, f32)) -> (f32, f32) {
        let bend = |(swing, frequency, phase): (f32, f32, f32), at: f32| swing * (frequency * (at + phase)).sin();
        (x + bend(self.across, y), y + bend(self.down, x))
    }
}

/// Points along a stroke, close enough for straight segments to look round.
fn points(stroke: &Stroke) -> Vec<Point> {
    let (coordinates, curved) = match stroke {
        Stroke::Curve(coordinates) => (coordinates, true),
        Stroke::Line(coordinates) => (coordinates, false),
    };
    let (given, _) = coordinates.as_chunks::<2>();
    let at = |i: usize| Point::from(given[i.min(given.len() - 1)]);
    let mut all = vec![at(0)];
    for i in 0..given.len() - 1 {
        let (before, from, to, after) = (at(i.saturating_sub(1)), at(i), at(i + 1), at(i + 2));
        for step in 1..=STEPS {
            let t = step as f32 / STEPS as f32;
            let along = |before: f32, from: f32, to: f32, after: f32| {
                if curved { catmull_rom(before, from, to, after, t) } else { from + (to - from) * t }
            };
            all.push((along(before.0, from.0, to.0, after.0), along(before.1, from.1, to.1, after.1)));
        }
    }
    all
}

fn catmull_rom(before: f32, from: f32, to: f32, after: f32, t: f32) -> f32 {
    let square = t * t;
    let cube = square * t;
    0.5 * (2.0 * from
        + (to - before) * t
        + (2.0 * before - 5.0 * from + 4.0 * to - after) * square
        + (3.0 * from - before - 3.0 * to + after) * cube)
}

/// A broad pale stroke behind the glyphs.
fn shadow(canvas: &mut Canvas, rng: &mut impl Rng) {
    let (height, shade, width) = (HEIGHT as f32, rng.random_range(0.65..0.8), rng.random_range(6.0..14.0));
    let start = (rng.random_range(0.0..WIDTH as f32), rng.random_range(0.0..height));
    let end = (start.0 + rng.random_range(-80.0..80.0), rng.random_range(0.0..height));
    stroke_along(canvas, [start, end].into_iter(), shade, width);
}

/// A line through all glyphs, similar to their strokes.
fn line_across(canvas: &mut Canvas, rng: &mut impl Rng) {
    let (middle, swing) = (rng.random_range(16.0..HEIGHT as f32 - 16.0), rng.random_range(6.0..18.0));
    let (length, phase) = (rng.random_range(60.0..200.0_f32), rng.random_range(0.0..6.0_f32));
    let slope = rng.random_range(-0.12..0.12);
    let along = (0..=40).map(|i| {
        let x = WIDTH as f32 * i as f32 / 40.0;
        let wave = swing * (std::f32::consts::TAU * x / length + phase).sin();
        (x, middle + wave + slope * (x - WIDTH as f32 / 2.0))
    });
    stroke_along(canvas, along, rng.random_range(0.1..0.4), rng.random_range(1.4..2.2));
}

/// Draws with a round pen: pixels nearer to the line than half its width are inked, those at the edge in part.
fn stroke_along(canvas: &mut Canvas, points: impl Iterator<Item = Point>, ink: f32, width: f32) {
    let points: Vec<Point> = points.collect();
    for piece in points.windows(2) {
        let reach = width / 2.0 + 1.0;
        let within = |a: f32, b: f32, end: u32| {
            let (low, high) = (a.min(b) - reach, a.max(b) + reach);
            low.clamp(0.0, end as f32) as u32..high.clamp(0.0, end as f32) as u32
        };
        for y in within(piece[0].1, piece[1].1, HEIGHT) {
            for x in within(piece[0].0, piece[1].0, WIDTH) {
                let away = distance((x as f32 + 0.5, y as f32 + 0.5), piece[0], piece[1]);
                let covered = (width / 2.0 + 0.5 - away).clamp(0.0, 1.0);
                let shade = &mut canvas[(y * WIDTH + x) as usize];
                *shade += (ink - *shade) * covered;
            }
        }
    }
}

/// The distance from a point to the segment from `a` to `b`.
fn distance((x, y): Point, a: Point, b: Point) -> f32 {
    let along = (b.0 - a.0, b.1 - a.1);
    let length = (along.0 * along.0 + along.1 * along.1).max(f32::EPSILON);
    let t = (((x - a.0) * along.0 + (y - a.1) * along.1) / length).clamp(0.0, 1.0);
    (x - a.0 - t * along.0).hypot(y - a.1 - t * along.1)
}

/// Encodes in greyscale with [`SHADES`]: a quarter of the size of colours, which would only help programs.
fn png(canvas: &[f32]) -> Vec<u8> {
    let shades: Vec<u8> = canvas.iter().map(|shade| (shade * SHADES).round() as u8).collect();
    let packed: Vec<u8> = shades.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect();
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, WIDTH, HEIGHT);
    encoder.set_color(png::ColorType::Grayscale);
    encoder.set_depth(png::BitDepth::Four);
    let written = encoder.write_header().and_then(|mut writer| writer.write_image_data(&packed));
    written.expect("memory takes everything, and the points are as many as the header says");
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_differ_and_are_bounded() {
        let pictures: std::collections::HashSet<_> = (0..50).map(|_| data_url("17+6=?", &mut rand::rng())).collect();
        assert_eq!(pictures.len(), 50);
        for picture in &pictures {
            assert!(picture.starts_with(PREFIX) && picture.len() <= MAX_PICTURE_BYTES, "{}", picture.len());
        }
    }

    #[test]
    fn every_sign_of_a_question_can_be_drawn() {
        for sign in "0123456789+=?".chars() {
            assert!(!strokes(sign).is_empty(), "{sign}");
        }
    }
}
