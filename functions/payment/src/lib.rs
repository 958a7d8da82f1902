//! The payment provider's callbacks: signed as Standard Webhooks specifies, and applied once.

mod webhook;

use api::{Code, Problem, Reply, json, respond, segments};
use context::{Serving, serve};
use http::StatusCode;
use lambda_http::{Body, Request, Response};
use ledger::{Ledger, Payment};
use messaging::queue::{ExpiryMessage, ExpiryQueue};
use runtime::{ANSWER_TIMEOUT, Clock, Secret};
use sale::{Price, ReservationId};
use serde::Serialize;

use webhook::{Event, Paid};

context::deps! {
    PaymentDeps(context) {
        pub ledger: Ledger = context.ledger()?,
        /// The expiry queue, for orders that were paid too late.
        pub expiry: ExpiryQueue = context.expiry_queue()?,
        pub secret: Secret = context.payment_secret()?,
        pub clock: Clock = context.clock(),
    }
}

pub fn run() -> Serving {
    serve(PaymentDeps::new, |deps, request| async move { handle(&deps, request).await })
}

#[derive(Serialize)]
struct Outcome {
    /// Absent if the event concerns no reservation here.
    #[serde(skip_serializing_if = "Option::is_none")]
    reservation_id: Option<ReservationId>,
    outcome: &'static str,
}

impl Outcome {
    /// Counts the result as `Callbacks` by `Outcome`. Always 200: a repeated callback would get the same answer.
    fn reply(reservation_id: Option<ReservationId>, outcome: &'static str) -> Reply {
        metrics::counter!("Callbacks", "Outcome" => outcome).increment(1);
        Ok(json(StatusCode::OK, &Self { reservation_id, outcome }))
    }
}

pub async fn handle(deps: &PaymentDeps, request: Request) -> Response<Body> {
    let answered = tokio::time::timeout(deps.clock.limit(ANSWER_TIMEOUT), answer(deps, &request)).await;
    respond(answered.unwrap_or_else(|late| Err(Problem::unanswered(late))))
}

async fn answer(deps: &PaymentDeps, request: &Request) -> Reply {
    match (request.method().as_str(), segments(request).as_slice()) {
        ("POST", ["v1", "payments", "webhook"]) => callback(deps, request).await,
        _ => Err(Problem::new(Code::UnknownRoute)),
    }
}

async fn callback(deps: &PaymentDeps, request: &Request) -> Reply {
    let secret = deps.secret.get().await.map_err(Problem::unanswered)?;
    let Paid { payment_id, reservation_id, price } = match webhook::read(request, &secret)? {
        Event::Paid(paid) => paid,
        Event::Other(kind) => {
            tracing::info!(kind, "ignored an event of an unknown type");
            return Outcome::reply(None, "ignored");
        }
    };
    let now = deps.clock.now();
    let outcome = match deps.ledger.pay(&reservation_id, &payment_id, price, now).await.map_err(Problem::unanswered)? {
        Payment::Applied => "applied",
        Payment::RefundDue => "refund_due",
        Payment::TooLate => {
            // Redis may have counted the order as unpaid. The expiry function corrects the count. If SQS does not
            // accept the message, we answer 503 and the provider retries.
            let message = ExpiryMessage::new(reservation_id.clone(), now);
            deps.expiry.send(&message, now).await.map_err(Problem::unanswered)?;
            "refund_due"
        }
        Payment::Reused => "payment_reused",
        Payment::AmountChanged => "amount_changed",
        Payment::UnknownOrder => return Err(Problem::new(Code::UnknownReservation)),
    };
    tracing::info!(%reservation_id, payment_id, outcome, "payment");
    if matches!(outcome, "payment_reused" | "amount_changed") {
        metrics::counter!("PaymentsMismatched").increment(1);
        let Price { price_minor, currency } = price;
        tracing::error!(%reservation_id, payment_id, price_minor, %currency, outcome, "payment mismatched");
    }
    Outcome::reply(Some(reservation_id), outcome)
}
