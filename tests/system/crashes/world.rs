use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use aws_sdk_dynamodb::Client as DynamoDb;
use aws_sdk_sqs::Client as Sqs;
use aws_sdk_sqs::config::interceptors::BeforeSerializationInterceptorContextMut;
use aws_sdk_sqs::config::{ConfigBag, Intercept, RuntimeComponents};
use aws_sdk_sqs::error::BoxError;
use aws_sdk_sqs::operation::receive_message::ReceiveMessageInput;
use context::{Context, ContextError};
use history::Recorder;
use runtime::Clock;
use stock::Stock;
use tests::{Fault, FaultProxy};

use crate::cloud::cloud;
use crate::lab::Lab;

/// A function's world: everything that it talks to, behind proxies that can cut it off.
pub(super) struct World {
    context: Context,
    /// Records what clients ask the functions, and what they hear until the end.
    pub(super) recorder: Recorder,
    fault: Arc<Fault>,
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
        let context = Context::new(lab.settings(), config.clone(), Clock::system())
            .with(DynamoDb::new(&config))
            .with(Stock::new(&format!("redis://{}", redis.address())).unwrap())
            .with(Sqs::from_conf(sqs.build()))
            .with(lab.reservation().keys);
        let recorder = lab.recorder.clone();
        Self { context, recorder, fault: Arc::clone(fault), _proxies: [redis, aws] }
    }

    /// A function in a new process: `world.start(order::OrderDeps::new)`.
    pub(super) fn start<D>(&self, new: impl FnOnce(&Context) -> Result<D, ContextError>) -> D {
        // Between two functions a flow may do something itself.
        self.fault.interrupt();
        new(&self.context.another_process()).unwrap()
    }

    /// The expiry function with its clock this many seconds ahead.
    pub(super) fn expiry_in(&self, ahead_s: i64) -> expiry::ExpiryDeps {
        expiry::ExpiryDeps { clock: Clock::ahead_by_ms(ahead_s * 1000), ..self.start(expiry::ExpiryDeps::new) }
    }

    /// The draw function, likewise.
    pub(super) fn draw_in(&self, ahead_s: i64) -> draw::DrawDeps {
        draw::DrawDeps { clock: Clock::ahead_by_ms(ahead_s * 1000), ..self.start(draw::DrawDeps::new) }
    }

    /// The order function, likewise.
    pub(super) fn order_in(&self, ahead_s: i64) -> order::OrderDeps {
        order::OrderDeps { clock: Clock::ahead_by_ms(ahead_s * 1000), ..self.start(order::OrderDeps::new) }
    }

    /// Reconciliation that sends messages again at once.
    pub(super) fn reconciliation(&self) -> reconciliation::ReconciliationDeps {
        reconciliation::ReconciliationDeps {
            send_again_after: Duration::ZERO,
            ..self.start(reconciliation::ReconciliationDeps::new)
        }
    }
}

/// Brings messages that a dead function had received back after a second instead of a minute, because the SQS clock cannot
/// be moved.
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
