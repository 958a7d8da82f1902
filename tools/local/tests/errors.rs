//! Every mistake on the command line gets one line that says what is wrong and what to do.

use std::ffi::OsStr;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use axum::http::{Method, StatusCode, Uri};
use axum::{Json, Router};
use local::deployment::Deployment;
use local::identity::new_key;
use local::paths;
use local::process::{Port, ProcessRun, loopback};
use local::server::Server;
use serde_json::{Value, json};
use tempfile::TempDir;

mod common;

/// Words, environment, and the expected line.
type Case = (&'static str, &'static [(&'static str, &'static str)], String);

/// What programs need of the tests' environment: no variables that stand for options, and none of `make`.
const KEPT: [&str; 6] = ["CARGO_TARGET_DIR", "HOME", "MUTANT", "MUTANT_HITS", "PATH", "TMPDIR"];
const NOTHING_RUNS: &str = "nothing is running; start it with `make up`";
const NO_KEYS: &str =
    "KEYS is missing: the pass keys, in the form of their secret: KEYS='{\"signing\":1,\"key1\":\"…\"}'";

struct Home(TempDir);

impl Home {
    fn new(name: &str) -> Self {
        Self(common::folder(&format!("errors-{name}")))
    }

    /// A state with this record of a running system.
    fn with(name: &str, state: &str) -> Self {
        let home = Self::new(name);
        std::fs::write(home.0.path().join("up.json"), state).unwrap();
        home
    }

    /// A state in which a system runs whose API is on `port`.
    fn of_system(name: &str, port: u16) -> Self {
        Self::with(name, &state(port).to_string())
    }

    /// Runs the tool with these words.
    fn local(&self, words: &str, environment: &[(&str, &str)]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_local"));
        command.args(words.split(' '));
        self.run(command, environment)
    }

    /// Runs a program in the checkout.
    fn checkout(&self, program: impl AsRef<OsStr>, arguments: &[&str], cargo: &str) -> Output {
        let mut command = Command::new(program);
        command.args(arguments).current_dir(paths::root());
        self.run(command, &[("CARGO", cargo)])
    }

    fn run(&self, mut command: Command, environment: &[(&str, &str)]) -> Output {
        command.env_clear().envs(KEPT.into_iter().filter_map(|name| Some((name, std::env::var_os(name)?))));
        command.env("LOCAL_STATE", self.0.path()).env("RUST_BACKTRACE", "full").envs(environment.iter().copied());
        command.stdin(Stdio::null()).output().unwrap()
    }

    fn file(&self) -> PathBuf {
        self.0.path().join("up.json")
    }
}

fn flash_path() -> PathBuf {
    paths::root().join("flash")
}

/// Checks that a failure has this exit status, no result, and exactly this line.
#[track_caller]
fn one_line(output: &Output, status: i32, line: &str) {
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(said, format!("error: {line}\n"));
    assert_eq!(String::from_utf8_lossy(&output.stdout), "");
    assert_eq!(output.status.code(), Some(status), "{said}");
}

/// Checks that a failure has only one line, which begins like this, and returns it.
#[track_caller]
fn begins(output: &Output, line: &str) -> String {
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.starts_with(&format!("error: {line}")) && said.lines().count() == 1, "{said}");
    said.into_owned()
}

#[test]
fn what_needs_a_running_system_says_how_to_start_one() {
    let home = Home::new("nothing");
    let commands = "audit, token, pass, redrive orders, watch order, event, buy, crowd, tokens --url http://127.0.0.1:9, \
                    trace lamp.1.0198f0b2a4c57d1e8f00aabbccddeeff";
    for command in commands.split(", ") {
        one_line(&home.local(command, &[]), 1, NOTHING_RUNS);
    }
    let elsewhere = "https://shop.example.org is not this machine; its users are unknown here: give --tokens FILE or \
                     --token-command '… {user}'";
    one_line(&home.local("tokens --url https://shop.example.org", &[]), 1, elsewhere);
}

