//! The operators' API: create and publish sales, watch, change and stop them, deny users, audit rounds, find and export
//! orders, and mark refunds.

mod beacon;
mod campaigns;
mod deps;
mod document;
mod export;
mod figures;
mod groups;
mod guard;
mod hot;
mod life;
mod new_allocation;
mod order_document;
mod orders;
mod pictures;
mod query;
mod refunds;
mod report;
mod steer;
mod winners;

use std::collections::HashMap;

use api::{Code, Problem, Reply, caller, json, json_body, no_body, respond, segments};
use context::{Error, serve};
use fulfilment::audit;
use http::{Method, StatusCode};
use lambda_http::{Body, Request, Response};
use ledger::{Created, Latest};
use queue::{Redriven, redrive};
use runtime::OPERATOR_ANSWER_TIMEOUT;
use sale::{InvalidTerms, LogEntry, Offer, Round, RoundId, RoundNumber, SaleId, SaleState, latest_rounds};

pub use crate::pictures::PictureHosts;

pub use crate::deps::{AdminDeps, QueueUrls};
use crate::document::{AuditDocument, LoggedSaleDocument, NewSale, RedriveDocument, SaleDocument, SalesDocument};
use crate::hot::hot;

/// Serves until Lambda ends the process. Fails if a setting is missing or unusable, or the Runtime API does not answer.
pub async fn run() -> Result<(), Error> {
    serve(AdminDeps::new, |deps, request| async move { handle(&deps, request).await }).await
}

/// Answers one request of an operator. Anybody else gets 403 for every route.
pub async fn handle(deps: &AdminDeps, request: Request) -> Response<Body> {
    let answered = tokio::time::timeout(deps.clock.limit(OPERATOR_ANSWER_TIMEOUT), answer(deps, &request)).await;
    respond(answered.unwrap_or_else(|late| Err(Problem::unanswered(late))))
}

async fn answer(deps: &AdminDeps, request: &Request) -> Reply {
    deps.operators.check(request)?;
    match (request.method(), segments(request).as_slice()) {
        (&Method::POST, ["v1", "admin", "sales"]) => create(deps, request).await,
        (&Method::GET, ["v1", "admin", "sales"]) => Box::pin(life::list(deps, request)).await,
        (&Method::GET, ["v1", "admin", "sales", sale]) => found(deps, sale).await,
        (&Method::DELETE, ["v1", "admin", "sales", sale]) => life::delete(deps, request, sale).await,
        (&Method::POST, ["v1", "admin", "sales", sale, "edit"]) => Box::pin(life::edit(deps, request, sale)).await,
        (&Method::POST, ["v1", "admin", "sales", sale, "withdraw"]) => {
            Box::pin(life::withdraw(deps, request, sale)).await
        }
        (&Method::POST, ["v1", "admin", "sales", sale, "duplicate"]) => life::duplicate(deps, request, sale).await,
        (&Method::GET, ["v1", "admin", "sales", sale, "live"]) => {
            // Boxed: many concurrent AWS calls make a large future.
            Box::pin(figures::figures(deps, sale)).await
        }
        (&Method::POST, ["v1", "admin", "sales", sale, "publish"]) => publish(deps, request, sale).await,
        (&Method::POST, ["v1", "admin", "sales", sale, "pause"]) => steer::pause(deps, request, sale).await,
        (&Method::POST, ["v1", "admin", "sales", sale, "resume"]) => steer::resume(deps, request, sale).await,
        (&Method::POST, ["v1", "admin", "sales", sale, "close"]) => steer::close(deps, request, sale).await,
        (&Method::POST, ["v1", "admin", "sales", sale, "restock"]) => steer::restock(deps, request, sale).await,
        (&Method::POST, ["v1", "admin", "sales", sale, "rain"]) => steer::rain(deps, request, sale).await,
        (&Method::POST, ["v1", "admin", "sales", sale, "isolate"]) => guard::isolate(deps, request, sale).await,
        (&Method::POST, ["v1", "admin", "sales", sale, "end_recurrence"]) => {
            steer::end_recurrence(deps, request, sale).await
        }
        (&Method::GET, ["v1", "admin", "switches"]) => guard::switches(deps).await,
        (&Method::POST, ["v1", "admin", "stop"]) => guard::stop(deps, request).await,
        (&Method::POST, ["v1", "admin", "start"]) => guard::start(deps, request).await,
        (&Method::GET, ["v1", "admin", "denied"]) => guard::denied(deps).await,
        (&Method::POST, ["v1", "admin", "denied"]) => guard::deny(deps, request).await,
        (&Method::DELETE, ["v1", "admin", "denied", user @ ..]) if !user.is_empty() => {
            guard::allow(deps, request, user).await
        }
        (&Method::POST, ["v1", "admin", "allow"]) => guard::allow_named(deps, request).await,
        (&Method::POST, ["v1", "admin", "groups", group, "users"]) => groups::add(deps, request, group).await,
        (&Method::GET, ["v1", "admin", "groups", group, "users"]) => groups::page(deps, request, group).await,
        (&Method::POST, ["v1", "admin", "groups", group, "users", "remove"]) => {
            groups::remove(deps, request, group).await
        }
        (&Method::POST, ["v1", "admin", "campaigns"]) => campaigns::put(deps, request).await,
        (&Method::GET, ["v1", "admin", "campaigns"]) => campaigns::list(deps).await,
        (&Method::POST, ["v1", "admin", "redrive", queue]) => redrive_from(deps, request, queue).await,
        (&Method::POST, ["v1", "admin", "sales", sale, "rounds", round, "beacon"]) => {
            beacon::post(deps, request, sale, round).await
        }
        (&Method::GET, ["v1", "admin", "sales", sale, "rounds", round, "audit"]) => look(deps, sale, round).await,
        (&Method::POST, ["v1", "admin", "sales", sale, "rounds", round, "winners", "resend"]) => {
            winners::resend(deps, request, sale, round).await
        }
        (&Method::GET, ["v1", "admin", "sales", sale, "rounds", round, "orders"]) => {
            Box::pin(export::page(deps, request, sale, round)).await
        }
        (&Method::GET, ["v1", "admin", "sales", sale, "rounds", round, "report"]) => {
            Box::pin(report::page(deps, request, sale, round)).await
        }
        (&Method::GET, ["v1", "admin", "orders"]) => Box::pin(orders::list(deps, request)).await,
        (&Method::GET, ["v1", "admin", "orders", id]) => Box::pin(orders::found(deps, id)).await,
        (&Method::GET, ["v1", "admin", "refunds"]) => Box::pin(refunds::list(deps, request)).await,
        (&Method::POST, ["v1", "admin", "refunds", "refunded"]) => Box::pin(refunds::mark(deps, request)).await,
        _ => Err(Problem::new(Code::UnknownRoute)),
    }
}

