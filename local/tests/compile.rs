//! Compiling a tool shows progress at once if it takes time, and shows nothing if it does not.

use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use local::paths;

/// A fake cargo that prints what a test wants. Dropping it removes it.
struct Cargo(PathBuf);

impl Cargo {
    fn saying(name: &str, script: &str) -> Self {
        let folder = paths::target().join("local");
        std::fs::create_dir_all(&folder).unwrap();
        let program = folder.join(format!("cargo-{name}-{}", std::process::id()));
        std::fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
        Self(program)
    }

    fn command(&self) -> Command {
        let mut command = Command::new(paths::root().join("local/compile.sh"));
        command.args(["Compiling the tools", "build"]).env("CARGO", &self.0).stdin(Stdio::null());
        command
    }

    fn output(&self) -> (Output, String) {
        let output = self.command().output().unwrap();
        let said = String::from_utf8(output.stderr.clone()).unwrap();
        assert_eq!(output.stdout, b"");
        (output, said)
    }
}

impl Drop for Cargo {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
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
    for _ in 0..50 {
        assert!(cargo.output().0.status.success());
    }
    assert!(began.elapsed() < Duration::from_secs(60), "{:?}", began.elapsed());
}

#[test]
fn a_log_has_a_line_within_two_seconds_and_another_every_fifteen() {
    let cargo = Cargo::saying("slow", &format!("{BUILDING}\nsleep 17.5\n{FINISHED}"));
    let began = Instant::now();
    let mut child = cargo.command().stderr(Stdio::piped()).spawn().unwrap();
    let mut stderr = child.stderr.take().unwrap();
    let mut first = [0; 64];
    let length = stderr.read(&mut first).unwrap();
    let waited = began.elapsed();
    assert_eq!(&first[..length], b"Compiling the tools (the first time takes minutes)\n");
    assert!(waited < Duration::from_secs(2), "{waited:?}");
    let mut rest = String::new();
    stderr.read_to_string(&mut rest).unwrap();
    // A busy machine sleeps longer than requested.
    let rest = rest.strip_prefix("Compiling the tools: 3 of 40 (1").expect("a line after 15 s or a little more");
    assert!(rest.ends_with(" s)\n") && rest.lines().count() == 1, "{rest}");
    assert!(child.wait().unwrap().success());
}

#[test]
fn a_cargo_that_says_nothing_is_told_of_if_it_takes_long() {
    let (_, said) = Cargo::saying("looking", &format!("sleep 3\n{FINISHED}")).output();
    assert_eq!(said, "");
    let (_, said) = Cargo::saying("silent", &format!("sleep 6.5\n{FINISHED}")).output();
    assert_eq!(said, "Checking what has to be compiled\n");
}

#[test]
fn a_cargo_that_looks_for_long_compiles_only_once_it_does() {
    // Cargo's progress counts what is compiled already, too.
    let looking = r"printf '    Building [=====> ] 39/40: serde, local   \r' >&2; sleep 6.5";
    let (_, said) = Cargo::saying("looks", &format!("{looking}\n{FINISHED}")).output();
    assert_eq!(said, "Checking what has to be compiled\n");
    let (_, said) = Cargo::saying("begins", &format!("{looking}\n{BUILDING}\nsleep 2.5\n{FINISHED}")).output();
    assert_eq!(said, "Checking what has to be compiled\nCompiling the tools (the first time takes minutes)\n");
}

#[test]
fn a_terminal_shows_progress_and_then_nothing_of_it() {
    let cargo = Cargo::saying("terminal", &format!("{BUILDING}\nsleep 2.5\n{FINISHED}"));
    let mut terminal = Command::new("script");
    let line = format!("{} 'Compiling the tools' build", paths::root().join("local/compile.sh").display());
    terminal.args(["--quiet", "--return", "--command", &line, "/dev/null"]);
    terminal.env("CARGO", &cargo.0).env("TERM", "xterm").stdin(Stdio::null());
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
    let missing = Cargo(PathBuf::from("/no/cargo"));
    let (output, said) = missing.output();
    assert_eq!(
        (output.status.code(), &*said),
        (Some(127), "error: no /no/cargo: install Rust with rustup, or set CARGO\n")
    );
}
