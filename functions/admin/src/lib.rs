//! The operators' API: sales from draft to end, blocks of users, audits of rounds, orders, exports and refunds.

mod beacon;
mod busy;
mod campaigns;
mod deps;
mod document;
mod export;
mod figures;
mod groups;
mod guard;
mod life;
mod lookup;
mod new_allocation;
mod order_document;
mod orders;
mod pictures;
mod query;
mod refunds;
mod report;
mod update;
mod winners;

use api::{Code, Problem, Reply, json, no_body, respond, segments};
use context::{Serving, serve};
use fulfilment::audit;
use http::StatusCode;
use lambda_http::{Body, Request, Response};
use messaging::queue::{Redriven, redrive};
use runtime::OPERATOR_ANSWER_TIMEOUT;
use serde_json::json;

pub use crate::deps::{AdminDeps, QueueUrls};
use crate::document::AuditDocument;
use crate::lookup::{round_of, round_with, sale_of};
pub use crate::pictures::PictureHosts;

pub fn run() -> Serving {
    serve(AdminDeps::new, |deps, request| async move { handle(&deps, request).await })
}

/// Answers one request of an operator. Anybody else gets 403 for every route.
pub async fn handle(deps: &AdminDeps, request: Request) -> Response<Body> {
    let answered = tokio::time::timeout(deps.clock.limit(OPERATOR_ANSWER_TIMEOUT), answer(deps, &request)).await;
    respond(answered.unwrap_or_else(|late| Err(Problem::unanswered(late))))
}

async fn answer(deps: &AdminDeps, request: &Request) -> Reply {
    deps.operators.check(request)?;
    let segments = segments(request);
    let ["v1", "admin", path @ ..] = segments.as_slice() else { return Err(Problem::new(Code::UnknownRoute)) };
    match (request.method().as_str(), path) {
        ("POST", ["sales"]) => life::create(deps, request).await,
        ("GET", ["sales"]) => Box::pin(life::list(deps, request)).await,
        ("GET", ["sales", sale]) => life::get_sale(deps, sale).await,
        ("DELETE", ["sales", sale]) => life::delete(deps, request, sale).await,
        ("POST", ["sales", sale, "edit"]) => Box::pin(life::edit(deps, request, sale)).await,
        ("POST", ["sales", sale, "withdraw"]) => Box::pin(life::withdraw(deps, request, sale)).await,
        ("POST", ["sales", sale, "duplicate"]) => life::duplicate(deps, request, sale).await,
        ("GET", ["sales", sale, "live"]) => {
            // Boxed: many concurrent AWS calls make a large future.
            Box::pin(figures::figures(deps, sale)).await
        }
        ("POST", ["sales", sale, "publish"]) => life::publish(deps, request, sale).await,
        ("POST", ["sales", sale, "pause"]) => update::pause(deps, request, sale).await,
        ("POST", ["sales", sale, "resume"]) => update::resume(deps, request, sale).await,
        ("POST", ["sales", sale, "close"]) => update::close(deps, request, sale).await,
        ("POST", ["sales", sale, "restock"]) => update::restock(deps, request, sale).await,
        ("POST", ["sales", sale, "rain"]) => update::rain(deps, request, sale).await,
        ("POST", ["sales", sale, "throttle"]) => guard::throttle(deps, request, sale).await,
        ("POST", ["sales", sale, "end_recurrence"]) => update::end_recurrence(deps, request, sale).await,
        ("GET", ["kill_switches"]) => guard::kill_switches(deps).await,
        ("POST", ["stop"]) => guard::stop(deps, request).await,
        ("POST", ["start"]) => guard::start(deps, request).await,
        ("GET", ["blocked"]) => guard::blocked(deps).await,
        ("POST", ["blocked"]) => guard::block(deps, request).await,
        ("DELETE", ["blocked", user @ ..]) if !user.is_empty() => guard::allow(deps, request, user).await,
        ("POST", ["allow"]) => guard::allow_named(deps, request).await,
        ("POST", ["groups", group, "users"]) => groups::add(deps, request, group).await,
        ("GET", ["groups", group, "users"]) => groups::page(deps, request, group).await,
        ("POST", ["groups", group, "users", "remove"]) => groups::remove(deps, request, group).await,
        ("POST", ["campaigns"]) => campaigns::put(deps, request).await,
        ("GET", ["campaigns"]) => campaigns::list(deps).await,
        ("POST", ["redrive", queue]) => redrive_from(deps, request, queue).await,
        ("POST", ["sales", sale, "rounds", round, "beacon"]) => beacon::post(deps, request, sale, round).await,
        ("GET", ["sales", sale, "rounds", round, "audit"]) => get_audit(deps, sale, round).await,
        ("POST", ["sales", sale, "rounds", round, "winners", "resend"]) => {
            winners::resend(deps, request, sale, round).await
        }
        ("GET", ["sales", sale, "rounds", round, "orders"]) => Box::pin(export::page(deps, request, sale, round)).await,
        ("GET", ["sales", sale, "rounds", round, "report"]) => Box::pin(report::page(deps, request, sale, round)).await,
        ("GET", ["orders"]) => Box::pin(orders::list(deps, request)).await,
        ("GET", ["orders", id]) => Box::pin(orders::get_order(deps, id)).await,
        ("GET", ["refunds"]) => Box::pin(refunds::list(deps, request)).await,
        ("POST", ["refunds", "refunded"]) => Box::pin(refunds::mark(deps, request)).await,
        _ => Err(Problem::new(Code::UnknownRoute)),
    }
}

async fn get_audit(deps: &AdminDeps, sale: &str, round: &str) -> Reply {
    let (latest, now) = (sale_of(deps, sale).await?, deps.clock.now());
    let id = round_of(&latest.offer, round.parse()?)?;
    let round = round_with(deps, latest, &id).await?;
    let audited = audit(&deps.stock, &deps.ledger, &round, now).await.map_err(Problem::unanswered)?;
    Ok(json(StatusCode::OK, &AuditDocument::of(audited)))
}

async fn redrive_from(deps: &AdminDeps, request: &Request, queue: &str) -> Reply {
    no_body(request)?;
    let queues = &deps.queues;
    let (from, to) = match queue {
        "orders" => (&queues.orders_dlq, &queues.orders),
        "expiry" => (&queues.expiry_dlq, &queues.expiry),
        "winners" => (&queues.winners_dlq, &queues.winners),
        "webhook" => (&queues.webhook_dlq, &queues.webhook),
        "quarantine" => (&queues.quarantine, &queues.orders),
        _ => {
            let queues = "queues are orders, expiry, winners, webhook and quarantine";
            return Err(Problem::new(Code::UnknownRoute).detail(queues));
        }
    };
    let Redriven { moved, may_be_more } = redrive(&deps.sqs, from, to).await.map_err(Problem::unanswered)?;
    tracing::warn!(queue, moved, may_be_more, "redriven");
    Ok(json(StatusCode::OK, &json!({ "moved": moved, "may_be_more": may_be_more })))
}