async fn create(deps: &AdminDeps, request: &Request) -> Reply {
    let (id, terms, recurrence) = json_body::<NewSale>(request)?.into_parts();
    deps.picture_hosts.check(&terms.goods.pictures)?;
    create_draft(deps, Offer::draft(id, terms, recurrence), entry(deps, request, "create")?).await
}

async fn create_draft(deps: &AdminDeps, mut offer: Offer, entry: LogEntry) -> Reply {
    let problems = offer.terms.problems();
    if !problems.is_empty() {
        let told = |problem: InvalidTerms| (problem.field().to_owned(), problem.to_string());
        return Err(Problem::invalid_fields(problems.into_iter().map(told)));
    }
    if offer.terms.closes_at_ms <= deps.clock.now() {
        return Err(invalid("closes_at", "closes_at is over"));
    }
    offer.keeps_apart().map_err(|error| invalid("closes_at", error))?;
    offer.beacon_comes_in_time().map_err(|error| invalid(error.field(), &error))?;
    offer.log.push(entry);
    match deps.ledger.create_offer(&offer).await.map_err(Problem::unanswered)? {
        Created::Now(offer) => Ok(json(StatusCode::CREATED, &SaleDocument::of(Latest { offer, round: None }))),
        Created::Before(offer) => Ok(json(StatusCode::OK, &SaleDocument::of(sale_of(deps, offer.id.as_str()).await?))),
        Created::Other(_) => Err(Problem::new(Code::SaleExists)),
    }
}

async fn publish(deps: &AdminDeps, request: &Request, sale: &str) -> Reply {
    no_body(request)?;
    let entry = entry(deps, request, "publish")?;
    let published = deps.ledger.publish(&sale_id(sale)?, &entry).await.map_err(Problem::unanswered)?;
    let published = published.ok_or_else(|| Problem::new(Code::UnknownSale))?;
    if published.offer.state == SaleState::Withdrawn {
        return Err(Problem::new(Code::NotAmendable).detail("it was withdrawn"));
    }
    Ok(json(StatusCode::OK, &SaleDocument::of(published)))
}

