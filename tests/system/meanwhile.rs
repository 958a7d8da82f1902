//! Makes something happen while a request is on its way to DynamoDB.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use aws_sdk_dynamodb::Client as DynamoDb;
use aws_sdk_dynamodb::config::interceptors::BeforeTransmitInterceptorContextRef;
use aws_sdk_dynamodb::config::{ConfigBag, Intercept, RuntimeComponents};
use aws_sdk_dynamodb::error::BoxError;
use ledger::Ledger;
use tokio::runtime::Handle;
use tokio::task::block_in_place;

use crate::cloud::cloud;
use crate::lab::Lab;

/// What a test makes happen.
type Event = Box<dyn FnOnce() -> futures::future::BoxFuture<'static, ()> + Send>;

struct Meanwhile {
    /// The end of the request's target, such as `PutItem`, or a part of its body.
    target: &'static str,
    event: Mutex<Option<Event>>,
    happened: &'static AtomicBool,
}

impl std::fmt::Debug for Meanwhile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Meanwhile")
    }
}

impl Intercept for Meanwhile {
    fn name(&self) -> &'static str {
        "Meanwhile"
    }

    fn read_before_transmit(
        &self,
        context: &BeforeTransmitInterceptorContextRef<'_>,
        _: &RuntimeComponents,
        _: &mut ConfigBag,
    ) -> Result<(), BoxError> {
        let target = context.request().headers().get("x-amz-target").unwrap_or_default();
        let body = String::from_utf8_lossy(context.request().body().bytes().unwrap_or_default());
        if (target.ends_with(self.target) || body.contains(self.target))
            && let Some(event) = self.event.lock().unwrap().take()
        {
            block_in_place(|| Handle::current().block_on(event()));
            self.happened.store(true, Ordering::Relaxed);
        }
        Ok(())
    }
}

/// A ledger on the lab's table. `event` happens once, after the first request of this kind is built and before it is
/// sent. Tells whether it has happened. Needs a multi-threaded runtime.
pub(crate) async fn ledger_with(
    lab: &Lab,
    target: &'static str,
    event: impl FnOnce(Ledger) -> futures::future::BoxFuture<'static, ()> + Send + 'static,
) -> (Ledger, &'static AtomicBool) {
    let happened: &AtomicBool = Box::leak(Box::default());
    let ledger = lab.ledger.clone();
    let event: Mutex<Option<Event>> = Mutex::new(Some(Box::new(move || event(ledger))));
    let config = cloud().await.deployment.patient_aws_config();
    let config = aws_sdk_dynamodb::config::Builder::from(&config).interceptor(Meanwhile { target, event, happened });
    (Ledger::new(DynamoDb::from_conf(config.build()), &lab.table), happened)
}
