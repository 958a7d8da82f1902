//! How people come, as functions of time.

use crate::inputs::Assumptions;

/// A rush: people press the button after an exponentially distributed time, with the assumed peak in the first second,
/// and answer their challenge after another such time. So the two steps do not fall into the same second.
pub struct Rush {
    people: f64,
    /// The rate of pressing the button, in 1/s.
    presses: f64,
    /// The rate of answering, in 1/s.
    answers: f64,
}

impl Rush {
    pub fn new(people: f64, assumed: &Assumptions) -> Self {
        Self::at(people, assumed.peak_factor / assumed.rush_s, 1.0 / assumed.solve_s)
    }

    pub fn at(people: f64, presses: f64, answers: f64) -> Self {
        // Equal rates would need another formula; nearly equal ones will do.
        let answers = if (answers / presses - 1.0).abs() < 1e-3 { presses * 1.001 } else { answers };
        Self { people, presses, answers }
    }

    /// People a second who press the button at this time.
    pub fn press(&self, at_s: f64) -> f64 {
        self.people * self.presses * (-self.presses * at_s).exp()
    }

    /// People a second who answer, and reserve at once.
    pub fn answer(&self, at_s: f64) -> f64 {
        let (a, b) = (self.presses, self.answers);
        self.people * a * b / (b - a) * ((-a * at_s).exp() - (-b * at_s).exp())
    }

    /// People who have answered by this time.
    fn answered(&self, at_s: f64) -> f64 {
        let (a, b) = (self.presses, self.answers);
        self.people * (1.0 - (b * (-a * at_s).exp() - a * (-b * at_s).exp()) / (b - a))
    }

    /// Seconds until `units` people have answered, if that many come.
    pub fn until(&self, units: f64) -> Option<f64> {
        let (mut low, mut high) = (0.0, 60.0 / self.presses.min(self.answers));
        if self.answered(high) <= units {
            return None;
        }
        for _ in 0..60 {
            let middle = f64::midpoint(low, high);
            if self.answered(middle) < units { low = middle } else { high = middle }
        }
        Some(high)
    }

    /// People who press the button by then. Anyone later gets "sold out" when asking for a challenge.
    pub fn before(&self, until_s: Option<f64>) -> f64 {
        until_s.map_or(self.people, |until_s| self.people * (1.0 - (-self.presses * until_s).exp()))
    }

    /// The peak rate until then, with this many requests per press and per answer. Afterwards both decrease.
    pub fn fullest(&self, until_s: Option<f64>, of_press: f64, of_answer: f64) -> f64 {
        let (a, b) = (self.presses, self.answers);
        let all = |at_s: f64| of_press * self.press(at_s) + of_answer * self.answer(at_s);
        // The sum is p·exp(−at) − q·exp(−bt), which rises until exp((b − a)t) is bq/(ap), if ever, and then falls.
        let q = of_answer * a * b / (b - a);
        let p = of_press * a + q;
        let top_s = (b * q / (a * p)).ln() / (b - a);
        let end_s = until_s.unwrap_or(f64::INFINITY);
        if top_s.is_nan() || top_s <= 0.0 { all(0.0) } else { all(top_s.min(end_s)) }
    }
}

/// The fraction of tickets in the last seconds before the opening, if people come an exponentially distributed time
/// before it and each page asks at a random time of what is left: x·E1(x) + 1 − exp(−x), with x the seconds as a
/// fraction of the mean.
pub fn tickets_within(last_s: f64, comes_early_s: f64) -> f64 {
    let x = last_s / comes_early_s;
    x * exponential_integral(x) + 1.0 - (-x).exp()
}

/// E1(x) = ∫ exp(−t)/t from x on, by the approximations 5.1.53 and 5.1.56 of Abramowitz and Stegun: at most 2·10⁻⁷ off
/// up to 1, and 5·10⁻⁵ beyond.
pub fn exponential_integral(x: f64) -> f64 {
    let polynomial = |of: &[f64]| of.iter().rev().fold(0.0, |sum, each| sum * x + each);
    if x <= 1.0 {
        const NEAR: [f64; 6] = [-0.577_215_66, 0.999_991_93, -0.249_910_55, 0.055_199_68, -0.009_760_04, 0.001_078_57];
        return polynomial(&NEAR) - x.ln();
    }
    const ABOVE: [f64; 5] = [0.267_773_734_3, 8.634_760_892_5, 18.059_016_973, 8.573_328_740_1, 1.0];
    const BELOW: [f64; 5] = [3.958_496_922_8, 21.099_653_082_7, 25.632_956_148_6, 9.573_322_345_4, 1.0];
    (-x).exp() / x * polynomial(&ABOVE) / polynomial(&BELOW)
}
