//! Runs the commands that people type, from the built programs. Run `make build` first.

use std::net::TcpListener;
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::sync::Arc;
use std::time::Duration;

use load::users::{Credentials, Crowd};
use load::{Curve, Plan, ProgressLine, visits};
use local::client::{Answer, Client};
use local::paths;
use local::process::{ProcessRun, accepts};
use nix::sys::signal::{Signal, kill};
use nix::unistd::{Pid, getpgid};
use sale::{RoundId, RoundNumber};
use serde_json::{Value, json};
use tempfile::TempDir;

mod common;

use common::{until, until_async};

/// A separate state for the commands. Dropping it ends what was started in it, also when the test fails.
struct Home(TempDir);

impl Home {
    fn new(name: &str) -> Self {
        Self(common::folder(&format!("commands-{name}")))
    }

    /// A state that says what runs: a supervisor, and an emulator on a port, as Valkey is.
    fn with(name: &str, supervisor: &Value, [valkey, emulator]: [u16; 2]) -> Self {
        let home = Self::new(name);
        let state = json!({
            "supervisor": supervisor,
            "ports": { "valkey": valkey, "emulator": emulator, "gateway": 1, "web": 1 },
            "issuer_key_pem": "",
            "deployment": null,
        });
        std::fs::write(home.0.path().join("up.json"), state.to_string()).unwrap();
        home
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_local"));
        command.args(arguments).env("LOCAL_STATE", self.0.path()).env("RUST_BACKTRACE", "1").stdin(Stdio::null());
        // What the test started ends with it, also if the runner kills it.
        command.env("LIVES_WITH", std::process::id().to_string());
        command
    }

    fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    /// The output of a command that must succeed: its result, and its other messages.
    fn good(&self, arguments: &[&str]) -> (String, String) {
        let Output { status, stdout, stderr } = self.run(arguments);
        let (out, err) = (String::from_utf8(stdout).unwrap(), String::from_utf8(stderr).unwrap());
        assert!(status.success(), "{arguments:?}: {status}\n{out}{err}");
        (out, err)
    }

    fn up(&self) -> Value {
        self.good(&["up", "--built"]);
        self.state().expect("it runs")
    }

    fn state(&self) -> Option<Value> {
        serde_json::from_str(&std::fs::read_to_string(self.0.path().join("up.json")).ok()?).ok()
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        let _ = self.run(&["down"]);
        self.0.disable_cleanup(std::thread::panicking());
    }
}

fn port(state: &Value, name: &str) -> u16 {
    state["ports"][name].as_u64().unwrap() as u16
}

fn processes_of(home: &Home) -> Vec<String> {
    let running = common::processes_of(home.0.path()).into_iter().filter(|(id, _)| ProcessRun::of(*id).is_some());
    running.map(|(_, command)| command).collect()
}

/// Ports say nothing: another program may have got them since.
fn nothing_is_left(home: &Home) {
    until("every process ends", || processes_of(home).is_empty().then_some(()));
}

#[test]
fn a_system_ends_with_the_process_that_it_lives_with() {
    let home = Home::new("lives-with");
    // Ends with this test, whose end of the pipe then closes.
    let mut companion = Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    let (up, state) = starting(&home, companion.id());
    let supervisor: ProcessRun = serde_json::from_value(state["supervisor"].clone()).unwrap();
    assert!(supervisor.is_running());
    companion.kill().unwrap();
    companion.wait().unwrap();
    // Before the end of its `up`, which would end it, too.
    until("the supervisor ends", || (!supervisor.is_running()).then_some(()));
    drop(up);
    nothing_is_left(&home);
}

fn valkey_process(state: &Value) -> i32 {
    let asked = redis(state, "INFO").unwrap();
    let asked: String = redis::from_redis_value(asked).unwrap();
    asked.lines().find_map(|line| line.strip_prefix("process_id:")).unwrap().trim().parse().unwrap()
}

fn redis(state: &Value, command: &str) -> Option<redis::Value> {
    let client = redis::Client::open(format!("redis://127.0.0.1:{}", port(state, "valkey"))).unwrap();
    redis::cmd(command).query(&mut client.get_connection().ok()?).ok()
}