/// `command_line` has more of such values.
#[test]
fn a_value_that_does_not_fit_is_named_as_it_was_typed() {
    let home = Home::new("values");
    let units = "a whole number from 1 to 10,000; got";
    let kinds = "one of sale, red-packet, prizes, lottery, rain, early-access, line";
    let sale = "a sale id is 1 to 48 of a-z, 0-9 and '-', and starts with a letter or digit; got";
    let id = "a reservation id has the form SALE.ROUND.UUID with the UUID in 32 hexadecimal digits; got";
    let user = "a user id is 1 to 255 printable ASCII characters without spaces, and neither '.' nor '..'; got";
    let which = "which reservation? `./flash trace ID`, with the reservation_id of a 202 or of `GET /v1/orders`";
    let queues = "one of orders, expiry, winners, webhook, quarantine; got";
    let cases: [Case; 14] = [
        ("demo", &[("UNITS", "-1")], format!("UNITS: {units} \"-1\"")),
        ("demo --units 10001", &[("UNITS", "5")], format!("--units: {units} \"10001\"")),
        ("demo", &[("BUYERS", "many")], "BUYERS: a whole number from 1 to 100,000; got \"many\"".into()),
        ("demo", &[("PAYMENT_WINDOW_S", "4")], "PAYMENT_WINDOW_S: a whole number from 5 to 3,600; got \"4\"".into()),
        ("demo", &[("KIND", "nothing")], format!("KIND: {kinds}; got \"nothing\"")),
        ("demo --kind Sale", &[], format!("--kind: {kinds}; got \"Sale\"")),
        ("pass", &[("SALE", "Lamp\nx")], format!("SALE: {sale} \"Lamp\\nx\"")),
        ("audit", &[("SALE", "../..")], format!("SALE: {sale} \"../..\"")),
        ("audit", &[("ROUND", "0")], "ROUND: a round is a whole number from 1 to 4294967295; got \"0\"".into()),
        ("token", &[("USER_ID", "al ice")], format!("USER_ID: {user} \"al ice\"")),
        ("redrive", &[("QUEUE", "nothing")], format!("QUEUE: {queues} \"nothing\"")),
        ("trace", &[("ID", "lamp")], format!("ID: {id} \"lamp\"")),
        ("trace lamp", &[], format!("ID: {id} \"lamp\"")),
        ("trace", &[], which.into()),
    ];
    for (words, environment, line) in cases {
        let status = if words == "trace" && environment.is_empty() { 1 } else { 2 };
        one_line(&home.local(words, environment), status, &line);
    }
}

#[test]
fn an_empty_variable_is_none() {
    let home = Home::new("empty");
    for (command, variable) in
        [("token", "USER_ID"), ("pass", "SALE"), ("audit", "ROUND"), ("event", "SAMPLE"), ("watch", "FUNCTION")]
    {
        one_line(&home.local(command, &[(variable, "")]), 1, NOTHING_RUNS);
    }
    for (command, variable, asks) in [("trace", "ID", "which reservation?"), ("redrive", "QUEUE", "which queue?")] {
        begins(&home.local(command, &[(variable, "")]), asks);
    }
    one_line(&home.local("line-keys", &[("KEYS", "")]), 2, NO_KEYS);
}

#[test]
fn an_empty_state_folder_is_none_and_a_relative_one_is_below_the_current_folder() {
    let home = Home::with("relative", "{");
    let state = home.0.path();
    let (folder, name) = (state.parent().unwrap(), state.file_name().unwrap().to_str().unwrap());
    let run = |told: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_local"));
        command.arg("token").current_dir(if told.is_empty() { state } else { folder });
        home.run(command, &[("LOCAL_STATE", told), ("CARGO_TARGET_DIR", state.join("target").to_str().unwrap())])
    };
    let damaged = format!("{} is damaged; remove it, then `make up`", home.file().display());
    one_line(&run(name), 1, &damaged);
    one_line(&run(""), 1, NOTHING_RUNS);
}

#[test]
fn a_folder_that_takes_no_files_is_named_with_what_to_do() {
    let home = Home::new("unusable");
    // Root may write everywhere except there.
    let folder = "/proc/nothing";
    let does = "make room there, or set LOCAL_STATE to another folder";
    for command in ["up --built", "down", "demo --built"] {
        let output = home.local(command, &[("LOCAL_STATE", folder)]);
        let why = "No such file or directory (os error 2)";
        one_line(&output, 1, &format!("cannot write to {folder}; {does}: {why}"));
    }
    // It must not be called damaged, since its content is unknown.
    std::fs::create_dir(home.file()).unwrap();
    let why = "Is a directory (os error 21)";
    one_line(&home.local("token", &[]), 1, &format!("cannot read {}: {why}", home.file().display()));
}

