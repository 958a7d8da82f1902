//! `make test` runs all of its parts, and fails if one does not run.

use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use local::paths;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use tempfile::TempDir;

mod common;

use common::until;

/// Longer than anything takes to end, even on a busy machine.
const A_MINUTE: Duration = Duration::from_secs(60);

/// A long-running part, with a process in its own group that ends with it, like the tests' servers. It is slow to end. Its
/// last process says that it has begun: one that a shell has forked, but that is not yet another program, may lose a signal.
const LONG_PART: &str = r#"
trap 'echo ended >"$TEST_LOGS/ended"; exit 1' TERM
python3 -c 'import os, sys; os.setpgid(0, 0); sys.stdin.read()' <"$TEST_LOGS/pipe" &
exec 3>"$TEST_LOGS/pipe"
python3 -c 'import os, time; open(os.environ["TEST_LOGS"] + "/begun", "w"); time.sleep(600)' 3>&- &
wait
"#;

/// Runs these parts of `make test`, with their logs in `logs`.
fn make_test(parts: &str, logs: &Path) -> Output {
    make(parts, logs).output().unwrap()
}

fn make(parts: &str, logs: &Path) -> Command {
    let more = logs.with_extension("mk");
    std::fs::write(
        &more,
        "ready good good_too:\n\t@echo ran $@\nbad bad_too:\n\t@echo ran $@; exit 3\n\
                killed:\n\t@kill -KILL $$(cut -d ' ' -f 4 /proc/$$PPID/stat)\n\
                part-hangs: export TEST_PART_LIMIT = 1s\nhangs:\n\t@sleep 600\n\
                long:\n\t@sh \"$$LONG_PART\"\n",
    )
    .unwrap();
    let mut make = Command::new("env");
    // A shell cannot trap a signal that was ignored when it started, such as HUP behind `nohup`.
    make.args(["--default-signal", "make", "test"]).args([
        "TEST_READY=ready",
        &format!("TEST_PARTS={parts}"),
        &format!("TEST_LOGS={}", logs.display()),
    ]);
    // These tests may themselves run in `make test`.
    make.current_dir(paths::root()).env("MAKEFILES", &more).env_remove("MAKEFLAGS").env_remove("MAKELEVEL");
    make
}

fn folder(name: &str) -> TempDir {
    let folder = common::folder(&format!("parts-{name}"));
    std::fs::create_dir(folder.path().join("logs")).unwrap();
    folder
}

/// The `sleep 1` of a killed reporter does no harm.
fn processes_of(folder: &Path) -> Vec<(i32, String)> {
    let all = common::processes_of(folder).into_iter();
    all.filter(|(_, command)| command != "sleep 1 ").collect()
}

