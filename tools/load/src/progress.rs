//! Figures during a run: one line that changes at a terminal, a line each second in a log.

use std::collections::BTreeMap;
use std::time::Duration;

use indicatif::{MultiProgress, ProgressBar, ProgressStyle};

#[derive(Debug, Clone)]
pub struct Progress {
    pub elapsed: Duration,
    pub sent: u64,
    pub answered: u64,
    /// Users for whom this machine has yet to compute a proof of work.
    pub computing: u64,
    pub answers: BTreeMap<String, u64>,
    pub p50: Duration,
    pub p99: Duration,
}

/// Shows the state of a run each second.
pub struct ProgressLine {
    show: Box<dyn FnMut(&str) + Send>,
    bar: Option<ProgressBar>,
    before: (Duration, u64),
}

impl ProgressLine {
    /// On standard error.
    pub fn stderr() -> Self {
        let bar = ProgressBar::new_spinner();
        if bar.is_hidden() { Self::log() } else { Self::on(bar) }
    }

    /// Among other bars, if they are shown at a terminal.
    pub fn among(bars: &MultiProgress) -> Self {
        if bars.is_hidden() { Self::log() } else { Self::on(bars.add(ProgressBar::new_spinner())) }
    }

    pub fn silent() -> Self {
        Self::new(None, |_| {})
    }

    fn new(bar: Option<ProgressBar>, show: impl FnMut(&str) + Send + 'static) -> Self {
        Self { show: Box::new(show), bar, before: (Duration::ZERO, 0) }
    }

    fn log() -> Self {
        Self::new(None, |line| eprintln!("{line}"))
    }

    fn on(bar: ProgressBar) -> Self {
        if let Ok(style) = ProgressStyle::with_template("{spinner:.cyan} {wide_msg}") {
            bar.set_style(style);
        }
        bar.enable_steady_tick(Duration::from_millis(120));
        let shown = bar.clone();
        Self::new(Some(bar), move |line| shown.set_message(line.to_owned()))
    }

    pub(crate) fn tell(&mut self, progress: &Progress) {
        let (elapsed, answered) = self.before;
        self.before = (progress.elapsed, progress.answered);
        let seconds = (progress.elapsed - elapsed).as_secs_f64();
        let per_s = if seconds > 0.0 { (progress.answered - answered) as f64 / seconds } else { 0.0 };
        (self.show)(&line(progress, per_s));
    }
}

impl Drop for ProgressLine {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

fn line(progress: &Progress, per_s: f64) -> String {
    let Progress { elapsed, sent, answered, computing, answers, p50, p99 } = progress;
    let mut by_count: Vec<_> = answers.iter().collect();
    by_count.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
    let answers: Vec<_> = by_count.into_iter().map(|(name, count)| format!("{name}: {count}")).collect();
    let ms = |latency: &Duration| latency.as_secs_f64() * 1e3;
    let waiting = sent.saturating_sub(*answered);
    let computing = if *computing > 0 { format!("proofs to compute {computing}  ") } else { String::new() };
    format!(
        "{:>4.0} s  {per_s:>6.0}/s  p50 {:.1} ms  p99 {:.1} ms  waiting {waiting}  {computing}{}",
        elapsed.as_secs_f64(),
        ms(p50),
        ms(p99),
        answers.join("  ")
    )
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;

    #[test]
    fn a_line_has_the_rate_since_the_one_before() {
        let lines = Arc::new(Mutex::new(Vec::new()));
        let shown = Arc::clone(&lines);
        let mut progress = ProgressLine::new(None, move |line| shown.lock().unwrap().push(line.to_owned()));
        for (second, answered, computing) in [(1, 100, 0), (3, 500, 12)] {
            progress.tell(&Progress {
                elapsed: Duration::from_secs(second),
                sent: answered + 7,
                answered,
                computing,
                answers: BTreeMap::from([("202".to_owned(), 90), ("409 sold_out".to_owned(), answered - 90)]),
                p50: Duration::from_micros(1_500),
                p99: Duration::from_millis(20),
            });
        }
        let lines = lines.lock().unwrap().clone();
        assert_eq!(lines[0], "   1 s     100/s  p50 1.5 ms  p99 20.0 ms  waiting 7  202: 90  409 sold_out: 10");
        assert_eq!(
            lines[1],
            "   3 s     200/s  p50 1.5 ms  p99 20.0 ms  waiting 7  proofs to compute 12  409 sold_out: 410  202: 90"
        );
    }
}