#[test]
fn a_name_that_is_not_known_is_answered_with_those_that_are() {
    let home = Home::new("names");
    for (words, environment, line) in [
        ("watch", &[("FUNCTION", "nothing")][..], "FUNCTION: one of admin, admission, "),
        ("event", &[("SAMPLE", "payment/nothing")], "no sample \"payment/nothing\"; there are payment/callback\n"),
        ("event nothing", &[], "no sample \"nothing\"; there are admin/allow, "),
    ] {
        begins(&home.local(words, environment), line);
    }
}

#[test]
fn what_is_missing_on_the_machine_is_named_with_how_to_get_it() {
    let home = Home::new("tools");
    let nothing = home.0.path().join("bin");
    std::fs::create_dir_all(&nothing).unwrap();
    let missing = "not installed: python3 (3.11 or later), node (20.19, or 22.12 and later), npm; \
                   apt install python3 python3-venv nodejs npm";
    for command in ["install", "up", "demo"] {
        one_line(&home.local(command, &[("PATH", nothing.to_str().unwrap())]), 1, missing);
    }
    let some = nothing.join("python3");
    std::os::unix::fs::symlink("/bin/true", some).unwrap();
    let missing = "not installed: node (20.19, or 22.12 and later), npm; apt install nodejs npm";
    one_line(&home.local("install", &[("PATH", nothing.to_str().unwrap())]), 1, missing);
}

/// The record of a running system whose API and AWS are on `port`: this test is its supervisor.
fn state(port: u16) -> Value {
    let url = loopback(port);
    let deployment = Deployment { endpoint: url.clone(), api_url: url, ..Deployment::default() };
    json!({
        "supervisor": ProcessRun::of(i32::try_from(std::process::id()).unwrap()),
        "ports": { "valkey": port, "emulator": port, "gateway": port, "web": port },
        "issuer_key_pem": new_key().unwrap(),
        "deployment": deployment,
    })
}

#[test]
fn a_system_that_cannot_be_asked_is_told_of() {
    let port = Port::free().unwrap();
    let (mut starting, mut killed) = (state(port.number()), state(port.number()));
    starting["deployment"] = Value::Null;
    killed["supervisor"]["started"] = json!(killed["supervisor"]["started"].as_u64().unwrap() - 1);
    let damaged = " is damaged; remove it, then `make up`";
    for (name, record, line) in [
        ("cut", "{\"supervisor\":", damaged),
        ("bare", "{}", damaged),
        ("other", "\u{0}", damaged),
        ("killed", &killed.to_string(), "what `make up` started was killed; start it again with `make up`"),
        ("starting", &starting.to_string(), "`make up` is still starting it; try again when it is done"),
    ] {
        let home = Home::with(name, record);
        let file = if line == damaged { home.file().display().to_string() } else { String::new() };
        for command in ["token", "audit", "pass", "redrive orders", "watch", "event"] {
            one_line(&home.local(command, &[]), 1, &format!("{file}{line}"));
        }
        if line == damaged {
            one_line(&home.local("down", &[]), 1, &format!("{file}{line}"));
        }
    }
}

#[test]
fn a_second_watch_is_refused() {
    let port = Port::free().unwrap();
    let home = Home::of_system("watched", port.number());
    // If another program has it already, that is as good.
    let _taken = std::net::TcpListener::bind(("127.0.0.1", 9000));
    let line = "port 9000 is taken; stop the other `./flash watch` or whatever else uses it";
    one_line(&home.local("watch", &[("CARGO", "true")]), 1, line);
}

#[test]
fn an_api_that_does_not_answer_is_named() {
    let reserved = Port::free().unwrap();
    let port = reserved.number();
    let home = Home::of_system("silent", port);
    for command in ["audit", "redrive orders", "pass"] {
        let line = format!("http://127.0.0.1:{port} does not answer; restart it with `make down` and `make up`");
        one_line(&home.local(command, &[]), 1, &line);
    }
}

/// An API with the sale `lamp` in round 2, and `mug`, which is over. From its sale `later` nobody can buy yet, `held` is
/// paused, and `queue` has a line.
fn api() -> u16 {
    let server = Server::http(Router::new().fallback(answer));
    let port = server.address().port();
    server.keep();
    port
}

