//! What operators do: create and publish sales, look at them, steer and stop them, keep users out, audit rounds.

mod campaigns;
mod document;
mod figures;
mod guard;
mod steer;

use std::sync::Arc;

use api::{Code, Operators, Problem, Reply, json, json_body, no_body, respond, segments};
use context::{Context, ContextError};
use fulfilment::audit;
use http::{Method, StatusCode};
use lambda_http::{Body, Request, Response};
use ledger::{Created, Ledger, Published};
use process::OrderCounts;
use queue::redrive;
use runtime::{Clock, OPERATOR_ANSWER_TIMEOUT};
use sale::{RoundId, Sale, SaleId};
use stock::Stock;

use crate::document::{AuditDocument, NewSale, RedriveDocument, SaleDocument, SalesDocument};

/// Addresses of the queues that messages are sent back from and to.
#[derive(Clone)]
pub struct QueueUrls {
    /// Reservations that are to become orders.
    pub orders: String,
    /// Those that could not.
    pub orders_dlq: String,
    /// Orders whose payment window is open.
    pub expiry: String,
    /// Those that could not be looked at.
    pub expiry_dlq: String,
    /// Messages that nobody could read.
    pub quarantine: String,
}

/// What the function talks to.
#[derive(Clone)]
pub struct Deps {
    /// Redis.
    pub stock: Stock,
    /// DynamoDB.
    pub ledger: Ledger,
    /// SQS.
    pub sqs: aws_sdk_sqs::Client,
    /// The queues.
    pub queues: Arc<QueueUrls>,
    /// What is remembered of the orders of rounds that are watched.
    pub order_counts: OrderCounts,
    /// Who counts as an operator.
    pub operators: Operators,
    /// The time.
    pub clock: Clock,
}

impl Deps {
    /// What the settings name.
    ///
    /// # Errors
    /// If a setting is missing or of no use.
    pub fn new(context: &Context) -> Result<Self, ContextError> {
        let settings = context.settings();
        let queues = QueueUrls {
            orders: settings.required("ORDERS_QUEUE_URL")?,
            orders_dlq: settings.required("ORDERS_DLQ_URL")?,
            expiry: settings.required("EXPIRY_QUEUE_URL")?,
            expiry_dlq: settings.required("EXPIRY_DLQ_URL")?,
            quarantine: settings.required("QUARANTINE_QUEUE_URL")?,
        };
        let group = settings.required("OPERATOR_GROUP")?;
        let operators = match settings.optional("OPERATOR_CLAIM") {
            Some(claims) => Operators::new(group, &claims),
            // Settings of the previous version name no claim.
            None => Operators::usual(group),
        };
        Ok(Self {
            stock: context.stock()?,
            ledger: context.ledger()?,
            sqs: context.sqs()?,
            queues: Arc::new(queues),
            order_counts: context.order_counts()?,
            operators,
            clock: context.clock(),
        })
    }
}

/// Answers one request of an operator; anybody else hears 403 whatever they ask for.
pub async fn handle(deps: &Deps, request: Request) -> Response<Body> {
    let answered = tokio::time::timeout(OPERATOR_ANSWER_TIMEOUT, answer(deps, &request)).await;
    respond(answered.unwrap_or_else(|late| Err(Problem::unanswered(late))))
}

async fn answer(deps: &Deps, request: &Request) -> Reply {
    deps.operators.check(request)?;
    match (request.method(), segments(request).as_slice()) {
        (&Method::POST, ["v1", "admin", "sales"]) => create(deps, request).await,
        (&Method::GET, ["v1", "admin", "sales"]) => list(deps).await,
        (&Method::GET, ["v1", "admin", "sales", sale]) => Ok(json(StatusCode::OK, &found(deps, sale).await?)),
        (&Method::GET, ["v1", "admin", "sales", sale, "live"]) => {
            // Boxed: many calls of AWS at once make a large future.
            Box::pin(figures::figures(deps, sale)).await
        }
        (&Method::POST, ["v1", "admin", "sales", sale, "publish"]) => publish(deps, request, sale).await,
        (&Method::POST, ["v1", "admin", "sales", sale, "pause"]) => steer::pause(deps, request, sale).await,
        (&Method::POST, ["v1", "admin", "sales", sale, "resume"]) => steer::resume(deps, request, sale).await,
        (&Method::POST, ["v1", "admin", "sales", sale, "close"]) => steer::close(deps, request, sale).await,
        (&Method::POST, ["v1", "admin", "sales", sale, "restock"]) => steer::restock(deps, request, sale).await,
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
        (&Method::POST, ["v1", "admin", "campaigns"]) => campaigns::put(deps, request).await,
        (&Method::GET, ["v1", "admin", "campaigns"]) => campaigns::list(deps).await,
        (&Method::POST, ["v1", "admin", "redrive", queue]) => redrive_from(deps, request, queue).await,
        (&Method::GET, ["v1", "admin", "sales", sale, "rounds", round, "audit"]) => look(deps, sale, round).await,
        _ => Err(Problem::new(Code::UnknownRoute)),
    }
}

