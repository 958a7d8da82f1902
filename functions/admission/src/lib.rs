//! The way in: a challenge, and a pass for the right answer.

mod answer;
mod challenge;
mod entry;
mod token;

use std::time::Duration;

use api::{Code, Problem, Reply, respond, segments};
use context::{Context, ContextError};
use http::Method;
use lambda_http::{Body, Request, Response};
use ledger::Ledger;
use process::Snapshots;
use runtime::{Clock, PassKeys};
use stock::Stock;

/// Longest work on one request: a moment less than the 10 s after which Lambda ends the function, and nobody is answered.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(9);

/// Seconds after which a client may ask again when a part of the system did not answer.
const RETRY_AFTER_S: u32 = 2;

/// What a request counts as that got a challenge, and one that got a pass.
const CHALLENGED: &str = "challenged";
const ADMITTED: &str = "admitted";

/// What the function talks to.
#[derive(Clone)]
pub struct Deps {
    /// Redis.
    pub stock: Stock,
    /// DynamoDB.
    pub ledger: Ledger,
    /// What is known of the ledger.
    pub snapshots: Snapshots,
    /// What passes are sealed with.
    pub keys: PassKeys,
    /// The time.
    pub clock: Clock,
}

impl Deps {
    /// What the settings name.
    ///
    /// # Errors
    /// If a setting is missing or of no use.
    pub fn new(context: &Context) -> Result<Self, ContextError> {
        Ok(Self {
            stock: context.stock()?,
            ledger: context.ledger()?,
            snapshots: context.snapshots()?,
            keys: context.pass_keys()?,
            clock: context.clock(),
        })
    }
}

/// Answers one request.
pub async fn handle(deps: &Deps, request: Request) -> Response<Body> {
    let answered = tokio::time::timeout(ANSWER_TIMEOUT, answer(deps, &request)).await;
    let reply = answered.unwrap_or_else(|late| Err(overloaded(&late)));
    if let ["v1", "sales", sale, what @ ("challenges" | "tokens")] = segments(&request).as_slice() {
        let good = if *what == "tokens" { ADMITTED } else { CHALLENGED };
        deps.snapshots.count_answer(sale, reply.as_ref().map_or_else(|problem| problem.code().as_str(), |_| good));
    }
    respond(reply)
}

async fn answer(deps: &Deps, request: &Request) -> Reply {
    match (request.method(), segments(request).as_slice()) {
        (&Method::POST, ["v1", "sales", sale, "challenges"]) => challenge::challenge(deps, request, sale).await,
        (&Method::POST, ["v1", "sales", sale, "tokens"]) => token::token(deps, request, sale).await,
        _ => Err(Problem::new(Code::UnknownRoute)),
    }
}

/// A part did not answer. The log has the reason, the client hears when to try again.
fn overloaded(error: &(dyn std::error::Error + 'static)) -> Problem {
    tracing::error!(error, "a part did not answer");
    Problem::new(Code::Overloaded).retry_after_s(RETRY_AFTER_S)
}
