//! The line in front of a sale: tickets for signed-in users, and a public document that says how far the line has
//! moved.

mod deps;
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

use api::{Code, Problem, Reply, respond, segments};
use context::{Error, serve_crowd};
use http::Method;
use lambda_http::{Body, Request, Response};
use runtime::ANSWER_TIMEOUT;
use sale::{EpochMs, LineTerms, Round};

pub use crate::deps::WaitingRoomDeps;
pub use crate::missed::Missed;
pub use crate::tracked::Lines;

/// The code under which tickets are counted.
const IN_LINE: &str = "in_line";
/// How long after its sale has closed Redis keeps a line, in seconds.
const KEPT_S: u32 = 24 * 60 * 60;

/// Serves until Lambda ends the process. Fails if a setting is missing or unusable, or the Runtime API does not answer.
pub async fn run() -> Result<(), Error> {
    serve_crowd(WaitingRoomDeps::new, |deps, request| async move { handle(&deps, request).await }).await
}

/// Answers one request.
pub async fn handle(deps: &WaitingRoomDeps, request: Request) -> Response<Body> {
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

async fn answer(deps: &WaitingRoomDeps, request: &Request) -> Reply {
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
