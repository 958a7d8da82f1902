//! Makes something happen while a request is on its way to DynamoDB.

use tokio::runtime::Handle;
use tokio::task::block_in_place;

use crate::hooks::before_send;
use crate::prelude::*;

/// A ledger on the lab's table. `event` happens once, after the first request of this kind is built and before it is
/// sent. Tells whether it has happened. Needs a multi-threaded runtime.
///
/// `target` is the end of the request's target, such as `PutItem`, or a part of its body.
pub(crate) async fn ledger_with(
    lab: &Lab,
    target: &'static str,
    event: impl FnOnce(Ledger) -> BoxFuture<'static, ()> + Send + 'static,
) -> (Ledger, &'static AtomicBool) {
    let happened: &AtomicBool = Box::leak(Box::default());
    let (ledger, event) = (lab.ledger.clone(), Mutex::new(Some(event)));
    let hook = before_send(move |context| {
        let request = context.request();
        let is_target = request.headers().get("x-amz-target").unwrap_or_default().ends_with(target)
            || String::from_utf8_lossy(request.body().bytes().unwrap_or_default()).contains(target);
        if is_target && let Some(event) = event.lock().unwrap().take() {
            block_in_place(|| Handle::current().block_on(event(ledger.clone())));
            happened.store(true, Ordering::Relaxed);
        }
        Ok(())
    });
    let config = cloud().await.deployment.patient_aws_config();
    let config = aws_sdk_dynamodb::config::Builder::from(&config).interceptor(hook);
    (Ledger::new(DynamoDb::from_conf(config.build()), &lab.table), happened)
}