/// What is wrong with one field.
pub(crate) fn invalid(field: &str, detail: impl ToString) -> Problem {
    Problem::invalid_fields([(field.to_owned(), detail.to_string())])
}

/// A log entry for a request without an idempotency key, which can be repeated anyway.
fn entry(deps: &AdminDeps, request: &Request, action: &str) -> Result<LogEntry, Problem> {
    let (key, parameters) = (String::new(), String::new());
    let (by, at_ms) = (Some(caller(request)?.user), deps.clock.now());
    Ok(LogEntry { key, action: action.to_owned(), parameters, by, at_ms })
}

async fn list(deps: &AdminDeps) -> Reply {
    let mut rounds = deps.ledger.published_rounds(deps.clock.now()).await.map_err(Problem::unanswered)?;
    // Another function's clock may already have ended the round and begun the next one.
    let latest: HashMap<SaleId, RoundNumber> =
        latest_rounds(rounds.iter().cloned()).into_iter().map(|(sale, round)| (sale, round.id.number)).collect();
    rounds.retain(|round| latest.get(&round.id.sale) == Some(&round.id.number));
    let sales: Vec<SaleId> = rounds.iter().map(|round| round.id.sale.clone()).collect();
    let offers = deps.ledger.offers(&sales).await.map_err(Problem::unanswered)?;
    let mut offers: HashMap<SaleId, Offer> = offers.into_iter().map(|offer| (offer.id.clone(), offer)).collect();
    let of_round = |round: Round| Some(Latest { offer: offers.remove(&round.id.sale)?, round: Some(round) });
    let latest: Vec<Latest> = rounds.into_iter().filter_map(of_round).collect();
    let hot = hot(deps, &latest).await;
    Ok(json(StatusCode::OK, &SalesDocument::of(latest, &hot, None)))
}

async fn look(deps: &AdminDeps, sale: &str, round: &str) -> Reply {
    let (latest, now) = (sale_of(deps, sale).await?, deps.clock.now());
    let number = round.parse().map_err(|error: sale::InvalidId| Problem::invalid(error.to_string()))?;
    let id = round_of(&latest.offer, number)?;
    let round = round_with(deps, latest, &id).await?;
    let audited = audit(&deps.stock, &deps.ledger, &round, now).await.map_err(Problem::unanswered)?;
    Ok(json(StatusCode::OK, &AuditDocument::of(audited)))
}

/// Sends dead letters back to their queue.
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
    Ok(json(StatusCode::OK, &RedriveDocument { moved, may_be_more }))
}

async fn found(deps: &AdminDeps, sale: &str) -> Reply {
    let latest = sale_of(deps, sale).await?;
    // A posted beacon has its own item, since its round may have been over for long. The item also serves as the log
    // entry.
    let beacon = match &latest.round {
        Some(round) if round.terms.allocation.has_beacon() => {
            deps.ledger.beacon(&round.id).await.map_err(Problem::unanswered)?
        }
        _ => None,
    };
    let hot = hot(deps, std::slice::from_ref(&latest)).await;
    Ok(json(StatusCode::OK, &LoggedSaleDocument::of(latest, &hot, beacon)))
}

/// The id of a round that has begun.
fn round_of(offer: &Offer, number: RoundNumber) -> Result<RoundId, Problem> {
    if number > offer.latest_round {
        return Err(Problem::new(Code::UnknownSale).detail("this round of the sale has not begun"));
    }
    Ok(RoundId { sale: offer.id.clone(), number })
}

/// The round with this id: the sale's latest one or an earlier one; of a draft, the one that publication will begin.
async fn round_with(deps: &AdminDeps, Latest { offer, round }: Latest, id: &RoundId) -> Result<Round, Problem> {
    match round {
        None => Ok(offer.publish().1),
        Some(latest) if latest.id == *id => Ok(latest),
        Some(_) => {
            let earlier = deps.ledger.round(id).await.map_err(Problem::unanswered)?;
            earlier.ok_or_else(|| Problem::new(Code::UnknownSale))
        }
    }
}

async fn sale_of(deps: &AdminDeps, sale: &str) -> Result<Latest, Problem> {
    let latest = deps.ledger.latest(&sale_id(sale)?).await.map_err(Problem::unanswered)?;
    latest.ok_or_else(|| Problem::new(Code::UnknownSale))
}

fn sale_id(text: &str) -> Result<SaleId, Problem> {
    text.parse().map_err(|error: sale::InvalidId| Problem::invalid(error.to_string()))
}
