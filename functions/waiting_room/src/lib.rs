//! The line in front of a sale: tickets for signed-in users, and a public document that says how far the line has
//! moved.

mod look;
mod looks;
mod missed;
mod ticket;
mod tracked;

/// The synchronisation types of state that requests share. `tests/schedules` replaces them to control the schedule.
mod sync {
    pub(crate) use std::sync::{Mutex, PoisonError};

    pub(crate) use cache::{Clock, Moment};
    pub(crate) use moka::sync::Cache;
    pub(crate) use tokio::sync::Mutex as AsyncMutex;
}

use std::sync::Arc;

use api::{Code, Problem, Reply, respond, segments};
use context::{Context, ContextError, Error, serve_crowd};
use gate::{Gate, PassKeys, VisitorCounts};
use http::Method;
use lambda_http::{Body, Request, Response};
use ledger::Ledger;
use process::Snapshots;
use runtime::{ANSWER_TIMEOUT, Clock};
use sale::{EpochMs, LineTerms, Round};
use stock::Stock;

pub use crate::missed::Missed;
pub use crate::tracked::Lines;

/// The code under which tickets are counted.
const IN_LINE: &str = "in_line";
/// How long after its sale has closed Redis keeps a line, in seconds.
const KEPT_S: u32 = 24 * 60 * 60;

/// The function's dependencies.
#[derive(Clone)]
pub struct Deps {
    /// Redis.
    pub stock: Stock,
    /// DynamoDB.
    pub ledger: Ledger,
    /// Published sales and stops.
    pub snapshots: Snapshots,
    /// The keys that sign passes, from which the keys of tickets are derived.
    pub keys: PassKeys,
    /// This process's counts of users and addresses.
    pub counts: Arc<VisitorCounts>,
    /// This process's cache of lines.
    pub lines: Lines,
    /// Users who got tickets without Redis.
    pub missed: Missed,
    /// The clock.
    pub clock: Clock,
}

impl Deps {
    /// Makes the dependencies from the settings. Fails if a setting is missing or unusable.
    pub fn new(context: &Context) -> Result<Self, ContextError> {
        Ok(Self {
            stock: context.stock()?,
            ledger: context.ledger()?,
            snapshots: context.snapshots()?,
            keys: context.pass_keys()?,
            counts: Arc::default(),
            lines: Lines::new(),
            missed: Missed::default(),
            clock: context.clock(),
        })
    }

    fn gate(&self) -> Gate<'_> {
        let Self { stock, ledger, snapshots, keys, counts, clock, .. } = self;
        Gate { stock, ledger, snapshots, keys, counts, memberships: None, clock: *clock }
    }
}

/// Serves until Lambda ends the process. Fails if a setting is missing or unusable, or the Runtime API does not answer.
pub async fn run() -> Result<(), Error> {
    serve_crowd(Deps::new, |deps, request| async move { handle(&deps, request).await }).await
}

/// Answers one request.
pub async fn handle(deps: &Deps, request: Request) -> Response<Body> {
    let answered = tokio::time::timeout(deps.clock.limit(ANSWER_TIMEOUT), answer(deps, &request)).await;
    let reply = answered.unwrap_or_else(|late| Err(Problem::unanswered(late)));
    match (request.method(), segments(&request).as_slice()) {
        (&Method::POST, ["v1", "sales", sale, "tickets"]) => {
            let code = reply.as_ref().map_or_else(|problem| problem.code().as_str(), |_| IN_LINE);
            deps.snapshots.count_answer(sale, code);
            respond(reply)
        }
        (&Method::GET, ["v1", "sales", _, "line"]) => look::respond(reply),
        _ => respond(reply),
    }
}

async fn answer(deps: &Deps, request: &Request) -> Reply {
    match (request.method(), segments(request).as_slice()) {
        (&Method::POST, ["v1", "sales", sale, "tickets"]) => ticket::ticket(deps, request, sale).await,
        (&Method::GET, ["v1", "sales", sale, "line"]) => look::look(deps, sale).await,
        _ => Err(Problem::new(Code::UnknownRoute)),
    }
}

/// The line's terms of a round.
///
/// # Errors
/// 404 if the round has no line.
fn line_of(round: &Round) -> Result<LineTerms, Problem> {
    round.terms.line.ok_or_else(|| Problem::new(Code::UnknownSale).detail("the sale has no line"))
}

/// When tickets are first given out.
const fn tickets_from(round: &Round, line: LineTerms) -> EpochMs {
    round.terms.opens_at_ms.minus_s(line.opens_early_s)
}

const fn expires_at(round: &Round) -> EpochMs {
    round.terms.closes_at_ms.plus_s(KEPT_S)
}
