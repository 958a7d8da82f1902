//! Admission: challenges, and passes for right answers.

mod answer;
mod applicant;
mod challenge;
mod groups;
mod token;

use std::sync::Arc;

use api::{Code, GroupClaims, Problem, Reply, respond, segments};
use context::{Context, ContextError, Error, serve_crowd};
use gate::{Gate, Memberships, PassKeys, Rebuilds, VisitorCounts};
use http::Method;
use lambda_http::{Body, Request, Response};
use ledger::Ledger;
use process::Snapshots;
use runtime::{ANSWER_TIMEOUT, Clock};
use stock::Stock;

/// The codes under which challenges and passes are counted.
const CHALLENGED: &str = "challenged";
const ADMITTED: &str = "admitted";

/// The function's dependencies.
#[derive(Clone)]
pub struct Deps {
    /// Redis.
    pub stock: Stock,
    /// DynamoDB.
    pub ledger: Ledger,
    /// Published sales and stops.
    pub snapshots: Snapshots,
    /// The keys that sign passes.
    pub keys: PassKeys,
    /// This process's counts of users and addresses.
    pub counts: Arc<VisitorCounts>,
    /// The members of groups.
    pub memberships: Memberships,
    /// Asks for rounds that Redis has lost.
    pub rebuilds: Rebuilds,
    /// The clock.
    pub clock: Clock,
}

impl Deps {
    /// Makes the dependencies from the settings. Fails if a setting is missing or unusable.
    pub fn new(context: &Context) -> Result<Self, ContextError> {
        let claims = context.settings().optional("GROUP_CLAIM");
        let groups = claims.map_or_else(GroupClaims::usual, |claims| GroupClaims::new(&claims));
        let memberships = Memberships::new(context.ledger()?, groups, context.clock());
        Ok(Self {
            stock: context.stock()?,
            ledger: context.ledger()?,
            snapshots: context.snapshots()?,
            keys: context.pass_keys()?,
            counts: Arc::default(),
            memberships,
            rebuilds: Rebuilds::new(context.rebuild_queue()?, context.clock()),
            clock: context.clock(),
        })
    }

    fn gate(&self) -> Gate<'_> {
        let Self { stock, ledger, snapshots, keys, counts, memberships, clock, .. } = self;
        Gate { stock, ledger, snapshots, keys, counts, memberships: Some(memberships), clock: *clock }
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
