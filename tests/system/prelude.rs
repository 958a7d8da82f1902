//! What tests of the whole system use everywhere.

pub(crate) use std::collections::{BTreeMap, BTreeSet, HashMap};
pub(crate) use std::net::SocketAddr;
pub(crate) use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
pub(crate) use std::sync::{Arc, LazyLock, Mutex};
pub(crate) use std::time::{Duration, Instant};

pub(crate) use aws_lambda_events::sqs::{SqsBatchResponse, SqsEvent};
pub(crate) use aws_sdk_dynamodb::Client as DynamoDb;
pub(crate) use aws_sdk_dynamodb::types::AttributeValue;
pub(crate) use aws_sdk_sqs::Client as Sqs;
pub(crate) use aws_sdk_sqs::types::Message;
pub(crate) use context::{Context, ContextError};
pub(crate) use futures::future::{BoxFuture, join_all};
pub(crate) use futures::{FutureExt, StreamExt, stream};
pub(crate) use history::{Clocks, Recorder, Redis};
pub(crate) use lambda_http::{Body, Response};
pub(crate) use ledger::{Ledger, Placed};
pub(crate) use local::paths;
pub(crate) use messaging::queue::{ExpiryMessage, OrderMessage};
pub(crate) use runtime::{AwsClient, Clock, Settings};
pub(crate) use sale::*;
pub(crate) use serde_json::{Value, json};
pub(crate) use stock::Stock;
pub(crate) use tests::{Conduct, FaultyAws, Reach, Service, fresh_id, fresh_reservation, round, terms, user};
pub(crate) use uuid::Uuid;

pub(crate) use crate::answer::{Answer, Handler};
pub(crate) use crate::ask::{Ask, SALE, Who};
pub(crate) use crate::calls::{Calls, redis_calls};
pub(crate) use crate::catalog::shown;
pub(crate) use crate::cloud::cloud;
pub(crate) use crate::events::{self, sample};
pub(crate) use crate::heal::{heal, sending_at_once};
pub(crate) use crate::lab::{Lab, PATIENT, expiry_batch, listed, message_batch, movable_clock, texts};
pub(crate) use crate::openapi::OPENAPI;
pub(crate) use crate::parts::{Parts, lambda_timeout};
pub(crate) use crate::recording::{ask_function, recorded_answer};
pub(crate) use crate::resources::{items, receive, receive_batches};
pub(crate) use crate::rounds;
pub(crate) use crate::shop::{Shop, in_s, new_sale};

pub(crate) fn now() -> EpochMs {
    Clock::system().now()
}

/// How often a condition is checked.
const POLL: Duration = Duration::from_millis(50);
/// From then on a wait is told, so that the output of a test that the runner ends says what it waited for.
const TOLD_AFTER: Duration = Duration::from_secs(2);

/// Waits until `look` returns something. The runner alone limits how long.
pub(crate) async fn until<T>(what: &str, mut look: impl AsyncFnMut() -> Option<T>) -> T {
    let (began, mut is_told) = (Instant::now(), false);
    loop {
        if let Some(found) = look().await {
            return found;
        }
        if !is_told && began.elapsed() > TOLD_AFTER {
            eprintln!("waiting until {what}");
            is_told = true;
        }
        tokio::time::sleep(POLL).await;
    }
}
