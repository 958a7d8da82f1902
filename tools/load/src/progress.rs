//! Figures during a run: one line that changes at a terminal, a line each second in a log.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::time::Duration;

use indicatif::{MultiProgress, ProgressBar, ProgressStyle};

use crate::answer::Answer;
use crate::outcome::Outcome;

/// Shows the state of a run each second.
pub struct ProgressLine {
    /// Where it is shown, if not in a log.
    bar: Option<ProgressBar>,
    before: (Duration, u64),
}

impl ProgressLine {
    /// On standard error.
    pub fn stderr() -> Self {
        let bar = ProgressBar::new_spinner();
        Self::on((!bar.is_hidden()).then_some(bar))
    }

    /// Among other bars, if they are shown at a terminal.
    pub fn among(bars: &MultiProgress) -> Self {
        Self::on((!bars.is_hidden()).then(|| bars.add(ProgressBar::new_spinner())))
    }

    pub fn silent() -> Self {
        Self { bar: Some(ProgressBar::hidden()), before: (Duration::ZERO, 0) }
    }

    fn on(bar: Option<ProgressBar>) -> Self {
        if let Some(bar) = &bar {
            bar.set_style(ProgressStyle::with_template("{spinner:.cyan} {wide_msg}").expect("a template"));
            bar.enable_steady_tick(Duration::from_millis(120));
        }
        Self { bar, before: (Duration::ZERO, 0) }
    }

    pub(crate) fn show(&self, line: String) {
        match &self.bar {
            Some(bar) => bar.set_message(line),
            None => eprintln!("{line}"),
        }
    }

    /// What there is to show of an outcome so far, while this machine has `computing` proofs of work to compute.
    pub(crate) fn line(&mut self, elapsed: Duration, computing: u64, outcome: &Outcome) -> String {
        let answered = outcome.answered();
        let (elapsed_before, answered_before) = std::mem::replace(&mut self.before, (elapsed, answered));
        let seconds = (elapsed - elapsed_before).as_secs_f64();
        let per_s = if seconds > 0.0 { (answered - answered_before) as f64 / seconds } else { 0.0 };
        // Without the latencies, which take long to add up: requests wait meanwhile.
        let mut counts: BTreeMap<&Answer, u64> = BTreeMap::new();
        for ((_, answer), latency_us) in &outcome.answers {
            *counts.entry(answer).or_default() += latency_us.len();
        }
        let mut counts: Vec<_> = counts.into_iter().collect();
        counts.sort_by_key(|(_, count)| Reverse(*count));
        let answers = counts.into_iter().map(|(answer, count)| format!("{answer}: {count}"));
        let [p50_ms, p99_ms] = [0.5, 0.99].map(|quantile| outcome.quantile_ms(quantile));
        let waiting = outcome.sent.saturating_sub(answered);
        let computing = if computing > 0 { format!("proofs to compute {computing}  ") } else { String::new() };
        format!(
            "{:>4.0} s  {per_s:>6.0}/s  p50 {p50_ms:.1} ms  p99 {p99_ms:.1} ms  waiting {waiting}  {computing}{}",
            elapsed.as_secs_f64(),
            answers.collect::<Vec<_>>().join("  ")
        )
    }
}

impl Drop for ProgressLine {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outcome::histogram;

    #[test]
    fn a_line_has_the_rate_since_the_one_before() {
        let mut shown = ProgressLine::silent();
        let sold_out = Answer::read(409, br#"{"code":"sold_out"}"#);
        let lines = [(1, 100, 0), (3, 500, 12)].map(|(second, answered, computing)| {
            let mut outcome = Outcome { sent: answered + 7, ..Outcome::nothing_yet() };
            for (us, count) in [(1_500, answered - answered / 10), (20_000, answered / 10)] {
                outcome.latency_us.record_n(us, count).unwrap();
            }
            for (answer, count) in [(Answer::status(202), 90), (sold_out.clone(), answered - 90)] {
                outcome.answers.entry(("reserve", answer)).or_insert_with(histogram).record_n(1, count).unwrap();
            }
            shown.line(Duration::from_secs(second), computing, &outcome)
        });
        assert_eq!(lines[0], "   1 s     100/s  p50 1.5 ms  p99 20.0 ms  waiting 7  202: 90  409 sold_out: 10");
        assert_eq!(
            lines[1],
            "   3 s     200/s  p50 1.5 ms  p99 20.0 ms  waiting 7  proofs to compute 12  409 sold_out: 410  202: 90"
        );
    }
}
