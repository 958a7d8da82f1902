use std::fmt::Debug;
use std::future::Future;
use std::time::Duration;

use lambda_runtime::{Diagnostic, Error, LambdaEvent, service_fn};
use serde::{Deserialize, Serialize};

use crate::Metrics;

/// The time limit of a request: a little less than Lambda's 10 s, after which the client would get no answer.
pub const ANSWER_TIMEOUT: Duration = Duration::from_secs(9);
/// The same for an operator's request, for which Lambda allows 29 s.
pub const OPERATOR_ANSWER_TIMEOUT: Duration = Duration::from_secs(27);

/// Handles the events of a queue, a stream or a schedule one by one, and publishes metrics after each, since Lambda may
/// freeze the process until the next one. Runs for the life of the process. Fails if Lambda or a stand-in for it did
/// not start the process.
pub async fn serve_events<E, R, X, F>(metrics: Metrics, handler: impl Fn(E) -> F) -> Result<(), Error>
where
    E: for<'de> Deserialize<'de>,
    R: Serialize,
    X: Into<Diagnostic> + Debug,
    F: Future<Output = Result<R, X>>,
{
    let (metrics, handler) = (&metrics, &handler);
    lambda_runtime::run(service_fn(move |event: LambdaEvent<E>| async move {
        // Boxed: the compiler gives up on a future that contains all of a function's futures.
        let handled = Box::pin(handler(event.payload)).await;
        metrics.publish();
        handled
    }))
    .await
}
