//! Compiling a tool shows progress at once if it takes time, and shows nothing if it does not.

use std::io::{BufRead, BufReader, Lines};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, Command, Output, Stdio};
use std::time::{Duration, Instant};

use local::paths;
use tempfile::TempDir;

mod common;

/// A fake cargo that prints what a test wants, in a folder of its own.
struct Cargo(TempDir);

/// Shell: waits until the test lets cargo go on for the nth time; a minute at most, in case the test has been killed.
fn wait(nth: u32) -> String {
    format!("n=0; while ! test -e \"$0.{nth}\" && test $n -lt 600; do n=$((n + 1)); sleep 0.1; done")
}

fn write_program(file: &Path, text: &str) {
    std::fs::write(file, text).unwrap();
    std::fs::set_permissions(file, std::fs::Permissions::from_mode(0o755)).unwrap();
}

impl Cargo {
    fn saying(name: &str, script: &str) -> Self {
        let cargo = Self(common::folder(&format!("cargo-{name}")));
        write_program(&cargo.program(), &format!("#!/bin/sh\n{script}\n"));
        cargo
    }

    fn program(&self) -> PathBuf {
        self.0.path().join("cargo")
    }

    fn command(&self) -> Command {
        let mut command = Command::new(paths::root().join("tools/compile.sh"));
        command.args(["Compiling the tools", "build"]).env("CARGO", self.program()).stdin(Stdio::null());
        command
    }

    fn output(&self) -> (Output, String) {
        let output = self.command().output().unwrap();
        let said = String::from_utf8(output.stderr.clone()).unwrap();
        assert_eq!(output.stdout, b"");
        (output, said)
    }

    /// Starts the script with these settings.
    fn start(&self, looks_after_s: u32, line_every_s: u32) -> Started<'_> {
        self.started(self.command(), looks_after_s, line_every_s)
    }

    fn started(&self, mut command: Command, looks_after_s: u32, line_every_s: u32) -> Started<'_> {
        command.env("LOOKS_AFTER_S", looks_after_s.to_string()).env("LINE_EVERY_S", line_every_s.to_string());
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(child.stderr.take().unwrap()).lines();
        Started { cargo: self, child, lines }
    }
}

/// The script, while its cargo waits to be let on.
struct Started<'a> {
    cargo: &'a Cargo,
    child: Child,
    lines: Lines<BufReader<ChildStderr>>,
}

impl Started<'_> {
    fn line(&mut self) -> String {
        self.lines.next().expect("a line").unwrap()
    }

    fn go_on(&self, nth: u32) {
        std::fs::write(self.cargo.0.path().join(format!("cargo.{nth}")), "").unwrap();
    }

    /// What it says until it ends, which must be well.
    fn rest(mut self) -> Vec<String> {
        let rest = self.lines.map(Result::unwrap).collect();
        assert!(self.child.wait().unwrap().success());
        rest
    }
}

const FINISHED: &str = "echo '    Finished `dev` profile [optimized] target(s) in 0.1s' >&2";
/// Progress in cargo's format, between carriage returns.
const BUILDING: &str =
    r"printf '   Compiling serde v1.0.0\n    Building [==>    ] 3/40: serde, aws-sdk-sqs(build)   \r' >&2";

#[test]
fn nothing_to_compile_is_nothing_to_say() {
    let (output, said) = Cargo::saying("fresh", FINISHED).output();
    assert!(output.status.success());
    assert_eq!(said, "");
}

#[test]
fn a_cargo_that_ends_at_once_is_not_waited_for() {
    let cargo = Cargo::saying("instant", ":");
    let began = Instant::now();
    for _ in 0..10 {
        assert!(cargo.output().0.status.success());
    }
    assert!(began.elapsed() < Duration::from_secs(60), "{:?}", began.elapsed());
}

const COMPILES: &str = "Compiling the tools (the first time takes minutes)";
const LOOKS: &str = "Checking what has to be compiled";
const NEVER_S: u32 = 3600;

