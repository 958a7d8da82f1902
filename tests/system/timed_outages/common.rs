//! A system on the test's own clock. Each of its parts can be taken away.

use aws_sdk_sqs::config::retry::RetryPartition;
use local::valkey::Valkey;
use redis::aio::MultiplexedConnection;
use tests::CutProxy;
use tokio::task::{block_in_place, spawn_blocking};

use super::queues::Queues;
use super::time::Time;
use crate::prelude::*;
use crate::resources::{make_secret, secrets_manager};
use crate::throttled::with_dead_letters;

/// How far the clock moves at a time: the shortest time by which a message is put off.
pub(super) const STEP_S: u32 = 5;
pub(super) const MINUTE: u32 = 60 / STEP_S;
pub(super) const OUTAGE: u32 = 10 * MINUTE;
/// More than there are buyers.
pub(super) const UNITS: u32 = 300;
const WINDOW_S: u32 = 3600;
/// How long an AWS client pauses before it tries again. It uses the machine's clock, on which an outage takes a moment.
const BACKOFF: Duration = Duration::from_millis(5);
/// Buyers who come at once as the part goes away.
pub(super) const CROWD: usize = 10;
pub(super) const PROCESSES: u32 = 2;
/// The key that payments are signed with at first.
pub(super) const PAYMENT_KEY: &str = "the first key of payments, which is long enough";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum When {
    Before,
    /// Just as the part goes away.
    Caught,
    During,
    After,
}

#[derive(Debug, Clone)]
pub(super) struct Heard {
    pub(super) when: When,
    /// Seconds since the part went away.
    pub(super) after_s: u64,
    pub(super) name: String,
    /// Whether the buyer sends a key, and asks again after getting no unit.
    pub(super) has_key: bool,
    pub(super) runs: u32,
    /// Steps since the part came back.
    pub(super) steps_back: u32,
    pub(super) answer: Answer,
}

impl Heard {
    /// Whether a breaker may still have been open: the first call that finds the part back lets the process's other
    /// calls in, and processes take turns.
    pub(super) fn may_be_turned_away(&self) -> bool {
        self.when == When::After && self.steps_back <= PROCESSES
    }
}

pub(super) struct Fleet {
    pub(super) reservation: [reservation::ReservationDeps; PROCESSES as usize],
    pub(super) order: order::OrderDeps,
    pub(super) dead_letter: dead_letter::DeadLetterDeps,
    pub(super) warmup: warmup::WarmupDeps,
    pub(super) reconciliation: reconciliation::ReconciliationDeps,
}

pub(super) struct World {
    pub(super) lab: Lab,
    pub(super) time: Time,
    pub(super) redis: CutProxy,
    pub(super) dynamodb: CutProxy,
    pub(super) sqs: CutProxy,
    pub(super) secrets: CutProxy,
    pub(super) heard: Vec<Heard>,
    /// How often buyers have looked at reservations.
    pub(super) looks: usize,
    pub(super) context: Context,
    pub(super) fleet: Fleet,
    pub(super) queues: Queues,
    /// Reaches Redis directly, without the proxy.
    pub(super) clock_of_redis: MultiplexedConnection,
    pub(super) when: When,
    pub(super) away_since: EpochMs,
    /// Whether Lambda receives messages while the part is away.
    pub(super) has_queues: bool,
    pub(super) next_run_at: EpochMs,
    pub(super) runs: u32,
    pub(super) steps_back: u32,
    /// The last summary of reconciliation, or none if it failed.
    pub(super) last_run: Option<reconciliation::ReconciliationSummary>,
    pub(super) arrived: usize,
    pub(super) paid: BTreeSet<String>,
    /// This world's own secret, with the key of payments.
    pub(super) payment_secret: String,
}

async fn in_front_of(endpoint: &str) -> CutProxy {
    let address = endpoint.trim_start_matches("http://").trim_end_matches('/').replace("localhost", "127.0.0.1");
    CutProxy::start(address.parse().expect("an address and a port")).await
}

async fn connection(lab: &Lab) -> MultiplexedConnection {
    let mut connection = tests::redis_at(&lab.valkey.url()).await;
    // Redis updates its cached time about this often.
    let () = redis::cmd("CONFIG").arg(&["SET", "hz", "500"]).query_async(&mut connection).await.unwrap();
    connection
}

