//! Tells buyers what became of their reservations, on the connections that they have open.
//!
//! Promised is: a message goes to every connection that the index shows, at least once, as long as the stream's retries
//! last. One that failed is sent again with all that comes after it in the shard; who has it already is left out if the
//! same process runs again, and hears it twice if not. It says where the reservation stands, so twice does no harm. The
//! newest state wins: of several in one batch only the last is sent, and a shard gives the states of an order in order.
//! Beyond that buyers ask, as they would without a connection.

mod delivered;
mod stream;

use std::time::Duration;

use context::{Context, ContextError};
use futures::StreamExt;
use futures::future::join_all;
use ledger::{Connection, Ledger};
use process::TermsCache;
use push::{Gateway, Posted, PushError, StatusUpdate};
use runtime::{Clock, StreamResponse};
use tokio::time::{Instant, timeout_at};

pub use delivered::Delivered;
pub use stream::StreamEvent;
use stream::{StateChange, changes};

/// Orders whose buyers are told at once. With ten connections each it is a hundred calls, which one process makes easily.
const ORDERS_AT_ONCE: usize = 10;
/// Longest work on a batch: what is not done by then comes back. Less than the 30 s that the function has.
const BATCH_TIMEOUT: Duration = Duration::from_secs(20);

/// The function's dependencies.
#[derive(Clone)]
pub struct Deps {
    /// DynamoDB.
    pub ledger: Ledger,
    /// The terms of rounds, for the names of prizes.
    pub terms: TermsCache,
    /// The connections.
    pub gateway: Gateway,
    /// What is sent of batches that come back.
    pub delivered: Delivered,
    /// The time.
    pub clock: Clock,
}

impl Deps {
    /// Makes the dependencies from the settings.
    ///
    /// # Errors
    /// If a setting is missing or unusable.
    pub fn new(context: &Context) -> Result<Self, ContextError> {
        Ok(Self {
            ledger: context.ledger()?,
            terms: context.terms()?,
            gateway: context.push_gateway()?,
            delivered: Delivered::default(),
            clock: context.clock(),
        })
    }
}

/// Why somebody was not told.
type TellError = Box<dyn std::error::Error + Send + Sync>;

/// Handles a batch. Lambda gives the first record that failed again, and all that follow it.
pub async fn handle(deps: &Deps, event: StreamEvent) -> StreamResponse {
    let changes = changes(event);
    let deadline = Instant::now() + BATCH_TIMEOUT;
    let told = changes.iter().map(async |change| {
        let error: TellError = match timeout_at(deadline, tell(deps, change)).await {
            Ok(Ok(())) => return None,
            Ok(Err(error)) => error,
            Err(late) => late.into(),
        };
        let reservation_id = &change.order.claim.id;
        tracing::error!(%reservation_id, error = &*error as &dyn std::error::Error, "the buyer is not told yet");
        Some(change.sequence_number.clone())
    });
    let told: Vec<_> = futures::stream::iter(told).buffer_unordered(ORDERS_AT_ONCE).collect().await;
    let failed: Vec<String> = told.into_iter().flatten().collect();
    if failed.is_empty() {
        deps.delivered.forget(&changes);
    }
    StreamResponse::of(failed)
}

/// Tells one buyer, on all connections that there are. One that fails keeps none of the others waiting.
async fn tell(deps: &Deps, change: &StateChange) -> Result<(), TellError> {
    let connections = deps.ledger.connections_of(&change.order.claim.user, deps.clock.now()).await?;
    if connections.is_empty() {
        return Ok(());
    }
    let update = StatusUpdate::of(&change.order, deps.terms.award_of(&change.order).await?);
    let posts = connections.iter().map(|connection| post(deps, change, connection, &update));
    let failed = join_all(posts).await.into_iter().filter_map(Result::err).next();
    failed.map_or(Ok(()), |error| Err(error.into()))
}

async fn post(deps: &Deps, change: &StateChange, to: &Connection, update: &StatusUpdate) -> Result<(), PushError> {
    if deps.delivered.has(change, &to.id) {
        return Ok(());
    }
    match deps.gateway.post(&to.id, update).await? {
        Posted::Yes => {
            deps.delivered.note(change, &to.id);
            tracing::info!(reservation_id = %change.order.claim.id, state = change.order.state.as_str(), "pushed");
        }
        // If it stays, the next message finds it gone again, or time takes it.
        Posted::Gone => {
            if let Err(error) = deps.ledger.disconnect(&to.id).await {
                tracing::warn!(error = &error as &dyn std::error::Error, "a connection that has ended is still noted");
            }
        }
    }
    Ok(())
}
