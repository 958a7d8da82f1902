//! What happens to requests when a function dies, hangs or fails, or when there are too many of them.

use std::time::Duration;

use futures::future::join_all;
use local::gateway::{Concurrency, Gateway, MAX_TIMEOUT};
use local::pool::{FunctionSpec, Pool, PoolCounts, Refused};
use local::runtime_api::Fault;
use local::setup::install;
use serde_json::{Value, json};
use tokio::task::spawn_blocking;
use tokio::time::timeout;
use uuid::Uuid;

use crate::api::{Api, FUNCTION, PATIENCE, TIMEOUT_S};

async fn ask(gateway: &Gateway, to_do: &str) -> (u16, Value) {
    let asked = reqwest::Client::new().get(format!("{}/open", gateway.url())).timeout(PATIENCE);
    let asked = if to_do.is_empty() { asked } else { asked.header("x-do", to_do) };
    let answer = asked.send().await.unwrap();
    (answer.status().as_u16(), answer.json().await.unwrap())
}

fn counts(gateway: &Gateway) -> PoolCounts {
    gateway.counts()[FUNCTION]
}

fn failed() -> (u16, Value) {
    (500, json!({ "message": "Internal Server Error" }))
}

/// Each has a gateway of its own. They share an API, because its emulator takes seconds to start.
#[tokio::test(flavor = "multi_thread")]
async fn processes_have_their_environment_answer_fail_die_and_end() {
    let api = Api::open("GET /open").await;
    a_function_has_the_environment_that_was_deployed_and_nothing_else(&api).await;
    a_process_that_dies_fails_what_it_had_and_is_replaced(&api).await;
    a_function_that_fails_goes_on(&api).await;
    many_at_once_are_all_answered(&api).await;
    processes_end_with_the_gateway(&api).await;
}

async fn a_function_has_the_environment_that_was_deployed_and_nothing_else(api: &Api) {
    let gateway = api.serve(Concurrency::FAST).await.unwrap();
    assert_eq!(counts(&gateway).cold_starts, 0, "a process started before there was an event");
    assert_eq!(ask(&gateway, "").await.0, 200);
    let id = processes_of(&gateway).await[0];
    let environment = std::fs::read(format!("/proc/{id}/environ")).unwrap();
    let environment = String::from_utf8(environment).unwrap();
    let mut names: Vec<&str> = environment.split('\0').filter_map(|pair| pair.split('=').next()).collect();
    names.retain(|name| !name.is_empty());
    names.sort_unstable();
    let expected = "AWS_ACCESS_KEY_ID AWS_ENDPOINT_URL AWS_LAMBDA_FUNCTION_MEMORY_SIZE AWS_LAMBDA_FUNCTION_NAME \
        AWS_LAMBDA_FUNCTION_VERSION AWS_LAMBDA_MAX_CONCURRENCY AWS_LAMBDA_RUNTIME_API AWS_REGION AWS_SECRET_ACCESS_KEY \
        RUST_MIN_STACK SAID _HANDLER";
    assert_eq!(names, expected.split(' ').collect::<Vec<_>>());
}

/// The ids of processes that run the deployed program in this gateway's folder.
async fn processes_of(gateway: &Gateway) -> Vec<i32> {
    let groups = gateway.process_groups(FUNCTION);
    let of_group = |entry: std::fs::DirEntry| {
        let id: i32 = entry.file_name().to_str()?.parse().ok()?;
        let stat = std::fs::read_to_string(entry.path().join("stat")).ok()?;
        let group: u32 = stat.rsplit_once(") ")?.1.split(' ').nth(2)?.parse().ok()?;
        let program = std::fs::read_link(entry.path().join("exe")).ok()?;
        (groups.contains(&group) && program.ends_with("bootstrap")).then_some(id)
    };
    std::fs::read_dir("/proc").unwrap().flatten().filter_map(of_group).collect()
}

async fn a_process_that_dies_fails_what_it_had_and_is_replaced(api: &Api) {
    let gateway = api.serve(Concurrency::FAST).await.unwrap();
    assert_eq!(ask(&gateway, "").await.0, 200);
    assert_eq!(ask(&gateway, "die").await, failed());
    assert_eq!(ask(&gateway, "").await.0, 200);
    let PoolCounts { cold_starts, deaths, timeouts, running, resident_kb } = counts(&gateway);
    assert_eq!((cold_starts, deaths, timeouts, running), (2, 1, 0, 1));
    assert!(resident_kb > 1_000, "{resident_kb} kB");
}

async fn a_function_that_fails_goes_on(api: &Api) {
    let gateway = api.serve(Concurrency::FAST).await.unwrap();
    for _ in 0..3 {
        assert_eq!(ask(&gateway, "fail").await, failed());
    }
    assert_eq!((counts(&gateway).cold_starts, counts(&gateway).deaths), (1, 0));
}

/// They share an API, too, and wait for its function's timeout beside each other.
#[tokio::test(flavor = "multi_thread")]
async fn what_hangs_is_killed_given_up_or_replaced() {
    let api = Api::open("GET /open").await;
    let classic = api.serve(Concurrency::CLASSIC).await.unwrap();
    let [one, all] = [api.serve(Concurrency::FAST).await.unwrap(), api.serve(Concurrency::FAST).await.unwrap()];
    tokio::join!(
        a_function_that_takes_too_long_is_killed(&classic),
        among_several_at_once_only_the_one_that_hangs_is_given_up(&one),
        a_process_that_hangs_as_a_whole_is_replaced(&all),
    );
}

