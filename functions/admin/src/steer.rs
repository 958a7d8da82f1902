//! Steering a sale while it runs: the ledger first, which decides and remembers the request; then Redis, which hears it
//! at once, or from reconciliation within a minute.

use api::{Code, Problem, Reply, idempotency_key, json, json_body, no_body};
use fulfilment::LANE;
use http::StatusCode;
use lambda_http::Request;
use ledger::Amend;
use sale::{EpochMs, MAX_TOTAL, Sale, SaleState};
use serde::Deserialize;
use uuid::Uuid;

use crate::document::SaleDocument;
use crate::{Deps, sale_id, unanswered};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Restock {
    units: u32,
}

/// Stops selling for a while.
pub(crate) async fn pause(deps: &Deps, request: &Request, sale: &str) -> Reply {
    no_body(request)?;
    amend(deps, sale, &key_or_fresh("pause", request)?, |sale| {
        sale.paused = true;
        Ok(())
    })
    .await
}

/// Goes on selling.
pub(crate) async fn resume(deps: &Deps, request: &Request, sale: &str) -> Reply {
    no_body(request)?;
    amend(deps, sale, &key_or_fresh("resume", request)?, |sale| {
        sale.paused = false;
        Ok(())
    })
    .await
}

/// Ends the round now. One that has ended keeps its end.
pub(crate) async fn close(deps: &Deps, request: &Request, sale: &str) -> Reply {
    no_body(request)?;
    let now = deps.clock.now();
    amend(deps, sale, &key_or_fresh("close", request)?, |sale| close_at(sale, now)).await
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
    let Restock { units } = json_body(request)?;
    let key = idempotency_key(request)?
        .ok_or_else(|| Problem::invalid("idempotency-key: needed, so that a retry adds nothing"))?;
    amend(deps, sale, &format!("restock-{key}"), |sale| {
        let total = sale.terms.total.checked_add(units).filter(|total| units > 0 && *total <= MAX_TOTAL);
        let bounds = || Problem::invalid(format!("units: 1 to {}", MAX_TOTAL - sale.terms.total));
        sale.terms_of_this_round().total = total.ok_or_else(bounds)?;
        Ok(())
    })
    .await
}

/// The client's key, for this action alone: the same key names another request elsewhere, and never one of a schedule.
pub(crate) fn key_or_fresh(action: &str, request: &Request) -> Result<String, Problem> {
    let key = idempotency_key(request)?.map_or_else(|| Uuid::now_v7().as_simple().to_string(), str::to_owned);
    Ok(format!("{action}-{key}"))
}

pub(crate) async fn amend(
    deps: &Deps,
    sale: &str,
    request: &str,
    change: impl Fn(&mut Sale) -> Result<(), Problem>,
) -> Reply {
    let id = sale_id(sale)?;
    let amended = deps.ledger.amend_sale(&id, request, |sale| {
        if sale.state == SaleState::Draft {
            return Err(Problem::new(Code::NotAmendable).detail("it is a draft"));
        }
        change(sale)
    });
    match amended.await.map_err(unanswered)? {
        Amend::Made(sale) => {
            // Not an error to the operator: the ledger has it, and reconciliation tells Redis.
            if let Err(error) = deps.stock.amend(&sale, LANE).await {
                tracing::warn!(error = &error as &dyn std::error::Error, "Redis hears of it later");
            }
            Ok(json(StatusCode::OK, &SaleDocument::of(&sale)))
        }
        Amend::Refused(problem) => Err(problem),
        Amend::Unknown => Err(Problem::new(Code::UnknownSale)),
    }
}