async fn answer(method: Method, uri: Uri) -> (StatusCode, Json<Value>) {
    let [lamp, mug] = ["lamp", "mug"].map(|sale| json!({ "sale_id": sale, "round": 2 }));
    let segments: Vec<&str> = uri.path().split('/').skip(1).collect();
    let found = match (method.as_str(), &segments[..]) {
        ("GET", ["v1", "admin", "sales"]) if uri.query() == Some("state=ended") => json!({ "sales": [mug, lamp] }),
        ("GET", ["v1", "admin", "sales"]) => json!({ "sales": [lamp, { "sale_id": "chair", "round": 1 }] }),
        ("GET", ["v1", "admin", "sales", "lamp"]) => lamp,
        ("GET", ["v1", "admin", "sales", "mug"]) => mug,
        ("GET", ["v1", "admin", "sales", _, "rounds", _, "orders"]) | ("POST", ["v1", "admin", "redrive", _]) => {
            let busy = json!({ "code": "overloaded", "title": "Too busy; try again" });
            return (StatusCode::SERVICE_UNAVAILABLE, Json(busy));
        }
        ("GET", ["v1", "sales"]) => json!({ "sales": [page("lamp", "open"), page("mug", "closed")] }),
        ("GET", ["v1", "sales", "lamp"]) => page("lamp", "open"),
        ("GET", ["v1", "sales", "mug"]) => page("mug", "closed"),
        ("GET", ["v1", "sales", "held"]) => page("held", "paused"),
        ("GET", ["v1", "sales", "later"]) => page("later", "upcoming"),
        ("GET", ["v1", "sales", "queue"]) => {
            let mut queue = page("queue", "open");
            queue["line"] = json!({ "tickets_from": "2020-01-01T00:00:00Z" });
            queue
        }
        _ => return (StatusCode::NOT_FOUND, Json(json!({ "code": "unknown_sale", "title": "No such sale" }))),
    };
    (StatusCode::OK, Json(found))
}

