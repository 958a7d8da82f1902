//! A process is ready before its first event, and Lambda may give it several at once.

use local::function::FunctionProcess;
use local::runtime_api::RuntimeApi;

use crate::passes::LAB_RING;
use crate::prelude::*;

/// Far longer than it takes to answer without the queue.
const SLOW_QUEUE: Duration = Duration::from_secs(2);
const AT_ONCE: usize = 16;
const TRIES: usize = 10;

/// The built function behind a Runtime API.
struct Served {
    api: RuntimeApi,
    _process: FunctionProcess,
    recorder: Recorder,
}

impl Served {
    async fn start(lab: &Lab, aws: &FaultyAws, at_once: usize) -> Self {
        let at_once = (at_once > 1).then(|| ("AWS_LAMBDA_MAX_CONCURRENCY", at_once.to_string()));
        let program = "lambda/reservation/bootstrap";
        let (api, _process) = lab.process("reservation", program, &aws.endpoint(), at_once).await;
        Self { api, _process, recorder: lab.recorder.clone() }
    }

    async fn reserve(&self, user: &str) -> u16 {
        let ask = Ask::reserve(SALE, user).header("idempotency-key", "key-1");
        let event = serde_json::to_vec(&ask.sealed(&LAB_RING).event()).unwrap();
        let answer = async { Some(Answer::of_program(&ask, &self.api.invoke(event).await.ok()?)) };
        recorded_answer(&self.recorder, &ask, answer).await.expect("an answer").status
    }
}

/// While the queue is slow to take the last unit's message, another buyer asks. Returns the order of the answers.
/// Whoever must ask again is not among them: a busy machine may exceed a limit of the function.
async fn order_of_answers() -> Vec<&'static str> {
    let lab = Lab::selling(terms(2, 1)).await;
    let aws = FaultyAws::start(&cloud().await.deployment.endpoint).await;
    let served = Served::start(&lab, &aws, AT_ONCE).await;
    // Then the process has connected to everything it needs. A busy machine may exceed a limit of the function.
    until("the opener has a unit", async || (served.reserve("opener").await == 202).then_some(())).await;
    aws.set(Service::Sqs, Conduct::AnswersAfter(SLOW_QUEUE));
    let (answered, is_over) = (Mutex::new(Vec::new()), AtomicBool::new(false));
    let ask = async |user: &'static str, expected: u16| {
        let status = served.reserve(user).await;
        assert!([expected, 503].contains(&status), "{user}: {status}");
        if status == expected {
            answered.lock().unwrap().push(user);
        }
    };
    let winner = async {
        ask("winner", 202).await;
        is_over.store(true, Ordering::Relaxed);
    };
    let loser = async {
        // Redis gives the winner the last unit before the message is sent, or does not answer in time.
        let is_taken = until("the last unit is taken, or the winner answered", async || {
            let counters = lab.counters().await;
            let is_taken = counters.next_unit > counters.last_unit;
            (is_taken || is_over.load(Ordering::Relaxed)).then_some(is_taken)
        })
        .await;
        if is_taken {
            ask("loser", 409).await;
        }
    };
    tokio::join!(winner, loser);
    heal(&lab).await;
    lab.check_history("lambda_modes", &[SALE], Redis::Keeps).await;
    answered.into_inner().unwrap()
}

/// With one event at a time the loser is never first, so once is enough. A busy machine may be slower than the queue.
#[tokio::test]
async fn several_at_once_nobody_waits_for_anothers_queue() {
    for _ in 0..TRIES {
        if order_of_answers().await == ["loser", "winner"] {
            return;
        }
    }
    panic!("the loser waited {TRIES} times");
}

/// `x-amz-target` values of requests to the emulator.
const SECRET: &str = "secretsmanager.GetSecretValue";
const SALES: &str = "DynamoDB_20120810.Query";

/// A busy machine may exceed a limit of the function, so several processes may try.
#[tokio::test]
async fn the_first_request_finds_secrets_and_sales_read() {
    const PROCESSES: u32 = 5;
    let lab = Lab::selling(terms(PROCESSES, 1)).await;
    for number in 0..PROCESSES {
        let aws = FaultyAws::start(&cloud().await.deployment.endpoint).await;
        let served = Served::start(&lab, &aws, 1).await;
        // Each has been read without any request.
        aws.done(SECRET, 1).await;
        aws.done(SALES, 1).await;
        // A first request that read them itself would hang now.
        aws.set(Service::SecretsManager, Conduct::Hangs);
        match served.reserve(&format!("early-{number}")).await {
            202 => return,
            status => assert_eq!(status, 503),
        }
    }
    panic!("{PROCESSES} first requests were not answered in time");
}

#[tokio::test]
async fn redis_is_connected_to_or_the_reason_why_not_is_known() {
    let redis = tests::TestRound::start_empty();
    Stock::new(&redis.valkey.url()).unwrap().connect().await.unwrap();
    // A port where nothing listens.
    let gone = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    assert!(Stock::new(&format!("redis://{gone}")).unwrap().connect().await.is_err());
}
