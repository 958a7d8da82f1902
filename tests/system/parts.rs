//! What the functions of a lab talk to, through proxies whose behaviour tests set.

use aws_sdk_dynamodb::config::retry::RetryPartition;
use runtime::SdkConfig;
use tests::SlowProxy;

use crate::prelude::*;

pub(crate) struct Parts {
    pub(crate) aws: FaultyAws,
    pub(crate) redis: SlowProxy,
    pub(crate) stock: Stock,
    pub(crate) ledger: Ledger,
    context: Context,
}

impl Parts {
    /// With the limits that functions have: for tests that are about them.
    pub(crate) async fn of(lab: &Lab) -> Self {
        Self::with(lab, cloud().await.deployment.aws_config(), Clock::system()).await
    }

    /// With limits that a busy machine does not exceed.
    pub(crate) async fn patient(lab: &Lab) -> Self {
        Self::with(lab, cloud().await.deployment.patient_aws_config(), PATIENT).await
    }

    async fn with(lab: &Lab, config: SdkConfig, clock: Clock) -> Self {
        let aws = FaultyAws::start(&cloud().await.deployment.endpoint).await;
        let redis = SlowProxy::start(SocketAddr::from(([127, 0, 0, 1], lab.valkey.port())));
        let config = config.into_builder().endpoint_url(aws.endpoint()).build();
        // Clients in one process share a budget for retries unless told apart. Here each stands for a process.
        let own = RetryPartition::new(Uuid::now_v7().to_string());
        let dynamodb = aws_sdk_dynamodb::config::Builder::from(&config).retry_partition(own.clone());
        let sqs = aws_sdk_sqs::config::Builder::from(&config).retry_partition(own);
        let stock = Stock::at(&format!("redis://{}", redis.address()), clock).unwrap();
        let ledger = Ledger::new(DynamoDb::from_conf(dynamodb.build()), &lab.table);
        let context = Context::new(lab.settings(), config, clock)
            .with(stock.clone())
            .with(ledger.clone())
            .with(Sqs::from_conf(sqs.build()));
        Self { aws, redis, stock, ledger, context }
    }

    /// A function in a process that has read nothing yet: `parts.start(order::OrderDeps::new)`.
    pub(crate) fn start<D>(&self, new: impl FnOnce(&Context) -> Result<D, ContextError>) -> D {
        new(&self.context.another_process()).unwrap()
    }

    /// The expiry function, by whose clock every payment window is over.
    pub(crate) fn expiry(&self) -> expiry::ExpiryDeps {
        expiry::ExpiryDeps { clock: Clock::ahead_by_ms(10_000_000), ..self.start(expiry::ExpiryDeps::new) }
    }
}

/// How long Lambda lets a function run, from `infra/cdk/lib/functions.ts`.
pub(crate) fn lambda_timeout(function: &str) -> Duration {
    let facts = std::fs::read_to_string(local::paths::cdk().join("lib/functions.ts")).unwrap();
    let of_function = format!("{function}: {{ timeout_s: ");
    let seconds = facts.lines().find_map(|line| line.trim().strip_prefix(&of_function)?.split(',').next());
    Duration::from_secs(seconds.and_then(|s| s.parse().ok()).unwrap_or_else(|| panic!("{function} has no timeout")))
}

/// Ends `work` when Lambda would. Returns what it was and how long it took.
///
/// A scheduled function has `run_timeout` instead of its own, so that a test does not take a minute. Lambda's time is
/// shorter by as much: what is left of it once a run is over stays the same.
pub(crate) async fn as_lambda_would(
    function: &'static str,
    what: String,
    run_timeout: Duration,
    work: impl Future<Output = ()>,
) -> Ran {
    let own = match function {
        "warmup" => warmup::RUN_TIMEOUT,
        "daily_reset" => daily_reset::RUN_TIMEOUT,
        "reconciliation" => reconciliation::RUN_TIMEOUT,
        _ => run_timeout,
    };
    let limit = lambda_timeout(function) + run_timeout - own;
    let began = tokio::time::Instant::now();
    let ended = tokio::time::timeout(limit, work).await.is_ok();
    Ran { function, what, took: began.elapsed(), ended }
}

#[derive(Clone)]
pub(crate) struct Ran {
    function: &'static str,
    what: String,
    took: Duration,
    ended: bool,
}

impl std::fmt::Debug for Ran {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let how = if self.ended { "ended" } else { "was cut off" };
        write!(f, "{}, {}: {how} after {} ms", self.function, self.what, self.took.as_millis())
    }
}

#[track_caller]
pub(crate) fn all_ended(runs: &[Ran]) {
    let cut_off: Vec<_> = runs.iter().filter(|run| !run.ended).collect();
    assert!(cut_off.is_empty(), "Lambda would have cut off {cut_off:#?}");
}
