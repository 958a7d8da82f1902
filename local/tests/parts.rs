//! `make test` as a list of parts: all of them run, and it fails if one did not.

use std::path::Path;
use std::process::{Command, Output};

use local::paths;

/// Runs the parts of `make test` that are given, with their logs in `logs`.
fn make_test(parts: &str, logs: &Path) -> Output {
    let more = logs.with_extension("mk");
    std::fs::write(
        &more,
        "ready good good_too:\n\t@echo ran $@\nbad bad_too:\n\t@echo ran $@; exit 3\n\
                killed:\n\t@kill -KILL $$(cut -d ' ' -f 4 /proc/$$PPID/stat)\n",
    )
    .unwrap();
    let mut make = Command::new("make");
    make.args(["test", "TEST_READY=ready", &format!("TEST_PARTS={parts}"), &format!("TEST_LOGS={}", logs.display())]);
    // Whoever runs these tests may be a `make test` too.
    make.current_dir(paths::root()).env("MAKEFILES", &more).env_remove("MAKEFLAGS").env_remove("MAKELEVEL");
    let made = make.output().unwrap();
    std::fs::remove_file(more).unwrap();
    made
}

#[test]
fn make_test_runs_every_part_and_names_those_that_failed() {
    let folder = paths::target().join("local").join(format!("parts-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let logs = folder.join("logs");
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
    std::fs::remove_dir_all(folder).unwrap();
}
