//! Emits events for the merchant's systems: puts what happens in the ledger on the deployment's event bus.
//!
//! Delivery is at least once. Each write to the ledger is in its stream, and a batch is repeated from the first record
//! that is not on the bus yet, for as long as the stream keeps it. A repeated event has the same id, since it is made
//! from the change alone. A record that cannot be read, or whose event the bus refuses for its content, does not hold
//! up others: it goes into a queue that raises an alarm.

mod bus;
mod event;

use std::collections::BTreeSet;
use std::time::Duration;

use context::{Serving, serve_events};
use futures::StreamExt;
use futures::future::BoxFuture;
use messaging::queue::EmitterFailures;
use runtime::{AwsClient, StreamEvent, StreamResponse};
use tokio::time::{Instant, timeout_at};

use crate::bus::{AT_ONCE, Bus, Refused};
pub use crate::event::Event;
use crate::event::Read;

/// Concurrent calls to the bus: with [`AT_ONCE`] events each, a batch takes three rounds of calls.
const CALLS_AT_ONCE: usize = 4;
/// How often a failed call is tried, and the pause in between: repeating a whole batch would hold up all behind it.
const TRIES: usize = 3;
const PAUSE: Duration = Duration::from_millis(500);
/// The time limit for a batch; what is not done by then is repeated. Less than the function's 30 s.
const BATCH_TIMEOUT: Duration = Duration::from_secs(20);

context::deps! {
    EmitterDeps(context) {
        bus: Bus = Bus::new(AwsClient::event_bridge(context.aws()), context.settings().required("EVENT_BUS_NAME")?),
        pub failures: EmitterFailures = context.emitter_failures()?,
    }
}

pub fn run() -> Serving {
    serve_events(EmitterDeps::new, async |deps: &EmitterDeps, event| Ok(handle(deps, event).await))
}

/// Handles a batch. Lambda sends the first failed record, and all records after it, again.
pub async fn handle(deps: &EmitterDeps, batch: StreamEvent) -> StreamResponse {
    let deadline = Instant::now() + BATCH_TIMEOUT;
    let records: Vec<Read> = batch.records.into_iter().map(Read::from).collect();
    let to_tell: Vec<(usize, &Event)> = (records.iter().enumerate())
        .flat_map(|(at, read)| read.events.iter().flatten().map(move |event| (at, event)))
        .collect();
    // Boxed one by one: with a lazy map the compiler cannot prove that the future is `Send`.
    let mut calls: Vec<BoxFuture<'_, Refused>> = Vec::new();
    for chunk in to_tell.chunks(AT_ONCE) {
        calls.push(Box::pin(put(deps, chunk, deadline)));
    }
    let answers: Vec<Refused> = futures::stream::iter(calls).buffered(CALLS_AT_ONCE).collect().await;

    let (mut again, mut never) = (BTreeSet::new(), BTreeSet::new());
    for refused in answers {
        again.extend(refused.for_now);
        never.extend(refused.for_good);
    }
    for (at, read) in records.iter().enumerate() {
        if let Err(error) = &read.events {
            tracing::error!(error = error as &dyn std::error::Error, "no event can be made of a record");
            never.insert(at);
        }
    }
    // Records that are repeated anyway are kept then.
    for at in never.difference(&again.clone()) {
        if !keep(deps, &records[*at], deadline).await {
            again.insert(*at);
        }
    }
    tracing::info!(events = to_tell.len(), again = again.len(), kept = never.len(), "events emitted");
    let mut response = StreamResponse::default();
    response.set_failures(again.into_iter().map(|at| records[at].sequence_number.clone()));
    response
}

/// Puts events on the bus. Returns which records have an event that is not there.
async fn put(deps: &EmitterDeps, events: &[(usize, &Event)], deadline: Instant) -> Refused {
    let plain: Vec<&Event> = events.iter().map(|(_, event)| *event).collect();
    let mut tries_left = TRIES;
    let answered = loop {
        let answered = timeout_at(deadline, deps.bus.put(&plain)).await;
        tries_left -= 1;
        if !matches!(answered, Ok(Err(_))) || tries_left == 0 || Instant::now() + PAUSE >= deadline {
            break answered;
        }
        tokio::time::sleep(PAUSE).await;
    };
    let error: Box<dyn std::error::Error + Send + Sync> = match answered {
        Ok(Ok(Refused { for_now, for_good })) => {
            let records = |places: BTreeSet<usize>| places.into_iter().map(|place| events[place].0).collect();
            return Refused { for_now: records(for_now), for_good: records(for_good) };
        }
        Ok(Err(error)) => error.into(),
        Err(late) => late.into(),
    };
    tracing::error!(error = &*error as &dyn std::error::Error, events = events.len(), "events are not on the bus yet");
    Refused { for_now: events.iter().map(|(at, _)| *at).collect(), ..Refused::default() }
}

/// Keeps a record of which no event can be made. Returns whether that succeeded.
async fn keep(deps: &EmitterDeps, read: &Read, deadline: Instant) -> bool {
    match timeout_at(deadline, deps.failures.keep(&read.record.to_string())).await {
        Ok(Ok(())) => true,
        Ok(Err(error)) => {
            tracing::error!(error = &error as &dyn std::error::Error, "a record is not kept yet");
            false
        }
        Err(_) => false,
    }
}