fn page(sale: &str, state: &str) -> Value {
    json!({ "sale_id": sale, "round": 1, "state": state, "opens_at": "2999-01-01T00:00:00Z", "price_minor": 990 })
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sale_or_round_that_there_is_not_or_that_nobody_can_buy_is_told_of_in_the_same_words() {
    let port = api();
    let (home, url) = (Home::of_system("sales", port), loopback(port));
    let says = |words: &str, environment: &[(&str, &str)], line: &str| {
        one_line(&home.local(words, environment), 1, line);
    };
    for command in ["audit", "pass"] {
        says(command, &[("ROUND", "3")], "no round 3 of lamp; it is in round 2");
        says(&format!("{command} --sale mug --round 7"), &[], "no round 7 of mug; it is in round 2");
    }
    says("redrive orders", &[], "the API refused: Too busy; try again (overloaded)");

    let none = "there is no sale \"nothing\"; there are chair, lamp, mug (closed)";
    for command in ["audit", "pass", "export", "buy", "crowd", "check-draw", "check-line"] {
        says(command, &[("SALE", "nothing")], none);
    }
    says("tokens", &[("SALE", "nothing"), ("URL", &url)], none);
    // Elsewhere nobody is an operator.
    let none = "there is no sale \"nothing\"; there are lamp, mug (closed)";
    for command in ["check-draw", "check-line"] {
        says(command, &[("SALE", "nothing"), ("URL", &url)], none);
    }
    says("check-line", &[], "lamp has no line; --sale names another sale");
    says("check-draw", &[("SALE", "lamp")], "there is no draw in round 1 of lamp");

    let paused = format!("held is paused or stopped, or waits for its beacon; see {url}/operators.html#/sales/held");
    says("buy", &[("SALE", "held")], &paused);
    let line = "queue has a line, in which";
    let buy = format!("{line} `./flash buy` cannot wait; buy on the shop's page, {url}");
    says("buy", &[("SALE", "queue")], &buy);
    let crowd = format!("{line} this crowd cannot wait; `./flash demo --kind line` sends one that can");
    says("crowd", &[("SALE", "queue")], &crowd);
    let load = format!("{line} these users cannot wait; `./flash demo --kind line` sends a crowd that can");
    says("tokens", &[("SALE", "queue"), ("URL", &url)], &load);
    for command in ["buy", "crowd"] {
        says(command, &[("SALE", "mug")], "mug is over");
        let later = home.local(command, &[("SALE", "later")]);
        let said = begins(&later, "later opens at 2999-01-01T00:00:00Z, in ");
        assert!(said.contains(" h ") && said.ends_with("; try again then\n"), "{said}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_export_that_fails_names_the_file_and_leaves_nothing() {
    let home = Home::of_system("export", api());
    let there = |name: &str| home.0.path().join(name).display().to_string();
    let fails = |out: &str, line: &str| {
        let output = home.local("export", &[("OUT", out)]);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(said.lines().last(), Some(&*format!("error: {line}")), "{said}");
        assert_eq!(output.status.code(), Some(1));
        let left: Vec<_> = std::fs::read_dir(home.0.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(left, ["up.json"], "{out}");
    };
    let (folder, nowhere) = (there("nothing"), there("nothing/lamp.csv"));
    fails(&nowhere, &format!("cannot write {nowhere}: there is no folder {folder}"));
    let file = there("lamp.csv");
    fails(&file, &format!("{file} was not written: the API refused: Too busy; try again (overloaded)"));
    fails(&there(""), &format!("{} is a folder", there("")));
}

/// Without an argument, with one that is wrong, with one of two words, and without one that is needed.
#[test]
fn flash_and_make_add_nothing_to_it() {
    let home = Home::new("flash");
    // The tool is compiled; compiling it again with other features would replace it while other tests use it.
    let flash = |arguments: &[&str]| home.checkout(flash_path(), arguments, "true");
    one_line(&flash(&["token"]), 1, NOTHING_RUNS);
    let queues = "QUEUE: one of orders, expiry, winners, webhook, quarantine; got \"x y\"";
    one_line(&flash(&["redrive", "x y"]), 2, queues);
    let which = "which reservation? `./flash trace ID`, with the reservation_id of a 202 or of `GET /v1/orders`";
    one_line(&flash(&["trace"]), 1, which);
    one_line(&flash(&["sell", "--all"]), 2, "no command \"sell\"; ./flash lists them");
    let without_cargo = home.checkout(flash_path(), &["token"], "/no/cargo");
    one_line(&without_cargo, 127, "no /no/cargo: install Rust with rustup, or set CARGO");
    let mut made = home.checkout("make", &["--silent", "demo", "UNITS=-1"], "true");
    let said = String::from_utf8(std::mem::take(&mut made.stderr)).unwrap();
    // It adds a line of its own.
    let (of_make, of_tool): (Vec<&str>, Vec<&str>) = said.lines().partition(|line| line.starts_with("make: ***"));
    assert_eq!(of_make.len(), 1, "{said}");
    made.stderr = format!("{}\n", of_tool.join("\n")).into();
    one_line(&made, 2, "UNITS: a whole number from 1 to 10,000; got \"-1\"");
}

/// `make` has parentheses of its own, which once left one too many in the filter of tests.
#[test]
fn make_check_names_the_tests_of_a_crate() {
    let home = Home::new("check");
    for (test, filter) in [("TEST=", ""), ("TEST=outages::", " | test(outages::)")] {
        let said = home.checkout("make", &["--dry-run", "--silent", "check", "CRATE=reservation", test], "true");
        let said = String::from_utf8(said.stdout).unwrap();
        let expected = format!("'rdeps(reservation) - binary_id(/system/){filter}'\n");
        assert!(said.ends_with(&expected), "{said}");
    }
}

/// It reads the source, so that nobody has to wait for the compiler to see the list.
#[test]
fn flash_lists_every_command_in_the_same_words() {
    let home = Home::new("listed");
    let text = |output: Output| String::from_utf8(output.stdout).unwrap();
    let listed = text(home.checkout(flash_path(), &[], "true"));
    let help = text(home.local("--help", &[]));
    let commands = help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    let ours: Vec<&str> = commands.filter(|line| !line.trim().starts_with("help ")).collect();
    assert!(ours.len() > 15, "{help}");
    for line in ours {
        assert!(listed.lines().any(|each| each.split_whitespace().eq(line.split_whitespace())), "{line}: {listed}");
    }
    for hidden in ["supervise", "lend", "serve"] {
        assert!(!listed.contains(&format!("  {hidden} ")), "{listed}");
    }
}