/// What the reporter was just starting when it was killed may look like the script itself, but not for long.
fn still_there_after(patience: Duration, folder: &Path) -> Vec<(i32, String)> {
    let deadline = Instant::now() + patience;
    loop {
        let left = processes_of(folder);
        if left.is_empty() || Instant::now() > deadline {
            return left;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Runs a command whose part is the long one, sends it a signal, and checks how it ends, with nothing left.
fn is_ended_by(signal: Signal, mut command: Command, folder: &Path, how: &str) {
    let logs = folder.join("logs");
    let script = folder.join("long.sh");
    std::fs::write(&script, LONG_PART).unwrap();
    assert!(Command::new("mkfifo").arg(logs.join("pipe")).status().unwrap().success());
    command.env("LONG_PART", &script).env("TEST_LOGS", &logs).stdin(Stdio::null());
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    until("the part begins", || logs.join("begun").exists().then_some(()));
    kill(Pid::from_raw(i32::try_from(child.id()).unwrap()), signal).unwrap();
    let ended = child.wait().unwrap();
    let left = still_there_after(A_MINUTE, folder);
    // They would run on for minutes after this test.
    for (id, _) in &left {
        let _ = kill(Pid::from_raw(*id), Signal::SIGKILL);
    }
    assert_eq!(left, [], "{signal}");
    assert!(logs.join("ended").exists(), "{signal}: the part was not asked to end");
    assert_eq!(ended.to_string(), how, "{signal}");
}

#[test]
fn a_signal_ends_a_part_and_all_that_it_started() {
    for (signal, how) in [
        (Signal::SIGTERM, "exit status: 143"),
        (Signal::SIGHUP, "exit status: 143"),
        (Signal::SIGINT, "exit status: 130"),
    ] {
        let folder = folder(signal.as_str());
        // As above: HUP behind `nohup`, INT in a shell's background.
        let mut part = Command::new("env");
        part.arg("--default-signal").arg(paths::root().join("tests/part.sh"));
        part.args(["long", "sh"]).arg(folder.path().join("long.sh"));
        is_ended_by(signal, part, folder.path(), how);
    }
}

#[test]
fn a_make_test_that_is_terminated_or_killed_ends_its_parts() {
    for (signal, how) in [(Signal::SIGTERM, "signal: 15 (SIGTERM)"), (Signal::SIGKILL, "signal: 9 (SIGKILL)")] {
        let folder = folder(signal.as_str());
        is_ended_by(signal, make("good long", &folder.path().join("logs")), folder.path(), how);
    }
}

#[test]
fn a_part_that_hangs_is_ended_and_named_and_the_others_go_on() {
    let folder = folder("hanging");
    let Output { status, stdout, .. } = make_test("hangs good", &folder.path().join("logs"));
    let out = String::from_utf8(stdout).unwrap();
    assert!(!status.success() && out.contains("*** FAILED: hangs\n") && out.contains("✓ good ("), "{out}");
    assert_eq!(still_there_after(A_MINUTE, folder.path()), []);
}

#[test]
fn a_second_make_test_in_a_checkout_is_refused_and_touches_nothing() {
    let folder = folder("twice");
    let logs = folder.path().join("logs");
    std::fs::write(logs.join("good.log"), "of the first").unwrap();
    let first = std::fs::File::create(logs.join("lock")).unwrap();
    first.lock().unwrap();
    let Output { status, stderr, .. } = make_test("good", &logs);
    let said = String::from_utf8(stderr).unwrap();
    assert!(!status.success() && said.starts_with("another `make test` is running in this checkout\n"), "{said}");
    assert_eq!(std::fs::read_to_string(logs.join("good.log")).unwrap(), "of the first");
}

#[test]
fn make_test_runs_every_part_and_names_those_that_failed() {
    let folder = folder("all");
    let logs = folder.path().join("logs");
    let Output { status, stdout, stderr } = make_test("bad good bad_too good_too", &logs);
    let (out, err) = (String::from_utf8(stdout).unwrap(), String::from_utf8(stderr).unwrap());
    for part in ["ready", "bad", "good", "bad_too", "good_too"] {
        let log = std::fs::read_to_string(logs.join(format!("{part}.log"))).unwrap();
        assert_eq!(log.lines().next().unwrap(), format!("ran {part}"), "{out} {err}");
        let (sign, is_shown) = if part.starts_with("bad") { ("✗", true) } else { ("✓", false) };
        assert!(out.contains(&format!("{sign} {part} (")), "{out}");
        assert_eq!(out.contains(&format!("ran {part}\n")), is_shown, "{part}: {out}");
    }
    assert!(!status.success());
    for part in ["bad", "bad_too"] {
        assert!(out.contains(&format!("*** FAILED: {part}\n")), "{out}");
    }

    let killed = make_test("good killed", &logs);
    let out = String::from_utf8(killed.stdout).unwrap();
    assert!(!killed.status.success() && out.contains("*** FAILED: killed\n"), "{out}");

    let good = make_test("good good_too", &logs);
    assert!(good.status.success(), "{good:?}");
}
