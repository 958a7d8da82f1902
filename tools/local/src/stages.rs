//! Progress messages.

use std::sync::LazyLock;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::Duration;

use indicatif::{MultiProgress, ProgressBar, ProgressStyle};

/// All bars of this program, so that they do not overwrite each other.
static BARS: LazyLock<MultiProgress> = LazyLock::new(MultiProgress::new);

const LINE_EVERY: Duration = Duration::from_secs(5);

/// The live figures of a load, among the bars.
pub fn progress_line() -> load::ProgressLine {
    load::ProgressLine::among(&BARS)
}

/// Does what prints lines of its own, which bars would overwrite.
pub(crate) fn without_bars<T>(work: impl FnOnce() -> T) -> T {
    BARS.suspend(work)
}

pub(crate) fn say_above(line: &str) {
    without_bars(|| eprintln!("{line}"));
}

/// A stage of something long: a bar at a terminal. In a log, or at a terminal that shows no bars (`TERM` is unset or
/// `dumb`), a line at its start, one every few seconds, and one at its end.
pub struct Stage {
    bar: ProgressBar,
    name: String,
    /// Lines are logged until this is dropped.
    lines: Option<Sender<()>>,
}

impl Stage {
    /// A stage of unknown length.
    pub fn spinner(name: impl Into<String>) -> Self {
        let mut stage = Self::spinning(name);
        stage.log();
        stage
    }

    /// A stage of unknown length with other lines in a log, such as a load's: it only logs its beginning and end.
    pub fn heading(name: impl Into<String>) -> Self {
        let stage = Self::spinning(name);
        if stage.bar.is_hidden() {
            eprintln!("  {}", stage.name);
        }
        stage
    }

    fn spinning(name: impl Into<String>) -> Self {
        let stage = Self::begin(ProgressBar::new_spinner(), name.into(), "{spinner:.cyan} {prefix:<26} {msg}");
        stage.bar.enable_steady_tick(Duration::from_millis(120));
        stage
    }

    pub fn steps(name: impl Into<String>, length: usize) -> Self {
        let mut stage = Self::steps_beside(name, length);
        stage.log();
        stage
    }

    /// The same beside another stage. A log has one stage after the other, so there it begins with [`Stage::log`].
    pub(crate) fn steps_beside(name: impl Into<String>, length: usize) -> Self {
        let bar = ProgressBar::new(length as u64);
        Self::begin(bar, name.into(), "  {prefix:<26} {bar:30.cyan/blue} {pos}/{len} {msg}")
    }

    /// Begins to log, unless it has, or is a bar at a terminal.
    pub(crate) fn log(&mut self) {
        if self.bar.is_hidden() && self.lines.is_none() {
            self.lines = Some(write_lines(self.name.clone(), self.bar.clone()));
        }
    }

    fn begin(bar: ProgressBar, name: String, template: &str) -> Self {
        let bar = BARS.add(bar);
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        bar.set_prefix(name.clone());
        Self { bar, name, lines: None }
    }

    pub fn step(&self) {
        self.bar.inc(1);
    }

    pub fn set(&self, done: usize) {
        self.bar.set_position(done as u64);
    }

    pub fn say(&self, message: impl Into<String>) {
        self.bar.set_message(message.into());
    }

    pub fn done(self, result: impl AsRef<str>) {
        let line = format!("✓ {:<26} {} ({:.1} s)", self.name, result.as_ref(), self.bar.elapsed().as_secs_f32());
        self.bar.finish_and_clear();
        say_above(&line);
    }
}

fn write_lines(name: String, bar: ProgressBar) -> Sender<()> {
    eprintln!("  {name}");
    let (lasts, ended) = channel();
    std::thread::spawn(move || {
        while ended.recv_timeout(LINE_EVERY) == Err(RecvTimeoutError::Timeout) {
            let far = bar.length().map(|length| format!("{} of {length}", bar.position()));
            let said = [far.unwrap_or_default(), bar.message()].join(" ");
            eprintln!("  {name:<26} {} ({} s)", said.trim(), bar.elapsed().as_secs());
        }
    });
    lasts
}