#[tokio::test]
async fn a_system_from_up_to_down() {
    let home = Home::new("up");
    let state = home.up();
    let (said, besides) = home.good(&["up", "--built"]);
    assert!(said.contains("Shop") && besides.contains("already running"), "{said}{besides}");
    assert_eq!(home.state().unwrap(), state, "a second `up` starts nothing");

    let client = Client::new(state["deployment"]["ApiUrl"].as_str().unwrap()).unwrap();
    let (token, pass) = (home.good(&["token"]).0, home.good(&["pass"]).0);
    let Answer::Reserved(id) = client.reserve(token.trim(), "lamp", pass.trim(), "once").await else {
        panic!("no unit for the only buyer")
    };
    assert!(token.ends_with('\n') && token.lines().count() == 1 && pass.ends_with('\n') && pass.lines().count() == 1);
    // The function behind the queue runs a little later, and its log appears later still.
    let traced = until("the order function speaks of the reservation", || {
        // The emulator reads a function's output for 50 ms after its answer. Later output waits for the next
        // invocation, and the only buyer's was the last one.
        invoke(&state, "order", &["--data-ascii", r#"{"Records":[]}"#]);
        let Output { stdout, .. } = home.run(&["trace", &id]);
        let traced = String::from_utf8(stdout).unwrap();
        (traced.contains("reservation") && traced.contains(" order ")).then_some(traced)
    });
    assert!(traced.lines().count() >= 2, "{traced}");

    // As ElastiCache replaces a node: another one, empty, at the same address.
    let (died, was) = (valkey_process(&state), redis(&state, "DBSIZE"));
    assert_ne!(was, Some(redis::Value::Int(0)), "Redis has keys");
    // Its keeper, which leads its group: a process without its keeper is not left behind.
    kill(getpgid(Some(Pid::from_raw(died))).unwrap(), Signal::SIGKILL).unwrap();
    until("Valkey dies", || ProcessRun::of(died).is_none().then_some(()));
    until("another Valkey answers", || redis(&state, "PING"));
    assert_ne!(valkey_process(&state), died);
    let log = || std::fs::read_to_string(home.0.path().join("up-supervisor.log")).unwrap();
    let said = until("the log tells", || log().contains("died").then(log));
    assert_eq!(said.lines().filter(|line| line.contains("died")).count(), 1, "{said}");
    // The schedules load the round again and find the order in the ledger.
    until("the system heals", || {
        let audit = home.run(&["audit", "--json"]);
        let audit: Value = serde_json::from_slice(&audit.stdout).ok()?;
        (audit["clean"] == true && audit["in_redis"] == true && audit["ordered"] == 1).then_some(())
    });

    until_async("the buyer cancels", async || client.cancel(token.trim(), &id).await.ok()?.then_some(())).await;
    until("the trace has the cancellation", || {
        let Output { stdout, .. } = home.run(&["trace", &id]);
        String::from_utf8(stdout).unwrap().lines().any(|line| line.contains(" cancelled ")).then_some(())
    });

    samples_are_events_that_deployed_functions_take(&home, &state);

    let (_, said) = home.good(&["down"]);
    assert!(said.contains("stopped Valkey, the emulator and the page"), "{said}");
    nothing_is_left(&home);
    assert!(home.good(&["down"]).1.contains("nothing is running"));
}

/// Invokes a function as docs/local.md says, with the emulator in the place of `cargo lambda watch`.
fn invoke(state: &Value, function: &str, data: &[&str]) -> Value {
    let mut command = Command::new(paths::venv_program("cargo-lambda"));
    command.args(["lambda", "invoke", &format!("flash-sale-{function}"), "--invoke-address", "127.0.0.1"]);
    command.arg("--invoke-port").arg(port(state, "emulator").to_string()).args(data);
    let Output { status, stdout, stderr } = command.output().unwrap();
    assert!(status.success(), "{function} {data:?}: {}", String::from_utf8_lossy(&stderr));
    serde_json::from_slice(&stdout).unwrap_or_else(|_| panic!("{function}: {}", String::from_utf8_lossy(&stdout)))
}

/// One sample of each kind of event, and those that `event` makes good for this moment; with the expected status, or
/// number of failures. `tests/system/samples.rs` gives every sample to its function.
const SAMPLES: [(&str, u16); 10] = [
    ("admission/challenge", 201),
    ("admission/token", 201),
    ("reservation/reserve", 202),
    ("reservation/poll", 200),
    ("order/one", 0),
    ("payment/callback", 200),
    ("websocket/connect", 200),
    ("emitter/placed", 0),
    ("warmup/tick", 0),
    ("admin/close", 200),
];

fn samples_are_events_that_deployed_functions_take(home: &Home, state: &Value) {
    for (sample, expected) in SAMPLES {
        let (event, _) = home.good(&["event", sample]);
        let file = home.0.path().join("event.json");
        std::fs::write(&file, event).unwrap();
        let answer = invoke(state, sample.split('/').next().unwrap(), &["--data-file", file.to_str().unwrap()]);
        let found = if let Some(failures) = answer["batchItemFailures"].as_array() {
            json!(failures.len())
        } else if answer["statusCode"].is_null() {
            answer["failed"].clone()
        } else {
            answer["statusCode"].clone()
        };
        assert_eq!(found, json!(expected), "{sample}: {answer}");
    }
}

/// A process that is killed when the test ends, if not before.
struct Killed(Child);

impl Drop for Killed {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// An `up` that has got as far as Valkey and the emulator, for a system that lives with this process.
fn starting(home: &Home, lives_with: u32) -> (Killed, Value) {
    let mut command = home.command(&["up", "--built"]);
    command.env("LIVES_WITH", lives_with.to_string());
    let child = Killed(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap());
    let state = until("Valkey and the emulator answer", || {
        let state = home.state()?;
        ["valkey", "emulator"].into_iter().all(|name| accepts(port(&state, name))).then_some(state)
    });
    (child, state)
}

#[test]
fn an_up_that_is_killed_leaves_nothing() {
    let home = Home::new("killed");
    let (up, state) = starting(&home, std::process::id());
    // Its port is bound from the start: meanwhile another program could take it.
    for name in ["gateway", "web"] {
        assert!(TcpListener::bind(("127.0.0.1", port(&state, name))).is_err(), "the port of {name} is free");
    }
    drop(up);
    nothing_is_left(&home);
    let (_, said) = home.good(&["down"]);
    assert!(said.contains("was no longer running"), "{said}");
}

fn emulator_folders(home: &Home) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(home.0.path()).unwrap().flatten().map(|entry| entry.path());
    entries.filter(|path| path.file_name().unwrap().to_str().unwrap().starts_with("emulator-")).collect()
}

fn is_interrupted_while_it_deploys(arguments: &[&str]) {
    let home = Home::new(&format!("interrupted-{}", arguments[0]));
    let mut command = home.command(arguments);
    let mut child = Killed(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap());
    until("the CDK app is deployed", || {
        let begun = |folder: &PathBuf| folder.join("cdk.out").exists();
        emulator_folders(&home).iter().any(begun).then_some(())
    });
    kill(Pid::from_raw(i32::try_from(child.0.id()).unwrap()), Signal::SIGTERM).unwrap();
    let ended = child.0.wait().unwrap();
    assert_eq!(ended.code(), Some(143), "{arguments:?}");
    assert_eq!(processes_of(&home), Vec::<String>::new(), "{arguments:?}");
    assert_eq!(emulator_folders(&home), Vec::<PathBuf>::new(), "{arguments:?}");
}

#[test]
fn what_is_interrupted_while_it_deploys_leaves_nothing() {
    std::thread::scope(|both| {
        both.spawn(|| is_interrupted_while_it_deploys(&["up", "--built"]));
        is_interrupted_while_it_deploys(&["demo", "--built", "--units", "5", "--buyers", "20"]);
    });
}

/// The process with this id, or one that had the same id before.
fn run_of(id: u32, is_still_that: bool) -> Value {
    let mut told = serde_json::to_value(ProcessRun::of(i32::try_from(id).unwrap()).unwrap()).unwrap();
    told["started"] = json!(told["started"].as_u64().unwrap() - u64::from(!is_still_that));
    told
}

/// A port on which somebody answers for the rest of the test.
fn port_of_somebody() -> u16 {
    let somebody = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = somebody.local_addr().unwrap().port();
    // If it did not accept connections, it would stop answering when its backlog is full.
    std::thread::spawn(move || somebody.incoming().for_each(drop));
    port
}

#[test]
fn a_down_does_not_mind_who_has_a_port_now() {
    let supervisor = Killed(Command::new("sleep").arg("600").spawn().unwrap());
    let home = Home::with("port", &run_of(supervisor.0.id(), true), [port_of_somebody(); 2]);
    let (_, said) = home.good(&["down"]);
    assert!(said.contains("stopped Valkey, the emulator and the page"), "{said}");
}

#[test]
fn a_down_names_what_still_answers() {
    let port = port_of_somebody();
    // The recorded id is now this test's own, which a signal would end.
    let home = Home::with("answers", &run_of(std::process::id(), false), [1, port]);
    let Output { status, stderr, .. } = home.run(&["down"]);
    let said = String::from_utf8(stderr).unwrap();
    assert_eq!((status.code(), said.lines().count()), (Some(1), 1), "{said}");
    assert!(said.starts_with(&format!("error: port {port} of the emulator still answers")), "{said}");
    assert!(home.good(&["down"]).1.contains("nothing is running"), "it is told once");
}

#[test]
fn a_demo_accounts_for_every_unit() {
    let home = Home::new("demo");
    let arguments = ["demo", "--built", "--units", "5", "--buyers", "20", "--payment-window-s", "5", "--json"];
    let (report, said) = home.good(&arguments);
    let line_of = |what: &str| said.lines().position(|line| line.contains(what)).unwrap_or_else(|| panic!("{said}"));
    assert!(line_of("Waiting for the opening") < line_of("  The rush"), "{said}");
    assert!(line_of("✓ The rush") < line_of("Payments"), "one stage after the other: {said}");
    let report: Value = serde_json::from_str(&report).unwrap();
    let numbers = report.to_string();
    for name in ["oversold", "lost", "duplicated"] {
        assert!(numbers.contains(&format!("\"{name}\":0")), "{name}: {report}");
    }
    until("every process ends", || processes_of(&home).is_empty().then_some(()));
}

#[test]
fn a_demo_of_prizes_counts_each_once() {
    let home = Home::new("demo-prizes");
    // More tickets than people, so not all are taken.
    let (report, _) = home.good(&["demo", "--built", "--kind", "prizes", "--units", "40", "--buyers", "20", "--json"]);
    let report: Value = serde_json::from_str(&report).unwrap();
    let prizes = report["prizes"].as_array().unwrap();
    assert_eq!(prizes.iter().map(|prize| prize["count"].as_u64().unwrap()).collect::<Vec<_>>(), [1, 2, 4], "{report}");
    for counted in prizes.iter().chain([&report["blanks"]]) {
        let number = |name: &str| counted[name].as_u64().unwrap_or_else(|| panic!("{name}: {report}"));
        assert_eq!(number("won") + number("unclaimed"), number("count"), "{report}");
    }
    assert_eq!((&report["granted"], &report["wrong_awards"], &report["fits"]), (&json!(20), &json!(0), &json!(true)));
}

/// The audit of a sale, once no reservation is under way.
fn clean_audit(home: &Home, sale: &str) -> Value {
    until("the audit is clean", || {
        let audit = home.run(&["audit", "--sale", sale, "--json"]);
        let audit: Value = serde_json::from_slice(&audit.stdout).ok()?;
        (audit["clean"] == true && audit["held"] == 0).then_some(audit)
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn people_and_crowds_buy_and_every_unit_is_accounted_for() {
    let home = Home::new("crowd");
    let state = home.up();
    let url = state["deployment"]["ApiUrl"].as_str().unwrap();
    let client = Client::new(url).unwrap();
    let shown = async |sale| client.sale(sale).await.unwrap();
    assert_eq!(shown("lamp").await["state"], "open");
    assert_eq!(shown("chair").await["state"], "upcoming");
    let kettle = until_async("the kettle is nearly sold out", async || {
        let kettle = shown("kettle").await;
        (kettle["availability"] == "few_left").then_some(kettle)
    });
    assert_eq!(kettle.await["state"], "open");

    let (opened, _) = home.good(&["buy", "--user", "bob", "--sale", "packet"]);
    assert!(
        opened.contains("5. GET") && opened.contains("Nobody pays in this sale") && !opened.contains("6. POST"),
        "{opened}"
    );
    let (said, _) = home.good(&["crowd", "--sale", "packet", "--buyers", "5", "--over-s", "1"]);
    assert!(said.contains(" 5  got it, with nothing to pay\n"), "{said}");
    assert_eq!(clean_audit(&home, "packet")["ordered"], 1 + 5);
    let (said, _) = home.good(&["buy", "--user", "bob", "--sale", "lantern"]);
    assert!(said.contains("The order is paid."), "{said}");
    let lantern = shown("lantern").await;
    assert_eq!((&lantern["rain"]["units"], lantern["next_release_at"].is_string()), (&json!(600), true), "{lantern}");

    // Its seed is public a minute after the end; until then lamps are sold.
    let operator = client.clone().of_operator(home.good(&["token", "--user", "olga", "--operator"]).0.trim()).unwrap();
    let packet = RoundId { sale: "packet".parse().unwrap(), number: RoundNumber(1) };
    operator.update(&packet, "close", json!({})).await.unwrap();
    let too_early = String::from_utf8(home.run(&["check-draw"]).stderr).unwrap();
    assert!(too_early.starts_with("error: ") && too_early.lines().count() == 1, "{too_early}");

    let (said, _) = home.good(&["buy", "--user", "bob"]);
    assert!(said.contains("7. GET") && said.contains("The order is paid."), "{said}");
    let Output { status, stderr, .. } = home.run(&["buy", "--user", "bob"]);
    let refused = String::from_utf8(stderr).unwrap();
    assert!(!status.success() && refused.contains("try another USER_ID") && refused.lines().count() == 1, "{refused}");
    assert_eq!(clean_audit(&home, "lamp")["ordered"], 1);

    let (said, _) = home.good(&["crowd", "--buyers", "20", "--over-s", "5"]);
    for part in ["20 people came.", "20  reserved (202)", " paid\n", " cancelled\n", " left it unpaid\n"] {
        assert!(said.contains(part), "no {part:?}: {said}");
    }
    // Two of twenty have cancelled.
    assert_eq!(clean_audit(&home, "lamp")["ordered"], 1 + 20 - 2);

    let report = load_on(&home, url).await;
    let requests = &report["requests"];
    let counted: u64 = report["answers"].as_array().unwrap().iter().map(|each| each["count"].as_u64().unwrap()).sum();
    assert_eq!((&requests["answered"], &requests["unanswered"]), (&json!(counted), &json!(0)), "{requests:#}");
    assert_eq!((&report["stopped"], &report["failures"]), (&json!(null), &json!({})), "{requests:#}");
    let answers = report["answers"].as_array().unwrap().iter().map(|each| {
        let [step, status, code] = ["step", "status", "code"].map(|name| each[name].to_string());
        format!("{step} {status} {code}").replace('"', "")
    });
    let answers: Vec<_> = answers.collect();
    for answer in ["challenge 201 ", "reserve 202 ", "reserve 409 sold_out", "poll 200 ", "forged 403 bad_token"] {
        assert!(answers.iter().any(|each| each == answer), "no {answer:?}: {answers:#?}");
    }
    assert!(!answers.iter().any(|each| each.contains(" 500 ")), "{answers:#?}");
    // Nobody gets in with somebody else's pass, or without a name.
    for step in ["forged", "another's", "nobody"] {
        assert!(!answers.contains(&format!("{step} 202 ")), "{answers:#?}");
    }
    assert_eq!(clean_audit(&home, "lamp")["ordered"], 100);

    until_async("the seed is public", async || {
        let draw = operator.operate("GET", "/v1/sales/packet/rounds/1/draw").await.ok()?;
        draw["seed"].is_string().then_some(())
    })
    .await;
    let (checked, _) = home.good(&["check-draw", "--sale", "packet", "--unit", "1", "--json"]);
    let checked: Value = serde_json::from_str(&checked).unwrap();
    assert_eq!((&checked["units"], &checked["sum_minor"]), (&json!(100), &json!(10_000)), "{checked}");
    // Bob came first.
    let minor = checked["unit"]["amount_minor"].as_u64().unwrap();
    let told = format!("unit 1, which won {}.{:02} EUR", minor / 100, minor % 100);
    assert!(opened.contains(&told), "{told}: {opened}");
    home.good(&["down"]);
}

/// The report of `load` with a few hundred users, a tenth of whom misbehave.
async fn load_on(home: &Home, url: &str) -> Value {
    let (tokens, _) = home.good(&["tokens", "--url", url, "--count", "300"]);
    let users = Credentials::read(&tokens).unwrap();
    assert_eq!(users.iter().filter(|user| user.pass.is_none()).count(), 6, "every fiftieth comes through the gate");
    let client = load::Client::new(url.parse().unwrap());
    let crowd = Arc::new(Crowd::new(client, "lamp".parse().unwrap(), users, 0.1).unwrap());
    let plan = Plan::new(300, Duration::from_secs(5), Curve::Rush).unwrap();
    let began = jiff::Timestamp::now();
    let outcome = visits(&plan, ProgressLine::silent(), |visit| {
        let crowd = Arc::clone(&crowd);
        async move { crowd.visit(&visit).await }
    });
    let outcome = outcome.await;
    load::Report { url: url.to_owned(), settings: Vec::new(), began, plan, outcome }.to_json()
}
