use std::fmt::Debug;
use std::future::Future;

use lambda_runtime::{Diagnostic, Error, LambdaEvent, service_fn};
use serde::{Deserialize, Serialize};

use crate::Metrics;

/// Handles the events of a queue, a stream or a schedule, one after the other, and publishes what was counted after each:
/// Lambda may stop the process until the next one. Does not return while the process lives.
///
/// # Errors
/// If the process was not started by Lambda or something like it.
pub async fn serve_events<E, R, X, F>(metrics: Metrics, handler: impl Fn(E) -> F) -> Result<(), Error>
where
    E: for<'de> Deserialize<'de>,
    R: Serialize,
    X: Into<Diagnostic> + Debug,
    F: Future<Output = Result<R, X>>,
{
    let (metrics, handler) = (&metrics, &handler);
    lambda_runtime::run(service_fn(move |event: LambdaEvent<E>| async move {
        // Boxed: the compiler gives up on a future that has all of a function's futures in it.
        let handled = Box::pin(handler(event.payload)).await;
        metrics.publish();
        handled
    }))
    .await
}