async fn a_function_that_takes_too_long_is_killed(gateway: &Gateway) {
    let start = std::time::Instant::now();
    assert_eq!(ask(gateway, "hang").await, failed());
    assert!(start.elapsed() >= Duration::from_secs(TIMEOUT_S));
    assert_eq!((counts(gateway).timeouts, counts(gateway).deaths), (1, 1));
    assert_eq!(ask(gateway, "").await.0, 200);
}

/// As on managed instances: one hanging event times out, and the others of its process are unaffected.
async fn among_several_at_once_only_the_one_that_hangs_is_given_up(gateway: &Gateway) {
    assert_eq!(ask(gateway, "").await.0, 200);
    let others = async {
        let mut answered = 0;
        loop {
            assert_eq!(ask(gateway, "").await.0, 200);
            answered += 1;
            if counts(gateway).timeouts == 1 {
                return answered;
            }
        }
    };
    let (hung, answered) = tokio::join!(ask(gateway, "hang"), others);
    assert_eq!(hung, failed());
    assert!(answered > 1);
    assert_eq!((counts(gateway).cold_starts, counts(gateway).deaths), (1, 0));
}

/// A process that answers nothing for as long as one event may take is replaced, whatever its concurrency.
async fn a_process_that_hangs_as_a_whole_is_replaced(gateway: &Gateway) {
    assert_eq!(ask(gateway, "").await.0, 200);
    let hung = join_all((0..3).map(|_| ask(gateway, "hang"))).await;
    assert!(hung.iter().all(|answer| *answer == failed()), "{hung:?}");
    assert_eq!(ask(gateway, "").await.0, 200);
    assert_eq!((counts(gateway).cold_starts, counts(gateway).deaths), (2, 1));
}

/// As when files or processes run out: the log has the reason, and the next event tries again.
#[tokio::test(flavor = "multi_thread")]
async fn who_waits_for_a_process_that_cannot_be_started_hears_so_at_once() {
    spawn_blocking(|| install().unwrap()).await.unwrap();
    // A file in place of the log's folder.
    let folder = std::env::temp_dir().join(format!("pool-{}", Uuid::new_v4().simple()));
    std::fs::write(&folder, "").unwrap();
    let environment = [
        ("AWS_LAMBDA_FUNCTION_NAME", FUNCTION),
        ("AWS_LAMBDA_FUNCTION_VERSION", "$LATEST"),
        ("AWS_LAMBDA_FUNCTION_MEMORY_SIZE", "128"),
    ];
    let pool = Pool::new(FunctionSpec {
        name: FUNCTION.to_owned(),
        bootstrap: env!("CARGO_BIN_EXE_echo").into(),
        environment: environment.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec(),
        timeout: Duration::from_secs(TIMEOUT_S),
        concurrency: Concurrency::FAST,
        log: folder.join("echo.log"),
    });
    for _ in 0..3 {
        // A caller who is not told waits for as long as a request may take.
        let refused = timeout(MAX_TIMEOUT, pool.invoke(r#"{"headers":{}}"#)).await.expect("it hears");
        assert_eq!(refused, Err(Refused::Fault(Fault::Died)));
    }
    assert_eq!(pool.counts().cold_starts, 0);
    std::fs::remove_file(&folder).unwrap();
    assert!(timeout(PATIENCE, pool.invoke(r#"{"headers":{}}"#)).await.unwrap().is_ok());
    drop(pool);
    std::fs::remove_dir_all(&folder).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn who_waits_for_a_function_that_does_not_start_hears_so() {
    let starting = ["exit", "hang"].map(async |start| {
        let api = Api::with(json!({}), &[("START", start.to_owned())]).await;
        api.route("GET /open", false, json!({})).await;
        let gateway = api.serve(Concurrency::FAST).await.unwrap();
        assert_eq!(ask(&gateway, "").await, failed(), "{start}");
        assert!(counts(&gateway).deaths >= 1, "{start}");
    });
    join_all(starting).await;
}

/// In both modes of handing out events, none is lost or answered twice.
async fn many_at_once_are_all_answered(api: &Api) {
    for (concurrency, most) in [(Concurrency::FAST, 1), (Concurrency::CLASSIC, Concurrency::CLASSIC.most)] {
        let gateway = api.serve(concurrency).await.unwrap();
        let http = reqwest::Client::new();
        let asked = (0..200).map(|n| {
            let asked = http.get(format!("{}/open?n={n}", gateway.url())).timeout(PATIENCE);
            async move { asked.send().await.unwrap().json::<Value>().await.unwrap()["rawQueryString"].clone() }
        });
        let answers = join_all(asked).await;
        for (n, answer) in answers.iter().enumerate() {
            assert_eq!(*answer, json!(format!("n={n}")));
        }
        let started = counts(&gateway).cold_starts;
        assert!((1..=most as u64).contains(&started), "{started} processes");
    }
}

async fn processes_end_with_the_gateway(api: &Api) {
    let gateway = api.serve(Concurrency::FAST).await.unwrap();
    // A client whose connection stays open.
    let client = reqwest::Client::new();
    assert_eq!(client.get(format!("{}/open", gateway.url())).send().await.unwrap().status(), 200);
    let ids = processes_of(&gateway).await;
    assert_eq!(ids.len(), 1);
    drop(gateway);
    let start = std::time::Instant::now();
    while std::path::Path::new(&format!("/proc/{}/exe", ids[0])).read_link().is_ok() {
        assert!(start.elapsed() < PATIENCE, "the function still runs");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}