async fn create(deps: &Deps, request: &Request) -> Reply {
    let (id, terms, recurrence) = json_body::<NewSale>(request)?.into_parts();
    terms.validate().map_err(|error| Problem::invalid(error.to_string()))?;
    if terms.closes_at_ms <= deps.clock.now() {
        return Err(Problem::invalid("closes_at is over"));
    }
    if let Some(recurrence) = &recurrence {
        let apart = recurrence.keeps_apart(terms.opens_at_ms, terms.closes_at_ms);
        apart.map_err(|error| Problem::invalid(error.to_string()))?;
    }
    match deps.ledger.create_sale(&id, &terms, recurrence.as_ref()).await.map_err(Problem::unanswered)? {
        Created::Now(sale) => Ok(json(StatusCode::CREATED, &SaleDocument::of(&sale))),
        Created::Before(sale) => Ok(json(StatusCode::OK, &SaleDocument::of(&sale))),
        Created::Other(_) => Err(Problem::new(Code::SaleExists)),
    }
}

async fn publish(deps: &Deps, request: &Request, sale: &str) -> Reply {
    no_body(request)?;
    match deps.ledger.publish_sale(&sale_id(sale)?).await.map_err(Problem::unanswered)? {
        Published::Yes(sale) => Ok(json(StatusCode::OK, &SaleDocument::of(&sale))),
        Published::Unknown => Err(Problem::new(Code::UnknownSale)),
    }
}

async fn list(deps: &Deps) -> Reply {
    let sales = deps.ledger.published_sales(deps.clock.now()).await.map_err(Problem::unanswered)?;
    Ok(json(StatusCode::OK, &SalesDocument::of(&sales)))
}

async fn look(deps: &Deps, sale: &str, round: &str) -> Reply {
    let sale = sale_of(deps, sale).await?;
    let number = round.parse().map_err(|error: sale::InvalidId| Problem::invalid(error.to_string()))?;
    let round = RoundId { sale: sale.id.clone(), number };
    if round.number > sale.round {
        return Err(Problem::new(Code::UnknownSale).detail("the sale has not come to this round"));
    }
    let audited =
        audit(&deps.stock, &deps.ledger, &sale, &round, deps.clock.now()).await.map_err(Problem::unanswered)?;
    Ok(json(StatusCode::OK, &AuditDocument::of(audited)))
}

/// Sends dead letters back to where they came from.
async fn redrive_from(deps: &Deps, request: &Request, queue: &str) -> Reply {
    no_body(request)?;
    let queues = &deps.queues;
    let (from, to) = match queue {
        "orders" => (&queues.orders_dlq, &queues.orders),
        "expiry" => (&queues.expiry_dlq, &queues.expiry),
        "quarantine" => (&queues.quarantine, &queues.orders),
        _ => return Err(Problem::new(Code::UnknownRoute).detail("queues are orders, expiry and quarantine")),
    };
    let moved = redrive(&deps.sqs, from, to).await.map_err(Problem::unanswered)?;
    tracing::warn!(queue, moved, "redriven");
    Ok(json(StatusCode::OK, &RedriveDocument { moved }))
}

async fn found(deps: &Deps, sale: &str) -> Result<SaleDocument, Problem> {
    Ok(SaleDocument::of(&sale_of(deps, sale).await?))
}

async fn sale_of(deps: &Deps, sale: &str) -> Result<Sale, Problem> {
    let sale = deps.ledger.sale(&sale_id(sale)?).await.map_err(Problem::unanswered)?;
    sale.ok_or_else(|| Problem::new(Code::UnknownSale))
}

fn sale_id(text: &str) -> Result<SaleId, Problem> {
    text.parse().map_err(|error: sale::InvalidId| Problem::invalid(error.to_string()))
}
