//! The line in front of a sale: tickets for signed-in users, and a public document of how far it has moved.

mod deps;
mod get_line;
mod line_cache;
mod lines;
mod missed;
mod of_round;
mod sync;
mod ticket;
mod tracked;

use api::{Code, Problem, Reply, respond, segments};
use context::{Serving, serve_crowd};
use lambda_http::{Body, Request, Response};
use runtime::ANSWER_TIMEOUT;

pub use crate::deps::WaitingRoomDeps;
pub use crate::lines::Lines;
pub use crate::missed::Missed;

/// The code under which tickets are counted.
const IN_LINE: &str = "in_line";

pub fn run() -> Serving {
    serve_crowd(WaitingRoomDeps::new, |deps, request| async move { handle(&deps, request).await })
}

pub async fn handle(deps: &WaitingRoomDeps, request: Request) -> Response<Body> {
    let answered = tokio::time::timeout(deps.clock.limit(ANSWER_TIMEOUT), answer(deps, &request)).await;
    let reply = answered.unwrap_or_else(|late| Err(Problem::unanswered(late)));
    match (request.method().as_str(), segments(&request).as_slice()) {
        ("POST", ["v1", "sales", sale, "tickets"]) => {
            let code = reply.as_ref().map_or_else(|problem| problem.code().as_str(), |_| IN_LINE);
            deps.snapshots.count_answer(sale, code);
            respond(reply)
        }
        ("GET", ["v1", "sales", _, "line"]) => get_line::respond(reply),
        _ => respond(reply),
    }
}

async fn answer(deps: &WaitingRoomDeps, request: &Request) -> Reply {
    match (request.method().as_str(), segments(request).as_slice()) {
        ("POST", ["v1", "sales", sale, "tickets"]) => ticket::ticket(deps, request, sale).await,
        ("GET", ["v1", "sales", sale, "line"]) => get_line::get_line(deps, sale).await,
        _ => Err(Problem::new(Code::UnknownRoute)),
    }
}
