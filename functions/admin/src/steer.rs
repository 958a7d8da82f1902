//! Steering a sale while it runs: the ledger first, which decides and remembers the request; then Redis, which hears it
//! at once, or from reconciliation within a minute.
//!
//! Each request names the round that it is about. The ledger looks at it in the same conditional change, so that a round
//! that begins between an operator's decision and its request is left alone.

use api::{Code, Problem, Reply, idempotency_key, json, json_body};
use http::StatusCode;
use lambda_http::Request;
use ledger::{Amend, SteeringRequest};
use sale::{EpochMs, MAX_TOTAL, RoundNumber, Sale, SaleState};
use serde::Deserialize;
use uuid::Uuid;

use crate::document::SaleDocument;
use crate::{Deps, sale_id};

/// What is asked of a round that the action alone says.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct InRound {
    round: RoundNumber,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Restock {
    round: RoundNumber,
    units: u32,
}

/// A request to steer.
pub(crate) struct Steering {
    pub(crate) action: &'static str,
    /// The round that it is about.
    pub(crate) round: RoundNumber,
    /// What it says besides.
    pub(crate) parameters: String,
    pub(crate) key: String,
}

impl Steering {
    fn in_round(action: &'static str, request: &Request) -> Result<Self, Problem> {
        let InRound { round } = json_body(request)?;
        Ok(Self { action, round, parameters: String::new(), key: key_or_fresh(request)? })
    }
}

/// Stops selling for a while.
pub(crate) async fn pause(deps: &Deps, request: &Request, sale: &str) -> Reply {
    amend(deps, sale, Steering::in_round("pause", request)?, |sale| {
        sale.paused = true;
        Ok(())
    })
    .await
}

/// Goes on selling.
pub(crate) async fn resume(deps: &Deps, request: &Request, sale: &str) -> Reply {
    let now = deps.clock.now();
    amend(deps, sale, Steering::in_round("resume", request)?, |sale| {
        not_over(sale, now)?;
        sale.paused = false;
        Ok(())
    })
    .await
}

/// Ends the round now. One that has ended keeps its end.
pub(crate) async fn close(deps: &Deps, request: &Request, sale: &str) -> Reply {
    let now = deps.clock.now();
    amend(deps, sale, Steering::in_round("close", request)?, |sale| close_at(sale, now)).await
}

fn close_at(sale: &mut Sale, now: EpochMs) -> Result<(), Problem> {
    if now <= sale.terms.opens_at_ms {
        return Err(Problem::new(Code::NotAmendable).detail("it has not opened yet"));
    }
    if now < sale.terms.closes_at_ms {
        sale.terms_of_this_round().closes_at_ms = now;
    }
    Ok(())
}

/// Adds units to this round. Only with a key: without one, a retry could not be told from a second delivery.
pub(crate) async fn restock(deps: &Deps, request: &Request, sale: &str) -> Reply {
    let Restock { round, units } = json_body(request)?;
    let key = idempotency_key(request)?
        .ok_or_else(|| Problem::invalid("idempotency-key: needed, so that a retry adds nothing"))?;
    let steering = Steering { action: "restock", round, parameters: units.to_string(), key: key.to_owned() };
    let now = deps.clock.now();
    amend(deps, sale, steering, |sale| {
        not_over(sale, now)?;
        let total = sale.terms.total.checked_add(units).filter(|total| units > 0 && *total <= MAX_TOTAL);
        let bounds = || Problem::invalid(format!("units: 1 to {}", MAX_TOTAL - sale.terms.total));
        sale.terms_of_this_round().total = total.ok_or_else(bounds)?;
        Ok(())
    })
    .await
}

/// Makes this round the last one. A sale that comes no more stays so.
pub(crate) async fn end_recurrence(deps: &Deps, request: &Request, sale: &str) -> Reply {
    amend(deps, sale, Steering::in_round("end_recurrence", request)?, |sale| {
        sale.recurrence = None;
        Ok(())
    })
    .await
}

/// In a round that is over nothing can be sold, so whoever asks for it is mistaken.
fn not_over(sale: &Sale, now: EpochMs) -> Result<(), Problem> {
    if sale.terms.closes_at_ms <= now {
        return Err(Problem::new(Code::NotAmendable).detail(format!("round {} is over", sale.round)));
    }
    Ok(())
}

/// The client's key, or one that nobody else has.
pub(crate) fn key_or_fresh(request: &Request) -> Result<String, Problem> {
    Ok(idempotency_key(request)?.map_or_else(|| Uuid::now_v7().as_simple().to_string(), str::to_owned))
}

pub(crate) async fn amend(
    deps: &Deps,
    sale: &str,
    steering: Steering,
    change: impl Fn(&mut Sale) -> Result<(), Problem>,
) -> Reply {
    let id = sale_id(sale)?;
    let Steering { action, round, parameters, key } = steering;
    let request = SteeringRequest { key, action, parameters: format!("{round} {parameters}") };
    let amended = deps.ledger.steer_sale(&id, &request, |sale| {
        if sale.state == SaleState::Draft {
            return Err(Problem::new(Code::NotAmendable).detail("it is a draft"));
        }
        if sale.round != round {
            return Err(Problem::new(Code::RoundChanged).with("round", sale.round.0));
        }
        change(sale)
    });
    match amended.await.map_err(Problem::unanswered)? {
        Amend::Made(sale) => {
            // Not an error to the operator: the ledger has it, and reconciliation tells Redis.
            if let Err(error) = deps.stock.round(&sale.round_id()).amend(&sale).await {
                tracing::warn!(error = &error as &dyn std::error::Error, "Redis hears of it later");
            }
            Ok(json(StatusCode::OK, &SaleDocument::of(&sale)))
        }
        Amend::Refused(problem) => Err(problem),
        Amend::Unknown => Err(Problem::new(Code::UnknownSale)),
        Amend::KeyReused => Err(Problem::new(Code::KeyReused)),
    }
}
