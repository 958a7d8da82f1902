use anyhow::Result;
use local::stages::Stage;
use serde::Serialize;

#[derive(Debug, Clone, Copy, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Reach {
    AtLeast(f64),
    AtMost(f64),
}

#[derive(Debug, Clone, Copy, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Unit {
    /// Between two throughputs or times of one round.
    Ratio,
    Bytes,
    Megabytes,
}

/// One line of the table. Each round has a value of its own.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Line {
    pub(crate) name: &'static str,
    pub(crate) what: String,
    pub(crate) against: String,
    pub(crate) unit: Unit,
    pub(crate) rounds: Vec<f64>,
    pub(crate) reach: Option<Reach>,
    /// The absolute values, which depend on this machine.
    pub(crate) measured: String,
}

impl Line {
    /// Of two rates that were measured in the same rounds.
    pub(crate) fn rates(
        name: &'static str,
        what: impl Into<String>,
        against: impl Into<String>,
        [of, to]: [&[f64]; 2],
        unit: &str,
    ) -> Self {
        let measured = format!("{:.0} of {:.0} {unit}", median(of), median(to));
        Self { measured, ..Self::times(name, what, against, [of, to], unit) }
    }

    /// Of two times that were measured in the same rounds.
    pub(crate) fn times(
        name: &'static str,
        what: impl Into<String>,
        against: impl Into<String>,
        [of, to]: [&[f64]; 2],
        unit: &str,
    ) -> Self {
        let measured = format!("{:.1} and {:.1} {unit}", median(of), median(to));
        Self::new(name, what, against, (Unit::Ratio, ratios(of, to)), measured)
    }

    /// Of a figure that has been measured in each of some rounds.
    pub(crate) fn new(
        name: &'static str,
        what: impl Into<String>,
        against: impl Into<String>,
        (unit, rounds): (Unit, Vec<f64>),
        measured: impl Into<String>,
    ) -> Self {
        let (what, against, measured) = (what.into(), against.into(), measured.into());
        Self { name, what, against, unit, rounds, reach: None, measured }
    }

    pub(crate) fn at_least(self, least: f64) -> Self {
        Self { reach: Some(Reach::AtLeast(least)), ..self }
    }

    pub(crate) fn at_most(self, most: f64) -> Self {
        Self { reach: Some(Reach::AtMost(most)), ..self }
    }

    pub(crate) fn median(&self) -> f64 {
        median(&self.rounds)
    }

    /// Whether the median meets the target, if there is one.
    pub(crate) fn is_reached(&self) -> Option<bool> {
        self.reach.map(|reach| match reach {
            Reach::AtLeast(least) => self.median() >= least,
            Reach::AtMost(most) => self.median() <= most,
        })
    }

    /// `0.81 (0.78 to 0.83)`.
    pub(crate) fn value(&self) -> String {
        let (low, high) = bounds(&self.rounds);
        let text = |value| self.unit.write(value);
        if self.rounds.len() < 2 || text(low) == text(high) {
            return text(self.median());
        }
        format!("{} ({} to {})", text(self.median()), text(low), text(high))
    }

    /// `0.81, 0.80, 0.83`: the median of each run.
    pub(crate) fn by_run(&self, runs: usize) -> String {
        let each = self.rounds.chunks((self.rounds.len() / runs).max(1));
        each.map(|rounds| self.unit.write(median(rounds))).collect::<Vec<_>>().join(", ")
    }

    /// `≥ 0.75`.
    pub(crate) fn wanted(&self) -> String {
        match self.reach {
            Some(Reach::AtLeast(least)) => format!("≥ {}", self.unit.write(least)),
            Some(Reach::AtMost(most)) => format!("≤ {}", self.unit.write(most)),
            None => "–".to_owned(),
        }
    }
}

impl Unit {
    fn write(self, value: f64) -> String {
        match self {
            Self::Ratio => format!("{value:.2}"),
            Self::Bytes => format!("{value:.0} bytes"),
            Self::Megabytes => format!("{value:.2} MB"),
        }
    }
}

/// Does both, the other one first in every second round: whichever comes second has a warmer machine.
pub(crate) async fn both<T>(
    round: usize,
    one: impl Future<Output = Result<T>>,
    other: impl Future<Output = Result<T>>,
) -> Result<[T; 2]> {
    if round.is_multiple_of(2) {
        let first = one.await?;
        return Ok([first, other.await?]);
    }
    let first = other.await?;
    Ok([one.await?, first])
}

/// Measures `N` things in turns, in a round to warm up and in this many more. Returns what each was in each of these.
pub(crate) async fn in_turns<const N: usize>(
    rounds: usize,
    stage: &Stage,
    mut round_of: impl AsyncFnMut(usize) -> Result<[f64; N]>,
) -> Result<[Vec<f64>; N]> {
    let mut measured = [const { Vec::new() }; N];
    for round in 0..=rounds {
        let values = round_of(round).await?;
        if round > 0 {
            measured.iter_mut().zip(values).for_each(|(into, value)| into.push(value));
        }
        stage.step();
    }
    Ok(measured)
}

pub(crate) fn ratios(of: &[f64], to: &[f64]) -> Vec<f64> {
    of.iter().zip(to).map(|(of, to)| of / to).collect()
}

pub(crate) fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    match (sorted.len(), sorted.len() / 2) {
        (0, _) => f64::NAN,
        (length, middle) if length % 2 == 0 => f64::midpoint(sorted[middle - 1], sorted[middle]),
        (_, middle) => sorted[middle],
    }
}

fn bounds(values: &[f64]) -> (f64, f64) {
    let fold = |start, f: fn(f64, f64) -> f64| values.iter().copied().fold(start, f);
    (fold(f64::INFINITY, f64::min), fold(f64::NEG_INFINITY, f64::max))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_judged_by_its_median() {
        let line = |rounds: &[f64], reach| Line {
            reach: Some(reach),
            ..Line::new("x", "", "", (Unit::Ratio, rounds.to_vec()), "")
        };
        assert_eq!(line(&[0.9, 0.1, 0.8], Reach::AtLeast(0.8)).is_reached(), Some(true));
        assert_eq!(line(&[0.9, 0.1, 0.7], Reach::AtLeast(0.8)).is_reached(), Some(false));
        assert_eq!(line(&[1.0, 2.0], Reach::AtMost(1.4)).is_reached(), Some(false));
        assert_eq!(line(&[1.0, 2.0], Reach::AtMost(1.4)).value(), "1.50 (1.00 to 2.00)");
        assert_eq!(line(&[1.0, 2.0, 4.0, 8.0], Reach::AtMost(1.4)).by_run(2), "1.50, 6.00");
    }
}