/// A fake `sleep`: the first ends at gate 1, when cargo has spoken, and the next at gate 2, when the test has heard.
fn stepwise() -> String {
    format!(
        r#"#!/bin/sh
PATH=${{PATH#*:}}
test "$1" = 1 || exit 1
test -e "$0.once" || {{ : >"$0.once"; {}; exit; }}
{}
test -e "$0.2" && exec sleep 1
"#,
        wait(1),
        wait(2)
    )
}

/// The first look after cargo's word must tell of it: the test's own clock would also count what a busy machine takes.
#[test]
fn a_log_has_a_line_within_two_seconds_and_others_from_time_to_time() {
    const EVERY_S: u32 = 2;
    let folder = common::folder("stepwise");
    let sleep = folder.path().join("sleep");
    write_program(&sleep, &stepwise());
    let script = format!("PATH=${{PATH#*:}}\n{BUILDING}\n: >'{}.1'\n{}\n{FINISHED}", sleep.display(), wait(1));
    let cargo = Cargo::saying("slow", &script);
    let mut command = cargo.command();
    command.env("PATH", format!("{}:{}", folder.path().display(), std::env::var("PATH").unwrap()));
    let mut started = cargo.started(command, NEVER_S, EVERY_S);
    assert_eq!(started.line(), COMPILES);
    std::fs::write(folder.path().join("sleep.2"), "").unwrap();
    let mut said_at = 0;
    for _ in 0..2 {
        let line = started.line();
        let seconds = line.strip_prefix("Compiling the tools: 3 of 40 (").and_then(|rest| rest.strip_suffix(" s)"));
        let seconds: u32 = seconds.unwrap_or_else(|| panic!("{line}")).parse().unwrap();
        assert!(seconds >= said_at + EVERY_S, "{seconds} s, after {said_at} s");
        said_at = seconds;
    }
    started.go_on(1);
    // A busy machine may have got as far as the next line.
    let rest = started.rest();
    assert!(rest.len() <= 1, "{rest:?}");
}

#[test]
fn a_cargo_that_says_nothing_is_told_of_if_it_takes_long() {
    let quick = Cargo::saying("looking", &format!("sleep 1.5\n{FINISHED}"));
    assert_eq!(quick.start(NEVER_S, NEVER_S).rest(), [""; 0]);
    let silent = Cargo::saying("silent", &format!("{}\n{FINISHED}", wait(1)));
    let mut started = silent.start(1, NEVER_S);
    assert_eq!(started.line(), LOOKS);
    started.go_on(1);
    assert_eq!(started.rest(), [""; 0]);
}

#[test]
fn a_cargo_that_looks_for_long_compiles_only_once_it_does() {
    // Cargo's progress counts what is compiled already, too.
    let looking = r"printf '    Building [=====> ] 39/40: serde, local   \r' >&2";
    let script = format!("{looking}\n{}\n{BUILDING}\n{}\n{FINISHED}", wait(1), wait(2));
    let cargo = Cargo::saying("looks", &script);
    let mut started = cargo.start(1, NEVER_S);
    assert_eq!(started.line(), LOOKS);
    started.go_on(1);
    assert_eq!(started.line(), COMPILES);
    started.go_on(2);
    assert_eq!(started.rest(), [""; 0]);
}

#[test]
fn a_terminal_shows_progress_and_then_nothing_of_it() {
    let cargo = Cargo::saying("terminal", &format!("{BUILDING}\nsleep 2.5\n{FINISHED}"));
    let mut terminal = Command::new("script");
    let line = format!("{} 'Compiling the tools' build", paths::root().join("tools/compile.sh").display());
    terminal.args(["--quiet", "--return", "--command", &line, "/dev/null"]);
    terminal.env("CARGO", cargo.program()).env("TERM", "xterm").stdin(Stdio::null());
    let output = terminal.output().unwrap();
    let shown = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success());
    assert!(shown.contains("\r\u{1b}[K    Building [==>    ] 3/40: serde"), "{shown:?}");
    assert!(shown.ends_with("\r\u{1b}[K"), "{shown:?}");
    assert!(!shown.contains('\n'), "{shown:?}");
}

#[test]
fn what_the_compiler_says_is_all_that_is_left() {
    let script = format!(
        "{BUILDING}
printf 'error[E0425]: cannot find value `y`\\n --> src/main.rs:1:24\\n  |\\n1 | fn main() {{ y }}\\n' >&2
printf 'error: could not compile\\n\\nCaused by:\\n  no linker\\n' >&2
echo 'what a test printed'
exit 101"
    );
    let (output, said) = Cargo::saying("wrong", &script).output();
    assert_eq!(output.status.code(), Some(101));
    let lines = [
        "what a test printed",
        "error[E0425]: cannot find value `y`",
        " --> src/main.rs:1:24",
        "  |",
        "1 | fn main() { y }",
        "error: could not compile",
        "Caused by:",
        "  no linker",
    ];
    assert_eq!(said.lines().collect::<Vec<_>>(), lines);
}

#[test]
fn without_cargo_one_line_says_so() {
    let missing = Cargo(common::folder("cargo-missing"));
    let (output, said) = missing.output();
    let program = missing.program().display().to_string();
    assert_eq!(said, format!("error: no {program}: install Rust with rustup, or set CARGO\n"));
    assert_eq!(output.status.code(), Some(127));
}
