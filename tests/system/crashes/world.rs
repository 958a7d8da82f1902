use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use aws_sdk_dynamodb::Client as DynamoDb;
use aws_sdk_secretsmanager::Client as SecretsManager;
use aws_sdk_sqs::Client as Sqs;
use aws_sdk_sqs::config::interceptors::BeforeSerializationInterceptorContextMut;
use aws_sdk_sqs::config::{ConfigBag, Intercept, RuntimeComponents};
use aws_sdk_sqs::error::BoxError;
use aws_sdk_sqs::operation::receive_message::ReceiveMessageInput;
use ledger::Ledger;
use process::{Snapshots, TermsCache};
use queue::{ExpiryQueue, OrderQueue, Quarantine};
use runtime::Clock;
use stock::Stock;
use tests::{Fault, FaultProxy};

use crate::cloud::cloud;
use crate::lab::Lab;

/// A function's world: everything that it talks to, through proxies that end it.
pub(super) struct World {
    stock: Stock,
    ledger: Ledger,
    sqs: Sqs,
    secret: runtime::Secret,
    _proxies: [FaultProxy; 2],
}

impl World {
    pub(super) async fn new(lab: &Lab, fault: &Arc<Fault>) -> Self {
        let deployment = &cloud().await.deployment;
        let valkey = SocketAddr::from(([127, 0, 0, 1], lab.valkey.port()));
        let redis = FaultProxy::redis(valkey, Arc::clone(fault)).await;
        let aws = FaultProxy::aws(&deployment.endpoint, Arc::clone(fault)).await;
        let endpoint = format!("http://{}", aws.address());
        let config = deployment.aws_config().into_builder().endpoint_url(&endpoint).build();
        let sqs = aws_sdk_sqs::config::Builder::from(&config).interceptor(ShortTimeout);
        Self {
            stock: Stock::new(&format!("redis://{}", redis.address())).unwrap(),
            ledger: Ledger::new(DynamoDb::new(&config), &lab.table),
            sqs: Sqs::from_conf(sqs.build()),
            secret: runtime::Secret::new(SecretsManager::new(&config), &*deployment.payment_secret),
            _proxies: [redis, aws],
        }
    }

    pub(super) fn reservation(&self, lab: &Lab) -> reservation::Deps {
        let snapshots = Snapshots::new(self.ledger.clone(), Clock::system());
        let (stock, ledger, orders) = (self.stock.clone(), self.ledger.clone(), self.orders(lab));
        reservation::Deps { stock, ledger, snapshots, orders, ..lab.reservation() }
    }

    pub(super) fn order(&self, lab: &Lab) -> order::Deps {
        let terms = TermsCache::new(self.ledger.clone());
        let (orders, expiry) = (self.orders(lab), self.expiry_queue(lab));
        let (stock, ledger) = (self.stock.clone(), self.ledger.clone());
        order::Deps { stock, ledger, terms, orders, expiry, clock: Clock::system() }
    }

    pub(super) fn dead_letter(&self, lab: &Lab) -> dead_letter::Deps {
        let quarantine = Quarantine::new(self.sqs.clone(), &lab.quarantine_url);
        let (stock, ledger, expiry) = (self.stock.clone(), self.ledger.clone(), self.expiry_queue(lab));
        let terms = TermsCache::new(ledger.clone());
        dead_letter::Deps { stock, ledger, terms, expiry, quarantine, clock: Clock::system() }
    }

    /// With a clock that is so many seconds ahead.
    pub(super) fn expiry_in(&self, lab: &Lab, ahead_s: i64) -> expiry::Deps {
        let (stock, ledger, expiry) = (self.stock.clone(), self.ledger.clone(), self.expiry_queue(lab));
        expiry::Deps { stock, ledger, expiry, clock: Clock::ahead_by_ms(ahead_s * 1000) }
    }

    pub(super) fn payment(&self) -> payment::Deps {
        payment::Deps { ledger: self.ledger.clone(), secret: self.secret.clone(), clock: Clock::system() }
    }

    pub(super) fn admin(&self, lab: &Lab) -> admin::Deps {
        let (stock, ledger, sqs) = (self.stock.clone(), self.ledger.clone(), self.sqs.clone());
        admin::Deps { stock, ledger, sqs, ..lab.admin() }
    }

    pub(super) fn warmup(&self) -> warmup::Deps {
        warmup::Deps { stock: self.stock.clone(), ledger: self.ledger.clone(), clock: Clock::system() }
    }

    pub(super) fn daily_reset(&self) -> daily_reset::Deps {
        daily_reset::Deps { ledger: self.ledger.clone(), clock: Clock::system() }
    }

    pub(super) fn reconciliation(&self, lab: &Lab) -> reconciliation::Deps {
        let (stock, ledger, orders) = (self.stock.clone(), self.ledger.clone(), self.orders(lab));
        reconciliation::Deps { stock, ledger, orders, send_again_after: Duration::ZERO, clock: Clock::system() }
    }

    fn orders(&self, lab: &Lab) -> OrderQueue {
        OrderQueue::new(self.sqs.clone(), &lab.orders_url)
    }

    fn expiry_queue(&self, lab: &Lab) -> ExpiryQueue {
        ExpiryQueue::new(self.sqs.clone(), &lab.expiry_url)
    }
}

/// What a dead function had received comes back after a second and not after its minute: SQS has no clock that can be
/// put forward.
#[derive(Debug)]
struct ShortTimeout;

impl Intercept for ShortTimeout {
    fn name(&self) -> &'static str {
        "ShortTimeout"
    }

    fn modify_before_serialization(
        &self,
        context: &mut BeforeSerializationInterceptorContextMut<'_>,
        _: &RuntimeComponents,
        _: &mut ConfigBag,
    ) -> Result<(), BoxError> {
        if let Some(receive) = context.input_mut().downcast_mut::<ReceiveMessageInput>() {
            receive.visibility_timeout = Some(1);
        }
        Ok(())
    }
}
