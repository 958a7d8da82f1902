//! The command as people type it, against a server with a few prepared answers.

use std::fs::Permissions;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use axum::Router;
use axum::http::{StatusCode, Uri};
use serde_json::{Value, json};
use tempfile::TempDir;

/// A server on the loopback that counts its requests.
struct Server {
    url: String,
    asked: Arc<AtomicU64>,
    _runtime: tokio::runtime::Runtime,
}

impl Server {
    fn new(answer: fn(&str) -> (u16, &'static str)) -> Self {
        Self::that_takes(Duration::ZERO, answer)
    }

    /// A server that answers after this time.
    fn that_takes(time: Duration, answer: fn(&str) -> (u16, &'static str)) -> Self {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let listener = runtime.block_on(tokio::net::TcpListener::bind("127.0.0.1:0")).unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let asked = Arc::new(AtomicU64::new(0));
        let counted = Arc::clone(&asked);
        let router = Router::new().fallback(move |uri: Uri| {
            // The command reads the sale once, before it sends anybody.
            if uri.path() != "/v1/sales/lamp" {
                counted.fetch_add(1, Ordering::Relaxed);
            }
            let (status, body) = answer(uri.path());
            async move {
                tokio::time::sleep(time).await;
                (StatusCode::from_u16(status).unwrap(), body)
            }
        });
        runtime.spawn(async move { axum::serve(listener, router).await });
        Self { url, asked, _runtime: runtime }
    }

    fn asked(&self) -> u64 {
        self.asked.load(Ordering::Relaxed)
    }
}

/// A file in the folder with this many users, all with a pass.
fn tokens(folder: &TempDir, users: usize) -> PathBuf {
    let file = folder.path().join("tokens");
    std::fs::write(&file, (0..users).map(|n| format!("token-{n} pass-{n}\n")).collect::<String>()).unwrap();
    file
}

/// What programs need of the tests' environment. Variables that stand for options may not come from there.
const KEPT: [&str; 4] = ["MUTANT", "MUTANT_HITS", "PATH", "TMPDIR"];

fn program(path: &str) -> Command {
    let mut command = Command::new(path);
    command.env_clear().envs(KEPT.into_iter().filter_map(|name| Some((name, std::env::var_os(name)?))));
    command.env("RUST_BACKTRACE", "1").stdin(Stdio::null());
    command
}

fn load(arguments: &[&str]) -> Command {
    let mut command = program(env!("CARGO_BIN_EXE_load"));
    command.args(arguments);
    command
}

/// A load on a server with tokens of this many users, whose report goes to `out` in the folder.
fn load_on(server: &Server, folder: &TempDir, tokens: usize, arguments: &[&str]) -> Command {
    let mut command = load(arguments);
    command.args(["--url", &server.url, "--tokens"]).arg(self::tokens(folder, tokens));
    command.arg("--out").arg(folder.path().join("out"));
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn report_in(folder: &TempDir) -> Value {
    serde_json::from_slice(&std::fs::read(folder.path().join("out/report.json")).unwrap()).unwrap()
}

/// The status of a program that has ended, its output, and its messages.
fn ended(output: Output) -> (Option<i32>, String, String) {
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

fn sold_out(_: &str) -> (u16, &'static str) {
    (409, r#"{"code": "sold_out"}"#)
}

#[test]
fn what_is_missing_or_refused_is_said_in_one_line_before_tokens_are_made() {
    let folder = tempfile::tempdir().unwrap();
    tokens(&folder, 1);
    // Where a report should be. It is an obstacle for root, too.
    std::fs::create_dir_all(folder.path().join("taken/report.html")).unwrap();
    let here = &["--url", "http://127.0.0.1:9"][..];
    let make = &["--tokens-from", "touch asked; echo a-token"][..];
    for (arguments, status, says) in [
        (&[][..], 1, "error: --url is missing"),
        (&["--url", "127.0.0.1:9"], 2, "an http:// or https:// address"),
        (&[&["--url", "https://shop.example.org"][..], make].concat(), 1, "--yes-this-is-mine"),
        (here, 1, "error: no tokens: give --tokens FILE"),
        (&[here, &["--tokens", "no-such-file"]].concat(), 1, "error: the tokens in no-such-file"),
        (&[here, &["--token-command", "exit 1 # {user}", "--users", "1"]].concat(), 1, "the command for tokens failed"),
        (&[here, &["--tokens-from", "echo 'error: nothing runs' >&2; exit 1"]].concat(), 1, "error: nothing runs"),
        (&[here, make, &["--users", "1000001"]].concat(), 2, "--users: a whole number from 1 to 1,000,000; got"),
        (&[here, make, &["--over-s", "3601"]].concat(), 2, "--over-s: a whole number from 0 to 3,600; got"),
        (&[here, make, &["--curve", "square"]].concat(), 2, "--curve: one of even, rush, ramp"),
        (&[here, make, &["--bad", "2"]].concat(), 2, "--bad: a fraction from 0 to 1"),
        (&[here, make, &["--bad", "NaN"]].concat(), 2, "--bad: a fraction from 0 to 1"),
        (&[here, make, &["--stop-at-errors", "two"]].concat(), 2, "--stop-at-errors: a fraction from 0 to 1"),
        (&[here, make, &["--stop-at-errors", "0"]].concat(), 1, "above 0"),
        (&[here, make, &["--connections", "10001"]].concat(), 2, "--connections: a whole number from 1 to 10,000; got"),
        (&[here, make, &["--sale", "No Sale"]].concat(), 2, "--sale: a sale id is"),
        (&[here, make, &["--out", "tokens/out"]].concat(), 1, "error: no report can be written to tokens/out; choose"),
        (&[here, make, &["--out", "taken"]].concat(), 1, "to taken; choose another folder with --out"),
    ] {
        let (code, printed, said) = ended(load(arguments).current_dir(folder.path()).output().unwrap());
        assert_eq!((code, said.lines().count(), &*printed), (Some(status), 1, ""), "{arguments:?}: {said}");
        assert!(said.contains(says), "{arguments:?}: {said}");
    }
    assert!(!folder.path().join("asked").exists(), "tokens were made");
    assert!(!folder.path().join("taken/report.json").exists(), "the trial left a file behind");
}

#[test]
fn every_request_is_in_the_report() {
    let server = Server::new(|path| {
        if path.contains("/reservations/pass-") {
            (409, r#"{"code": "sold_out"}"#)
        } else {
            (404, r#"{"message": "Not Found"}"#)
        }
    });
    let folder = tempfile::tempdir().unwrap();
    let mut command = load_on(&server, &folder, 100, &["--users", "200", "--over-s", "2"]);
    let (status, printed, said) = ended(command.output().unwrap());
    assert_eq!(status, Some(0), "{printed}{said}");
    assert!(printed.contains("409 sold_out") && printed.contains("report.html"), "{printed}");
    assert!(said.contains("200 users share 100 tokens"), "{said}");
    assert!(said.lines().any(|line| line.contains("/s ") && line.contains("p99")), "a line each second: {said}");

    let report = report_in(&folder);
    assert_eq!(report["requests"]["sent"], server.asked(), "{:#}", report["requests"]);
    assert_eq!(
        (&report["users"], &report["requests"]["errors"], &report["stopped"]),
        (&json!(200), &json!(0), &json!(null))
    );
    // A twentieth misbehaves.
    let honest = report["answers"].as_array().unwrap().iter().find(|each| each["step"] == "reserve").unwrap();
    assert_eq!((&honest["code"], &honest["count"]), (&json!("sold_out"), &json!(190)));
    assert!(std::fs::read_to_string(folder.path().join("out/report.html")).unwrap().contains("<svg"));
}

#[test]
fn a_sale_with_a_line_gets_no_users() {
    let with_line = |path: &str| match path {
        "/v1/sales/lamp" => (200, r#"{ "sale_id": "lamp", "state": "upcoming", "line": { "state": "gathering" } }"#),
        _ => sold_out(path),
    };
    let server = Server::new(with_line);
    let folder = tempfile::tempdir().unwrap();
    let (status, printed, said) = ended(load_on(&server, &folder, 10, &["--users", "10"]).output().unwrap());
    assert_eq!((status, &*printed), (Some(1), ""), "{said}");
    assert_eq!(said, "error: lamp has a line, in which these users cannot wait; choose a sale without one\n");
    assert_eq!(server.asked(), 0);
}

#[test]
fn the_table_is_printed_though_the_report_cannot_be_written() {
    let server = Server::that_takes(Duration::from_millis(500), sold_out);
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let arguments = ["--users", "10", "--bad", "0", "--over-s", "0"];
    let running = load_on(&server, &folder, 10, &arguments).spawn().unwrap();
    until("something is sent", || server.asked() > 0);
    std::fs::remove_dir(&out).unwrap();
    std::fs::write(&out, "").unwrap();
    let (status, printed, said) = ended(running.wait_with_output().unwrap());
    assert_eq!(status, Some(1), "{said}");
    assert!(printed.contains("409 sold_out") && printed.contains("10 requests of 10 users"), "{printed}{said}");
    assert!(said.lines().last().unwrap().starts_with("error: "), "{said}");
    assert!(!printed.contains("report.json"), "{printed}");
}

fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < Duration::from_secs(60), "not within a minute: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_short_run_of_errors_fails_too() {
    let server = Server::new(|_| (400, "{}"));
    let folder = tempfile::tempdir().unwrap();
    let ran = |server: &Server, users: &str| {
        let mut command = load_on(server, &folder, 10, &["--users", users, "--bad", "1", "--over-s", "0"]);
        let (status, printed, _) = ended(command.output().unwrap());
        (status, report_in(&folder)["stopped"].clone(), printed)
    };
    let fails = Server::new(|_| (500, "{}"));
    // Two answers say nothing about a second, but they are all there are.
    for users in ["100", "2"] {
        let (status, stopped, printed) = ran(&fails, users);
        // On a busy machine it lasts longer than a second, and is stopped for the same reason.
        assert!(status == Some(1) && (stopped == "failed" || stopped == "errors"), "{printed}");
        assert!(printed.contains("too many of the answers were errors"), "{printed}");
        assert_eq!(ran(&server, users).0, Some(0));
    }
}

fn kill(running: &Child, signal: &str) {
    assert!(Command::new("kill").args([signal, &running.id().to_string()]).status().unwrap().success());
}

/// A load of a thousand seconds, ended by this signal while answers are outstanding: how it ended, its report, and how
/// often the server was asked.
fn interrupted(signal: &str, answers_after: Duration) -> ((Option<i32>, String, String), Value, u64) {
    let server = Server::that_takes(answers_after, sold_out);
    let folder = tempfile::tempdir().unwrap();
    let arguments = ["--users", "20000", "--over-s", "1000", "--curve", "even", "--bad", "0"];
    let running = load_on(&server, &folder, 10, &arguments).spawn().unwrap();
    until("some are sent", || server.asked() >= 20);
    kill(&running, signal);
    let begun = Instant::now();
    let ended = ended(running.wait_with_output().unwrap());
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
    assert!(folder.path().join("out/report.html").exists(), "no report: {ended:?}");
    (ended, report_in(&folder), server.asked())
}

#[test]
fn who_interrupts_it_gets_a_report_of_what_happened() {
    let interrupt = |signal: &str, status: i32| {
        let ((code, printed, said), report, asked) = interrupted(signal, Duration::from_millis(300));
        assert_eq!(code, Some(status), "{said}");
        assert!(printed.contains("interrupted") && printed.contains("409 sold_out"), "{printed}");
        assert_eq!(report["stopped"], "interrupted");
        let requests = &report["requests"];
        // Requests under way were waited for, and nothing more was sent.
        assert_eq!((&requests["sent"], &requests["unanswered"]), (&json!(asked), &json!(0)), "{requests:#}");
        assert!(report["users"].as_u64().unwrap() < 10_000, "{}", report["users"]);
    };
    std::thread::scope(|both| {
        both.spawn(|| interrupt("-INT", 130));
        both.spawn(|| interrupt("-TERM", 143));
    });
}

#[test]
fn what_waits_for_a_connection_is_not_sent_any_more() {
    let server = Server::that_takes(Duration::from_millis(20), sold_out);
    let folder = tempfile::tempdir().unwrap();
    let arguments = ["--users", "500", "--over-s", "0", "--bad", "0", "--connections", "1"];
    let mut command = load_on(&server, &folder, 10, &arguments);
    let mut running = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    until("some are sent", || server.asked() >= 3);
    let before = server.asked();
    kill(&running, "-INT");
    assert_eq!(running.wait().unwrap().code(), Some(130));
    // One was under way, and others came while the signal was. In the two seconds for answers a hundred would.
    assert!(server.asked() <= before + 80, "{} after {before}", server.asked());
}

#[test]
fn nobody_waits_long_for_answers_that_do_not_come() {
    let ((status, ..), report, _) = interrupted("-INT", Duration::from_secs(3_600));
    assert_eq!(status, Some(130));
    assert!(report["requests"]["unanswered"].as_u64().unwrap() >= 20, "{:#}", report["requests"]);
}

/// `./flash load` takes tokens from `make up`, unless others are given.
#[test]
fn flash_checks_the_arguments_first() {
    let folder = tempfile::tempdir().unwrap();
    // Has `load` itself, and a script in place of `local`.
    let (programs, asked) = (folder.path().join("debug"), folder.path().join("asked"));
    std::fs::create_dir_all(&programs).unwrap();
    symlink(env!("CARGO_BIN_EXE_load"), programs.join("load")).unwrap();
    let noted = asked.display();
    let script = format!("#!/bin/sh\necho $1 $URL $USERS $SALE >> {noted}\nseq $USERS | sed 's/.*/token-& pass-&/'\n");
    std::fs::write(programs.join("local"), script).unwrap();
    std::fs::set_permissions(programs.join("local"), Permissions::from_mode(0o755)).unwrap();
    let flash = |arguments: &[&str]| {
        let mut command = program(concat!(env!("CARGO_MANIFEST_DIR"), "/../../flash"));
        command.args(["load", "--out"]).arg(folder.path().join("out")).args(arguments);
        // Nothing is compiled.
        ended(command.env("CARGO", "true").env("CARGO_TARGET_DIR", folder.path()).output().unwrap())
    };
    let server = Server::new(sold_out);
    let (status, _, said) = flash(&["--url", &server.url, "--bad", "2"]);
    assert!(said.contains("--bad: a fraction from 0 to 1") && said.lines().count() == 1, "{said}");
    assert_ne!(status, Some(0));
    assert!(!asked.exists() && server.asked() == 0, "tokens were made");

    let few = ["--users", "20", "--over-s", "0", "--sale", "chair"];
    let (status, _, said) = flash(&[&["--url", &server.url.replace("127.0.0.1", "[::1]")][..], &few].concat());
    assert!(status == Some(0) && !said.contains("share"), "{said}");
    // The address is the one by which `make up` is known.
    assert_eq!(std::fs::read_to_string(&asked).unwrap(), format!("tokens {} 20 chair\n", server.url));
    std::fs::remove_file(&asked).unwrap();
    let tokens = tokens(&folder, 20);
    let with_tokens = ["--url", &server.url, "--tokens", tokens.to_str().unwrap()];
    assert_eq!(flash(&[&with_tokens[..], &few].concat()).0, Some(0));
    assert!(!asked.exists());
}

/// An API with a gate whose challenges ask for little work, which their ids say.
fn little_work(path: &str) -> (u16, &'static str) {
    match path.rsplit('/').next() {
        Some("challenges") => (201, r#"{"challenge_id": "0000000000008000800000000000000c"}"#),
        Some("tokens") => (201, r#"{"token": "a-pass"}"#),
        _ => sold_out(path),
    }
}

#[test]
fn everybody_without_a_pass_goes_through_the_gate() {
    let server = Server::new(little_work);
    let folder = tempfile::tempdir().unwrap();
    // In the form of `./flash load`: every fiftieth user has no pass.
    let line = |n| if n % 50 == 0 { format!("token-{n}\n") } else { format!("token-{n} pass-{n}\n") };
    let (tokens, out) = (folder.path().join("tokens"), folder.path().join("out"));
    std::fs::write(&tokens, (1..=3_000).map(line).collect::<String>()).unwrap();
    let arguments = ["--url", &server.url, "--users", "3000", "--over-s", "1", "--bad", "0.05"];
    let mut command = load(&arguments);
    let (_, printed, said) = ended(command.arg("--tokens").arg(&tokens).arg("--out").arg(&out).output().unwrap());
    let report = report_in(&folder);
    assert!(said.contains("60 users of 3,000 will go through the gate"), "{said}");
    assert!(printed.contains("60 of 60 users got through the gate"), "{printed}");
    let [came, passed, unfinished] = ["came", "passed", "unfinished"].map(|name| report["gate"][name].as_u64());
    assert_eq!((came, passed, unfinished), (Some(60), Some(60), Some(0)));
    for step in ["challenge", "token"] {
        let sent = report["answers"].as_array().unwrap().iter().filter(|each| each["step"] == step);
        assert_eq!(sent.map(|each| each["count"].as_u64().unwrap()).sum::<u64>(), 60, "{step}");
    }
}
