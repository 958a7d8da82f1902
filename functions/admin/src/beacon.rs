//! Posting the beacon of a draw: drand's signature of the round that was named when the draw was fixed.

use api::{Code, Problem, Reply, caller, json, json_body};
use http::StatusCode;
use lambda_http::Request;
use ledger::{Beacon, Ledger};
use sale::award::Hex;
use sale::award::drand::{self, DrandRound};
use sale::{Round, RoundId};
use serde::Deserialize;
use serde_json::json;

use crate::deps::AdminDeps;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NewBeacon {
    signature: String,
}

/// The round of drand that a round's draw names: `None` without a beacon, or before a draw at the end has its entries.
pub(crate) async fn drand_round(ledger: &Ledger, round: &Round) -> Result<Option<DrandRound>, ledger::LedgerError> {
    let allocation = &round.terms.allocation;
    if allocation.has_beacon() && allocation.is_drawn_at_end() {
        return Ok(ledger.draw(&round.id).await?.and_then(|draw| draw.closed?.drand_round));
    }
    Ok(round.drand_round)
}

/// Stores the beacon of a round's draw, if the signature is right. It never changes; posting it again does nothing.
pub(crate) async fn post(deps: &AdminDeps, request: &Request, sale: &str, round: &str) -> Reply {
    let NewBeacon { signature } = json_body(request)?;
    let signature = drand::signature(&signature)
        .ok_or_else(|| Problem::invalid("signature: 96 lower-case hex digits, as drand publishes them"))?;
    let id = RoundId { sale: sale.parse()?, number: round.parse()? };
    let none = || Problem::new(Code::UnknownSale).detail("there is no such round");
    let round = deps.ledger.round(&id).await.map_err(Problem::unanswered)?.ok_or_else(none)?;
    let refused = |detail: &str| Problem::new(Code::NotAmendable).detail(detail);
    if !round.terms.allocation.has_beacon() {
        return Err(refused("the draw of this round uses no beacon"));
    }
    let named = drand_round(&deps.ledger, &round).await.map_err(Problem::unanswered)?;
    let named = named.ok_or_else(|| refused("no round of drand is named yet; it is named when the entries close"))?;
    deps.drand_key
        .verify(named, &signature)
        .map_err(|wrong| Problem::new(Code::WrongBeacon).detail(wrong.to_string()))?;
    let beacon = Beacon { drand_round: named, signature, by: caller(request)?.user, at_ms: deps.clock.now() };
    let kept = deps.ledger.post_beacon(&id, &beacon).await.map_err(Problem::unanswered)?;
    tracing::info!(sale_id = %id.sale, round = id.number.0, drand_round = named.0, by = %kept.by, "beacon posted");
    let [signature, randomness] = [Hex(&kept.signature).to_string(), Hex(&kept.randomness()).to_string()];
    let beacon = json!({ "signature": signature, "randomness": randomness });
    let document = json!({ "sale_id": id.sale, "round": id.number.0, "drand": named, "beacon": beacon });
    Ok(json(StatusCode::OK, &document))
}
