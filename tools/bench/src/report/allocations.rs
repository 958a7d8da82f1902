//! Allocations of the reservation function's handler from event to answer, counted in this process, including the Redis
//! and SQS clients.

use std::time::Duration;

use allocation_counter::measure;
use anyhow::{Context as _, Result, ensure};
use axum::body::Bytes;
use context::Context;
use lambda_http::request::LambdaRequest;
use lambda_http::{Body, Request, Response};
use reservation::{ReservationDeps, handle};
use runtime::{Clock, Settings, aws_config_at};
use tokio::runtime::{Builder, Runtime};

use super::shop::settings;

/// Requests before the measured one, so that the process has filled its caches.
pub(crate) const WARM: usize = 3;

/// The handler on one thread, where every allocation is counted.
pub(crate) struct Handler {
    runtime: Runtime,
    deps: ReservationDeps,
}

impl Handler {
    /// Must not be called from inside another runtime.
    pub(crate) fn new(redis_url: &str, endpoint: &str) -> Result<Self> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let credentials = aws_sdk_sqs::config::Credentials::new("test", "test", None, None, "bench");
        let config = aws_config_at(endpoint, "us-east-1", credentials);
        let deps = ReservationDeps::new(&Context::new(Settings::given(settings(redis_url)), config, Clock::system()))?;
        Ok(Self { runtime, deps })
    }

    /// Runs the handler's background tasks for this long.
    pub(crate) fn rest(&self, time: Duration) {
        self.runtime.block_on(tokio::time::sleep(time));
    }

    /// Allocations of the last of these requests.
    pub(crate) fn count(&self, requests: &[Bytes], status: u16) -> Result<u64> {
        let (last, before) = requests.split_last().context("a request")?;
        let answer = |event: &Bytes| -> Result<Response<Body>> {
            let request = request(event)?;
            Ok(self.runtime.block_on(handle(&self.deps, request)))
        };
        for event in before {
            answer(event)?;
        }
        let mut answered = None;
        let counted = measure(|| answered = Some(answer(last)));
        let answered = answered.context("an answer")??;
        ensure!(answered.status() == status, "{} instead of {status}", answered.status());
        Ok(counted.count_total)
    }
}

/// Allocations of a handler that only reads the event and answers.
pub(crate) fn of_nothing(event: &Bytes) -> Result<u64> {
    let mut answered = Ok(());
    let counted = measure(|| {
        answered = request(event).map(|request| {
            let response: Response<Body> = Response::new(Body::Empty);
            drop((request, response));
        });
    });
    answered.map(|()| counted.count_total)
}

fn request(event: &Bytes) -> Result<Request> {
    Ok(serde_json::from_slice::<LambdaRequest>(event)?.into())
}
