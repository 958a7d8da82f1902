use std::time::Duration;

use api::{Code, Problem, Reply, json, json_body};
use door::{Grant, PASS_LIFE_S, Route};
use http::StatusCode;
use lambda_http::Request;
use ledger::Strike;
use process::Step;
use serde::Serialize;
use stock::{Admit, AdmitRequest, GcraLimit};

use crate::answer::Answer;
use crate::entry::{Entry, rate_limited};
use crate::{Deps, overloaded};

/// Longest wait for a strike to be counted. The answer is the same without.
const STRIKE_TIMEOUT: Duration = Duration::from_secs(3);

#[derive(Serialize)]
struct Document {
    token: String,
    expires_at: String,
    reserve_path: String,
}

/// One call of Redis, and for a wrong answer one of the ledger.
pub(crate) async fn token(deps: &Deps, request: &Request, sale: &str) -> Reply {
    let entry = Entry::of(deps, request, sale).await?;
    let (id, answer) = json_body::<Answer>(request)?.read()?;
    // First of all: without the keys a right answer would be used up for nothing.
    let ring = deps.keys.ring().await.map_err(|error| overloaded(&error))?;
    let per_sale = entry.round().isolated_requests_per_s.map(public);
    let asked = AdmitRequest { applicant: entry.applicant(Route::Token), id, answer: &answer, per_sale };
    entry.take_turn(deps, Step::Token).await?;
    let admit = deps.stock.round(&entry.round().id).admit(&asked).await.map_err(|error| overloaded(&error))?;
    if matches!(admit, Admit::WrongAnswer { .. } | Admit::NoChallenge | Admit::RateLimited(_) | Admit::Denied) {
        // Anybody can send as many of these as the user's and the address's rates allow: they must not keep the others out.
        entry.cached.give_turn_back(Step::Token);
    }
    let at_ms = match admit {
        Admit::Admitted(at_ms) => at_ms,
        Admit::WrongAnswer { again } => {
            if !again {
                Box::pin(strike(deps, &entry)).await;
            }
            return Err(Problem::new(Code::WrongAnswer));
        }
        Admit::NoChallenge => return Err(Problem::new(Code::ChallengeOver)),
        Admit::RateLimited(limited) => return Err(rate_limited(Route::Token, limited)),
        Admit::NotOpen(opens_at) => return Err(Problem::not_open(opens_at, deps.clock.now())),
        Admit::SoldOut { .. } => return Err(Problem::new(Code::SoldOut)),
        Admit::Closed => return Err(Problem::new(Code::Closed)),
        Admit::Denied => return Err(Problem::new(Code::Denied)),
        Admit::Paused => return Err(Problem::paused()),
        Admit::UnknownSale => return Err(entry.not_in_redis(deps.clock.now())),
    };
    let grant = Grant { round: &entry.round().id, user: &entry.user, issued_at_ms: at_ms };
    let token = ring.seal(&grant);
    let reserve_path = format!("/v1/sales/{}/reservations/{token}", entry.round().id.sale);
    Ok(json(StatusCode::CREATED, &Document { token, expires_at: at_ms.plus_s(PASS_LIFE_S).to_string(), reserve_path }))
}

/// No more than so many a second are let towards an isolated sale; up to a second's worth at once.
fn public(requests_per_s: u32) -> GcraLimit {
    let burst = requests_per_s.max(1);
    GcraLimit { emission_interval_us: (1_000_000 / burst).max(1), burst }
}

async fn strike(deps: &Deps, entry: &Entry) {
    let door = &entry.round().terms.door;
    let now = deps.clock.now();
    let counted = fulfilment::strike(&deps.stock, &deps.ledger, &entry.user, &Strike::WrongAnswers, door, now);
    match tokio::time::timeout(STRIKE_TIMEOUT, counted).await {
        Ok(Ok(_)) => {}
        Ok(Err(error)) => tracing::error!(error = &error as &dyn std::error::Error, "a strike is not counted"),
        Err(late) => tracing::error!(error = &late as &dyn std::error::Error, "a strike may not be counted"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_isolated_sale_has_a_rate_for_everybody() {
        for (requests_per_s, emission_interval_us) in [(1, 1_000_000), (500, 2_000), (100_000, 10)] {
            assert_eq!(public(requests_per_s), GcraLimit { emission_interval_us, burst: requests_per_s });
        }
    }
}
