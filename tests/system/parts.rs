//! What the functions of a lab talk to, through proxies that behave as they are told.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use aws_sdk_dynamodb::Client as DynamoDb;
use aws_sdk_dynamodb::config::retry::RetryPartition;
use aws_sdk_secretsmanager::Client as SecretsManager;
use aws_sdk_sqs::Client as Sqs;
use ledger::Ledger;
use process::{Snapshots, TermsCache};
use queue::{ExpiryQueue, OrderQueue, Quarantine};
use runtime::{Clock, PassKeys};
use stock::Stock;
use tests::{FaultyAws, SlowProxy};
use uuid::Uuid;

use crate::cloud::cloud;
use crate::lab::Lab;
use crate::passes::keys_through;

pub(crate) struct Parts {
    pub(crate) aws: FaultyAws,
    pub(crate) redis: SlowProxy,
    pub(crate) stock: Stock,
    pub(crate) ledger: Ledger,
    sqs: Sqs,
    secret: runtime::Secret,
    keys: PassKeys,
}

impl Parts {
    pub(crate) async fn of(lab: &Lab) -> Self {
        let deployment = &cloud().await.deployment;
        let aws = FaultyAws::start(&deployment.endpoint).await;
        let redis = SlowProxy::start(SocketAddr::from(([127, 0, 0, 1], lab.valkey.port()))).await;
        let config = deployment.aws_config().into_builder().endpoint_url(aws.endpoint()).build();
        // Clients of one process share what they may spend on retries, unless told apart: here each stands for a process.
        let own = RetryPartition::new(Uuid::now_v7().to_string());
        let dynamodb = aws_sdk_dynamodb::config::Builder::from(&config).retry_partition(own.clone());
        let sqs = aws_sdk_sqs::config::Builder::from(&config).retry_partition(own);
        Self {
            stock: Stock::new(&format!("redis://{}", redis.address())).unwrap(),
            ledger: Ledger::new(DynamoDb::from_conf(dynamodb.build()), &lab.table),
            keys: keys_through(SecretsManager::new(&config)).await,
            sqs: Sqs::from_conf(sqs.build()),
            secret: runtime::Secret::new(SecretsManager::new(&config), &*deployment.payment_secret),
            aws,
            redis,
        }
    }

    fn orders(&self, lab: &Lab) -> OrderQueue {
        OrderQueue::new(self.sqs.clone(), &lab.orders_url)
    }

    fn expiry_queue(&self, lab: &Lab) -> ExpiryQueue {
        ExpiryQueue::new(self.sqs.clone(), &lab.expiry_url)
    }

    pub(crate) fn reservation(&self, lab: &Lab) -> reservation::Deps {
        let (stock, ledger, clock) = (self.stock.clone(), self.ledger.clone(), Clock::system());
        reservation::Deps {
            stock,
            snapshots: Snapshots::new(ledger.clone(), clock),
            keys: self.keys.clone(),
            limiter: Arc::default(),
            forgeries: Arc::default(),
            ledger,
            orders: self.orders(lab),
            expiry: self.expiry_queue(lab),
            clock,
        }
    }

    pub(crate) fn order(&self, lab: &Lab) -> order::Deps {
        let (stock, ledger, clock) = (self.stock.clone(), self.ledger.clone(), Clock::system());
        let (orders, expiry) = (self.orders(lab), self.expiry_queue(lab));
        order::Deps { stock, terms: TermsCache::new(ledger.clone()), ledger, orders, expiry, clock }
    }

    pub(crate) fn dead_letter(&self, lab: &Lab) -> dead_letter::Deps {
        let (stock, ledger, clock) = (self.stock.clone(), self.ledger.clone(), Clock::system());
        let quarantine = Quarantine::new(self.sqs.clone(), &lab.quarantine_url);
        let terms = TermsCache::new(ledger.clone());
        dead_letter::Deps { stock, ledger, terms, expiry: self.expiry_queue(lab), quarantine, clock }
    }

    /// For which every payment window is over.
    pub(crate) fn expiry(&self, lab: &Lab) -> expiry::Deps {
        let (stock, ledger) = (self.stock.clone(), self.ledger.clone());
        expiry::Deps { stock, ledger, expiry: self.expiry_queue(lab), clock: Clock::ahead_by_ms(10_000_000) }
    }

    pub(crate) fn payment(&self) -> payment::Deps {
        payment::Deps { ledger: self.ledger.clone(), secret: self.secret.clone(), clock: Clock::system() }
    }

    pub(crate) fn admin(&self, lab: &Lab) -> admin::Deps {
        let (stock, ledger, sqs) = (self.stock.clone(), self.ledger.clone(), self.sqs.clone());
        admin::Deps { stock, ledger, sqs, ..lab.admin() }
    }

    pub(crate) fn warmup(&self) -> warmup::Deps {
        warmup::Deps { stock: self.stock.clone(), ledger: self.ledger.clone(), clock: Clock::system() }
    }

    pub(crate) fn reconciliation(&self, lab: &Lab) -> reconciliation::Deps {
        let (stock, ledger, orders) = (self.stock.clone(), self.ledger.clone(), self.orders(lab));
        reconciliation::Deps { stock, ledger, orders, ..lab.reconciliation() }
    }

    pub(crate) fn daily_reset(&self) -> daily_reset::Deps {
        daily_reset::Deps { ledger: self.ledger.clone(), clock: Clock::system() }
    }
}

/// How long Lambda lets a function run: `infra/cdk/lib/functions.ts` says so.
pub(crate) fn lambda_timeout(function: &str) -> Duration {
    let facts = std::fs::read_to_string(local::paths::cdk().join("lib/functions.ts")).unwrap();
    let of_function = format!("{function}: {{ timeout_s: ");
    let seconds = facts.lines().find_map(|line| line.trim().strip_prefix(&of_function)?.split(',').next());
    Duration::from_secs(seconds.and_then(|s| s.parse().ok()).unwrap_or_else(|| panic!("no timeout of {function}")))
}

/// Ends `work` when Lambda would, and says what that was and how long it took.
pub(crate) async fn as_lambda_would(function: &'static str, what: String, work: impl Future<Output = ()>) -> Ran {
    let limit = lambda_timeout(function);
    let began = tokio::time::Instant::now();
    let ended = tokio::time::timeout(limit, work).await.is_ok();
    Ran { function, what, took: began.elapsed(), ended }
}

/// One run of a function.
#[derive(Clone)]
pub(crate) struct Ran {
    function: &'static str,
    what: String,
    took: Duration,
    /// Whether it ended by itself.
    ended: bool,
}

impl std::fmt::Debug for Ran {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let how = if self.ended { "ended" } else { "was cut off" };
        write!(f, "{}, {}: {how} after {} ms", self.function, self.what, self.took.as_millis())
    }
}

/// Every run must have ended before Lambda's time was up.
#[track_caller]
pub(crate) fn all_ended(runs: &[Ran]) {
    let cut_off: Vec<_> = runs.iter().filter(|run| !run.ended).collect();
    assert!(cut_off.is_empty(), "Lambda would have cut off {cut_off:#?}");
}
