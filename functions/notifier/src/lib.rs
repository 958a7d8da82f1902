//! Pushes the state of buyers' orders to their open connections.
//!
//! Delivery to each connection in the index is at least once, while the stream retries. After a failure, the message
//! and everything after it in the shard is sent again. The same process skips connections that already have it; another
//! process sends it twice, which does no harm, since a message carries the whole state. The newest state wins: only the
//! last change of an order in a batch is sent, and a shard has an order's states in sequence. Beyond that, buyers poll,
//! as they would without a connection.

mod delivered;
mod stream;
mod sync;

use std::time::Duration;

use context::{Serving, serve_events};
use futures::StreamExt;
use futures::future::join_all;
use ledger::{Connection, Ledger};
use messaging::push::{Gateway, Posted, StatusUpdate};
use process::TermsCache;
use runtime::{AwsError, Clock, StreamEvent, StreamResponse};
use tokio::time::{Instant, timeout_at};

pub use delivered::Delivered;
use stream::{StateChange, changes};

/// How many orders' buyers are notified concurrently. With ten connections each, that is a hundred calls, which one
/// process handles easily.
const ORDERS_AT_ONCE: usize = 10;
/// The time limit for a batch; what is not done by then is repeated. Less than the function's 30 s.
const BATCH_TIMEOUT: Duration = Duration::from_secs(20);

context::deps! {
    NotifierDeps(context) {
        pub ledger: Ledger = context.ledger()?,
        /// The terms of rounds, which have the names of prizes.
        pub terms: TermsCache = context.terms()?,
        pub gateway: Gateway = context.push_gateway()?,
        /// What has been delivered of batches that will be repeated.
        pub delivered: Delivered = Delivered::default(),
        pub clock: Clock = context.clock(),
    }
}

pub fn run() -> Serving {
    serve_events(NotifierDeps::new, async |deps: &NotifierDeps, event| Ok(handle(deps, event).await))
}

type TellError = Box<dyn std::error::Error + Send + Sync>;

/// Handles a batch. Lambda sends the first failed record, and all records after it, again.
pub async fn handle(deps: &NotifierDeps, event: StreamEvent) -> StreamResponse {
    let changes = changes(event);
    let deadline = Instant::now() + BATCH_TIMEOUT;
    let told = changes.iter().map(async |change| {
        let error: TellError = match timeout_at(deadline, tell(deps, change)).await {
            Ok(Ok(())) => return None,
            Ok(Err(error)) => error,
            Err(late) => late.into(),
        };
        let reservation_id = &change.order.reservation.id;
        tracing::error!(%reservation_id, error = &*error as &dyn std::error::Error, "the buyer could not be notified yet");
        Some(change.sequence_number.clone())
    });
    let told: Vec<_> = futures::stream::iter(told).buffer_unordered(ORDERS_AT_ONCE).collect().await;
    let mut response = StreamResponse::default();
    response.set_failures(told.into_iter().flatten());
    if response.batch_item_failures.is_empty() {
        deps.delivered.forget(changes.iter().map(StateChange::record));
    }
    response
}

/// Notifies one buyer on all connections. A failing connection does not hold up the others.
async fn tell(deps: &NotifierDeps, change: &StateChange) -> Result<(), TellError> {
    let connections = deps.ledger.connections_of(&change.order.reservation.user, deps.clock.now()).await?;
    if connections.is_empty() {
        return Ok(());
    }
    let update = StatusUpdate::of(&change.order, deps.terms.award_of(&change.order).await?);
    let posts = connections.iter().map(|connection| post(deps, change, connection, &update));
    let failed = join_all(posts).await.into_iter().filter_map(Result::err).next();
    failed.map_or(Ok(()), |error| {
        tracing::warn!(error = &error as &dyn std::error::Error, "API Gateway did not take a message");
        Err(error.into())
    })
}

async fn post(
    deps: &NotifierDeps,
    change: &StateChange,
    to: &Connection,
    update: &StatusUpdate,
) -> Result<(), AwsError> {
    let record = change.record();
    if deps.delivered.has(&record, &to.id) {
        return Ok(());
    }
    match deps.gateway.post(&to.id, update).await? {
        Posted::Yes => {
            deps.delivered.note(&record, &to.id);
            tracing::info!(reservation_id = %change.order.reservation.id, state = change.order.state.as_str(), "pushed");
        }
        // If this fails, the next message finds the connection gone again, or its item expires.
        Posted::Gone => {
            if let Err(error) = deps.ledger.disconnect(&to.id).await {
                tracing::warn!(error = &error as &dyn std::error::Error, "a closed connection could not be deleted");
            }
        }
    }
    Ok(())
}
