//! A signal that a program inherited as ignored does not end it.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use command_line::Signals;

/// Not a test of its own: the program that the test below starts.
#[tokio::test]
async fn program() {
    if std::env::var_os("AS_PROGRAM").is_some() {
        let mut signals = Signals::listen().unwrap();
        println!("\nlistens");
        println!("\nended by {}", signals.next().await);
    }
}

/// What ends the program, if it gets HUP and then TERM.
fn ended_by(env: &str) -> String {
    let mut program = Command::new("env");
    program.arg(env).arg(std::env::current_exe().unwrap()).args(["--exact", "program", "--nocapture"]);
    let mut child = program.env("AS_PROGRAM", "1").stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    assert!(lines.any(|line| line == "listens"));
    for signal in ["-HUP", "-TERM"] {
        // It may have ended by the first.
        let _ = Command::new("kill").args([signal, &child.id().to_string()]).stderr(Stdio::null()).status().unwrap();
    }
    let ended = lines.find(|line| line.starts_with("ended by ")).unwrap();
    assert!(child.wait().unwrap().success());
    ended
}

#[test]
fn a_program_behind_nohup_goes_on_when_its_terminal_closes() {
    assert_eq!(ended_by("--ignore-signal=HUP"), "ended by 143");
    assert_eq!(ended_by("--default-signal=HUP"), "ended by 129");
}
