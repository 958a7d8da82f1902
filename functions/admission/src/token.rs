use api::{Code, Problem, Reply, json, json_body, text_body};
use gate::{Check, Route, address};
use http::StatusCode;
use lambda_http::Request;
use ledger::BlockReason;
use pass::{PASS_LIFE_S, Pass};
use process::Step;
use serde::Serialize;
use stock::{Admit, AdmitRequest, GcraLimit};

use crate::answer::{Answer, Given};
use crate::deps::AdmissionDeps;
use crate::groups::class_of;

const CHECKS: &[Check] = {
    use Check::*;
    &[Exists, Sight, KillSwitch, Address, Line, Form, Rate(Route::Token), Keys]
};

#[derive(Serialize)]
struct Document {
    token: String,
    expires_at: String,
    reserve_path: String,
}

/// Reads the body, which may be empty in a sale without challenges.
fn answer(request: &Request) -> Result<Given, Problem> {
    let answer = if text_body(request)?.is_empty() { Answer::default() } else { json_body(request)? };
    answer.read()
}

/// Checks an answer and gives a pass for it. One call to Redis; to the ledger, for a wrong answer or if groups matter.
pub(crate) async fn token(deps: &AdmissionDeps, request: &Request, sale: &str) -> Reply {
    let (visitor, given) = deps.gate().enter(request, sale, CHECKS, answer).await?;
    let (cached, ip) = (visitor.sale()?, address(request));
    let round = &cached.round;
    let (id, answer) = given.to(round.terms.gate.challenge)?;
    let per_sale = round.throttle_requests_per_s.map(public);
    let class = class_of(deps, request, &visitor, round).await?;
    let (applicant, answer) = (Route::Token.applicant(&visitor.user, &ip), answer.as_deref());
    let asked = AdmitRequest { applicant, id, answer, per_sale, class };
    deps.gate().turn(&visitor, Step::Token).await?;
    let admit = deps.stock.of(round).admit(&asked).await.map_err(Problem::unanswered)?;
    if matches!(admit, Admit::WrongAnswer { .. } | Admit::NoChallenge | Admit::RateLimited(_) | Admit::Blocked) {
        // Anybody can send as many of these as the rates of user and address allow; they must not keep others out.
        cached.give_turn_back(Step::Token);
    }
    let at_ms = match admit {
        Admit::Admitted(at_ms) => at_ms,
        Admit::WrongAnswer { again } => {
            if !again {
                let AdmissionDeps { stock, ledger, clock, .. } = deps;
                let (user, reason, door) = (&visitor.user, BlockReason::WrongAnswers, &round.terms.door);
                Box::pin(fulfilment::count_violation(stock, ledger, user, reason, door, *clock)).await;
            }
            return Err(Problem::new(Code::WrongAnswer));
        }
        Admit::NoChallenge => return Err(Problem::new(Code::ChallengeOver)),
        Admit::RateLimited(limited) => return Err(Route::Token.refusal(limited.own, limited.retry_after_ms)),
        Admit::NotOpen(opens_at) => return Err(Problem::not_open(opens_at, deps.clock.now())),
        Admit::QuotaOnly(until) => return Err(Problem::sold_out(Some(until), deps.clock.now())),
        Admit::SoldOut(sold_out) => return Err(Problem::sold_out(sold_out.next_release_ms, deps.clock.now())),
        Admit::Closed => return Err(Problem::new(Code::Closed)),
        Admit::Blocked => return Err(Problem::new(Code::Blocked)),
        Admit::Paused => return Err(Problem::paused()),
        Admit::UnknownSale => {
            return Err(Box::pin(deps.rebuilds.not_in_redis(&deps.stock, &visitor.user, &round.id, Some(round))).await);
        }
    };
    let pass = Pass { round: round.id.number, issued_at_ms: at_ms, class };
    let token = visitor.keys()?.seal(&pass, &round.id.sale, &visitor.user);
    let reserve_path = format!("/v1/sales/{}/reservations/{token}", round.id.sale);
    Ok(json(StatusCode::CREATED, &Document { token, expires_at: at_ms.plus_s(PASS_LIFE_S).to_string(), reserve_path }))
}

/// The rate of passes for a throttled sale, with a burst of one second's worth.
fn public(requests_per_s: u32) -> GcraLimit {
    let burst = requests_per_s.max(1);
    GcraLimit { emission_interval_us: (1_000_000 / burst).max(1), burst }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_throttled_sale_has_a_rate_for_everybody() {
        for (requests_per_s, emission_interval_us) in [(1, 1_000_000), (500, 2_000), (100_000, 10)] {
            assert_eq!(public(requests_per_s), GcraLimit { emission_interval_us, burst: requests_per_s });
        }
    }
}
