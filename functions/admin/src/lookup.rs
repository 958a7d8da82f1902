//! The sale and the round that a request's path names.

use api::{Code, Problem};
use ledger::Latest;
use sale::{Offer, Round, RoundId, RoundNumber};

use crate::deps::AdminDeps;

/// The id of a round that has begun.
pub(crate) fn round_of(offer: &Offer, number: RoundNumber) -> Result<RoundId, Problem> {
    if number > offer.latest_round {
        return Err(Problem::new(Code::UnknownSale).detail("this round of the sale has not begun"));
    }
    Ok(RoundId { sale: offer.id.clone(), number })
}

/// The round with this id: the sale's latest one or an earlier one; of a draft, the one that publication will begin.
pub(crate) async fn round_with(
    deps: &AdminDeps,
    Latest { offer, round }: Latest,
    id: &RoundId,
) -> Result<Round, Problem> {
    match round {
        None => Ok(offer.publish().1),
        Some(latest) if latest.id == *id => Ok(latest),
        Some(_) => {
            deps.ledger.round(id).await.map_err(Problem::unanswered)?.ok_or_else(|| Problem::new(Code::UnknownSale))
        }
    }
}

pub(crate) async fn sale_of(deps: &AdminDeps, sale: &str) -> Result<Latest, Problem> {
    let latest = deps.ledger.latest(&sale.parse()?).await.map_err(Problem::unanswered)?;
    latest.ok_or_else(|| Problem::new(Code::UnknownSale))
}
