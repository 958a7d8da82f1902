//! The command as people type it, against a server that knows a few answers.

use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use axum::Router;
use axum::http::{StatusCode, Uri};
use serde_json::{Value, json};

/// A server on the loopback that counts what it is asked.
struct Server {
    url: String,
    asked: Arc<AtomicU64>,
    _runtime: tokio::runtime::Runtime,
}

impl Server {
    fn new(answer: fn(&str) -> (u16, &'static str)) -> Self {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let listener = runtime.block_on(tokio::net::TcpListener::bind("127.0.0.1:0")).unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let asked = Arc::new(AtomicU64::new(0));
        let counted = Arc::clone(&asked);
        let router = Router::new().fallback(move |uri: Uri| {
            counted.fetch_add(1, Ordering::Relaxed);
            let (status, body) = answer(uri.path());
            async move { (StatusCode::from_u16(status).unwrap(), body) }
        });
        runtime.spawn(async move { axum::serve(listener, router).await });
        Self { url, asked, _runtime: runtime }
    }
}

/// A folder that goes with the test.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("load-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }

    /// A file with so many users, all of whom have a pass.
    fn tokens(&self, users: usize) -> PathBuf {
        let file = self.0.join("tokens");
        std::fs::write(&file, (0..users).map(|n| format!("token-{n} pass-{n}\n")).collect::<String>()).unwrap();
        file
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn run(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_load"));
    command.args(arguments).env("RUST_BACKTRACE", "1").stdin(Stdio::null());
    for name in ["URL", "SALE", "USERS", "OVER_S", "TOKENS", "TOKEN_COMMAND", "YES_THIS_IS_MINE", "OUT"] {
        command.env_remove(name);
    }
    command.output().unwrap()
}

#[test]
fn what_is_missing_or_refused_is_said_in_one_line() {
    let here = ["--url", "http://127.0.0.1:9"];
    for (arguments, status, says) in [
        (&[][..], 1, "error: URL is missing"),
        (&["--url", "127.0.0.1:9"], 2, "an http:// or https:// address"),
        (&["--url", "https://shop.example.org"], 1, "--yes-this-is-mine"),
        (&here, 1, "error: no tokens: give TOKENS=file"),
        (&[&here[..], &["--tokens", "no-such-file"]].concat(), 1, "error: the tokens in no-such-file"),
        (&[&here[..], &["--token-command", "exit 1 # {user}"]].concat(), 1, "the command for tokens failed"),
        (&[&here[..], &["--users", "1000001"]].concat(), 2, "--users: a whole number from 1 to 1,000,000; got"),
        (&[&here[..], &["--over-s", "3601"]].concat(), 2, "--over-s: a whole number from 0 to 3,600; got"),
    ] {
        let output = run(arguments);
        let said = String::from_utf8(output.stderr).unwrap();
        let shape = (output.status.code(), said.lines().count(), output.stdout.len());
        assert_eq!(shape, (Some(status), 1, 0), "{arguments:?}: {said}");
        assert!(said.contains(says), "{arguments:?}: {said}");
    }
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
    let folder = Folder::new("report");
    let (tokens, out) = (folder.tokens(100), folder.0.join("out"));
    let (tokens, out) = (tokens.to_str().unwrap(), out.to_str().unwrap());
    let run = run(&["--url", &server.url, "--users", "200", "--over-s", "2", "--tokens", tokens, "--out", out]);
    let (printed, said) = (String::from_utf8(run.stdout).unwrap(), String::from_utf8(run.stderr).unwrap());
    assert!(run.status.success(), "{printed}{said}");
    assert!(printed.contains("409 sold_out") && printed.contains("report.html"), "{printed}");
    assert!(said.contains("200 users share 100 tokens"), "{said}");
    assert!(said.lines().any(|line| line.contains("/s ") && line.contains("p99")), "a line each second: {said}");

    let report: Value = serde_json::from_slice(&std::fs::read(folder.0.join("out/report.json")).unwrap()).unwrap();
    let asked = server.asked.load(Ordering::Relaxed);
    let sum = |list: &str, name: &str| -> u64 {
        report[list].as_array().unwrap().iter().map(|each| each[name].as_u64().unwrap()).sum()
    };
    assert_eq!(report["requests"]["sent"], asked, "{:#}", report["requests"]);
    assert_eq!((sum("answers", "count"), sum("seconds", "answered"), sum("seconds", "sent")), (asked, asked, asked));
    assert_eq!(
        (&report["users"], &report["requests"]["errors"], &report["stopped"]),
        (&json!(200), &json!(0), &json!(null))
    );
    // A twentieth misbehaves.
    let honest = report["answers"].as_array().unwrap().iter().find(|each| each["step"] == "reserve").unwrap();
    assert_eq!((&honest["code"], &honest["count"]), (&json!("sold_out"), &json!(190)));
    assert!(std::fs::read_to_string(folder.0.join("out/report.html")).unwrap().contains("<svg"));
}

#[test]
fn a_server_that_fails_is_left_alone() {
    let server = Server::new(|_| (500, r#"{"code": "internal"}"#));
    let folder = Folder::new("errors");
    let (tokens, out) = (folder.tokens(10), folder.0.to_str().unwrap());
    let arguments = ["--url", &server.url, "--users", "100000", "--over-s", "1000", "--curve", "even", "--out", out];
    let run = run(&[&arguments[..], &["--tokens", tokens.to_str().unwrap()]].concat());
    assert_eq!(run.status.code(), Some(1));
    assert!(String::from_utf8(run.stdout).unwrap().contains("stopped early: too many of the answers were errors"));
    let report: Value = serde_json::from_slice(&std::fs::read(folder.0.join("report.json")).unwrap()).unwrap();
    assert_eq!(report["stopped"], "errors");
    assert!(report["users"].as_u64().unwrap() < 10_000, "{}", report["users"]);
}
