//! Admission: challenges, and passes for right answers.

mod answer;
mod challenge;
mod deps;
mod groups;
mod token;

pub use crate::deps::AdmissionDeps;
use api::{Code, Problem, Reply, respond, segments};
use context::{Serving, serve_crowd};
use lambda_http::{Body, Request, Response};
use runtime::ANSWER_TIMEOUT;

/// The codes under which challenges and passes are counted.
const CHALLENGED: &str = "challenged";
const ADMITTED: &str = "admitted";

pub fn run() -> Serving {
    serve_crowd(AdmissionDeps::new, |deps, request| async move { handle(&deps, request).await })
}

pub async fn handle(deps: &AdmissionDeps, request: Request) -> Response<Body> {
    let answered = tokio::time::timeout(deps.clock.limit(ANSWER_TIMEOUT), answer(deps, &request)).await;
    let reply = answered.unwrap_or_else(|late| Err(Problem::unanswered(late)));
    if let ["v1", "sales", sale, what @ ("challenges" | "tokens")] = segments(&request).as_slice() {
        let good = if *what == "tokens" { ADMITTED } else { CHALLENGED };
        deps.snapshots.count_answer(sale, reply.as_ref().map_or_else(|problem| problem.code().as_str(), |_| good));
    }
    respond(reply)
}

async fn answer(deps: &AdmissionDeps, request: &Request) -> Reply {
    match (request.method().as_str(), segments(request).as_slice()) {
        ("POST", ["v1", "sales", sale, "challenges"]) => challenge::challenge(deps, request, sale).await,
        ("POST", ["v1", "sales", sale, "tokens"]) => token::token(deps, request, sale).await,
        _ => Err(Problem::new(Code::UnknownRoute)),
    }
}