impl World {
    /// A world with a sale that has been open for a minute.
    pub(super) async fn selling() -> Self {
        let time = Time::new();
        let variables = time.variables();
        let valkey = spawn_blocking(move || Valkey::start_with(&variables)).await.unwrap().unwrap();
        let stock = Stock::new(&valkey.url()).unwrap();
        let mut lab = Lab::new().await.with_stock(stock);
        lab.valkey = valkey;
        lab.open(SALE, &Terms { payment_window_s: WINDOW_S, ..terms(UNITS, 1) }).await;

        let endpoint = &cloud().await.deployment.endpoint;
        let dynamodb = in_front_of(endpoint).await;
        let sqs = in_front_of(endpoint).await;
        let secrets = in_front_of(endpoint).await;
        let redis = CutProxy::start(SocketAddr::from(([127, 0, 0, 1], lab.valkey.port()))).await;
        let payment_secret = make_secret("payments", PAYMENT_KEY).await;
        let settings = lab.settings().with("PAYMENT_SECRET_ARN", &*payment_secret);
        let settings = settings.with("REDIS_URL", format!("redis://{}", redis.address()));
        let (context, calls) = context_of(settings, time.clock(), [&dynamodb, &sqs, &secrets]).await;
        let fleet = Fleet {
            reservation: [(); PROCESSES as usize].map(|()| start(&context, reservation::ReservationDeps::new)),
            order: start(&context, order::OrderDeps::new),
            dead_letter: start(&context, dead_letter::DeadLetterDeps::new),
            warmup: start(&context, warmup::WarmupDeps::new),
            reconciliation: start(&context, reconciliation::ReconciliationDeps::new),
        };
        let mut world = Self {
            queues: Queues::new(lab.sqs.clone(), calls),
            clock_of_redis: connection(&lab).await,
            away_since: time.clock().now(),
            next_run_at: time.clock().now(),
            lab,
            time,
            redis,
            dynamodb,
            sqs,
            secrets,
            heard: Vec::new(),
            looks: 0,
            context,
            fleet,
            when: When::Before,
            has_queues: true,
            runs: 0,
            steps_back: 0,
            last_run: None,
            arrived: 0,
            paid: BTreeSet::new(),
            payment_secret,
        };
        with_dead_letters(&world.lab).await;
        world.pass(MINUTE).await;
        assert!(world.heard(When::Before).all(|heard| heard.answer.status == 202));
        world
    }

    pub(super) fn now(&self) -> EpochMs {
        self.time.clock().now()
    }

    pub(super) fn start<D>(&self, new: impl FnOnce(&Context) -> Result<D, ContextError>) -> D {
        start(&self.context, new)
    }

    /// Takes a part away while a crowd comes. `has_queues` says whether Lambda receives messages meanwhile.
    pub(super) async fn lose(&mut self, part: impl Fn(&Self) -> &CutProxy, away: Reach, has_queues: bool) {
        (self.when, self.away_since, self.has_queues) = (When::Caught, self.now(), has_queues);
        let names = self.arrivals(CROWD);
        let asks = join_all(names.iter().map(|name| self.asking(name, true)));
        let (answers, ()) = tokio::join!(asks, part(self).set(away));
        for (name, answer) in names.into_iter().zip(answers) {
            if answer.status != 202 {
                answer.clone().problem(503, "overloaded");
            }
            self.note(name, true, answer);
        }
        self.when = When::During;
    }

    /// Kills Redis, which starts again empty.
    pub(super) async fn redis_begins_empty(&mut self) {
        block_in_place(|| self.lab.valkey.kill_and_restart()).unwrap();
        self.clock_of_redis = connection(&self.lab).await;
    }

    pub(super) async fn payments_are_signed_with(&self, key: &str) {
        let id = &self.payment_secret;
        let new = json!({ "SecretId": id, "SecretString": key, "ClientRequestToken": Uuid::now_v7() });
        secrets_manager().await.call("secretsmanager.PutSecretValue", &new).await.unwrap();
    }
}

fn start<D>(context: &Context, new: impl FnOnce(&Context) -> Result<D, ContextError>) -> D {
    new(&context.another_process()).unwrap()
}

/// A context whose processes reach each part through its proxy, and the calls that they make to SQS.
async fn context_of(settings: Settings, clock: Clock, aws: [&CutProxy; 3]) -> (Context, Calls) {
    let config = cloud().await.deployment.aws_config();
    let retries = config.retry_config().expect("it is set").clone().with_initial_backoff(BACKOFF);
    let config = config.into_builder().retry_config(retries).build();
    let [dynamodb, sqs, secrets] = aws.map(|proxy| format!("http://{}", proxy.address()));
    // Each test has its own budget for retries.
    let own = RetryPartition::new(Uuid::now_v7().to_string());
    let calls = Calls::default();
    let dynamodb = aws_sdk_dynamodb::config::Builder::from(&config).endpoint_url(dynamodb).retry_partition(own.clone());
    let sqs = aws_sdk_sqs::config::Builder::from(&config).endpoint_url(sqs).retry_partition(own);
    let secrets = config.to_builder().endpoint_url(secrets).build();
    let context = Context::new(settings, config, clock)
        .with(aws_sdk_dynamodb::Client::from_conf(dynamodb.build()))
        .with(aws_sdk_sqs::Client::from_conf(sqs.interceptor(calls.hook()).build()))
        .with(AwsClient::secrets_manager(&secrets));
    (context, calls)
}
