use std::fmt::Debug;
use std::future::Future;
use std::time::Duration;

use lambda_runtime::{Diagnostic, Error, LambdaEvent, service_fn};
use serde::{Deserialize, Serialize};

use crate::Metrics;

/// Longest work on one request: a moment less than the 10 s after which Lambda ends the function, and nobody is answered.
pub const ANSWER_TIMEOUT: Duration = Duration::from_secs(9);
/// Likewise on an operator's request, for which Lambda allows 29 s.
pub const OPERATOR_ANSWER_TIMEOUT: Duration = Duration::from_secs(27);

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
