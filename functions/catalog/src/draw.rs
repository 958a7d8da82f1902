//! The draw of a round: all that a third party needs to check what each unit won.

use std::sync::Arc;

use api::{Code, Problem};
use award::{Commitment, Hex, Seed};
use http::HeaderValue;
use jiff::Timestamp;
use lambda_http::{Body, Request, Response};
use sale::{Allocation, Currency, EpochMs, Round, RoundId, SaleId};
use serde::{Serialize, Serializer};

use crate::Deps;
use crate::caching::{KEEP, kept};

/// Seconds from the end of a round until its seed is public. Whoever has the seed knows what the next unit wins, so nobody may be
/// able to get one any more: the clocks of Redis, which ends a round, and of the functions differ by much less than this. And a
/// round that is over is not extended.
pub const DRAW_REVEAL_AFTER_S: u32 = 60;
/// The version of `docs/draws.md`, which is in the labels of `award`.
const ENCODING: u8 = 1;
/// With the seed a draw never changes. A day, and not for ever, so that what was kept by mistake goes. Browsers ask the shared
/// cache: an answer that they keep says an old time, and pages take their clock from answers.
const KEEP_REVEALED: HeaderValue = HeaderValue::from_static("public, max-age=0, s-maxage=86400");

/// A round with awards, and its seed once that may be known.
pub(crate) struct Draw {
    pub(crate) round: Round,
    pub(crate) commitment: Commitment,
    pub(crate) seed: Option<Seed>,
}

/// From when on the seed of a round may be known.
pub(crate) const fn reveals_at(closes_at: EpochMs) -> EpochMs {
    closes_at.plus_s(DRAW_REVEAL_AFTER_S)
}

/// What is drawn, and what the operator is bound to.
#[derive(Serialize)]
pub(crate) struct DrawTerms {
    units: u32,
    allocation: Allocation,
    #[serde(serialize_with = "as_text")]
    commitment: Commitment,
    label: Label,
}

/// What decides who wins what.
#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
enum Label {
    /// The seed alone.
    CommitmentOnly,
}

fn as_text<S: Serializer>(commitment: &Commitment, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(commitment)
}

impl DrawTerms {
    /// Those of a round with awards.
    pub(crate) fn of(round: &Round) -> Option<Self> {
        round.commitment.map(|commitment| Self::with(round, commitment))
    }

    fn with(round: &Round, commitment: Commitment) -> Self {
        let allocation = round.terms.allocation.clone();
        Self { units: round.terms.total, allocation, commitment, label: Label::CommitmentOnly }
    }
}

#[derive(Serialize)]
struct DrawDocument {
    sale_id: SaleId,
    round: u32,
    encoding: u8,
    #[serde(flatten)]
    terms: DrawTerms,
    currency: Currency,
    closes_at: Timestamp,
    reveals_at: Timestamp,
    #[serde(skip_serializing_if = "Option::is_none")]
    seed: Option<String>,
}

impl DrawDocument {
    fn of(draw: &Draw) -> Self {
        let Draw { round: Round { id, terms, .. }, commitment, seed } = draw;
        Self {
            sale_id: id.sale.clone(),
            round: id.number.0,
            encoding: ENCODING,
            terms: DrawTerms::with(&draw.round, *commitment),
            currency: terms.price.currency,
            closes_at: terms.closes_at_ms.into(),
            reveals_at: reveals_at(terms.closes_at_ms).into(),
            seed: seed.as_ref().map(|Seed(bytes)| Hex(bytes).to_string()),
        }
    }
}

/// The draw of a round.
pub(crate) async fn look(deps: &Deps, request: &Request, id: &RoundId) -> Result<Response<Body>, Problem> {
    let none = || Problem::new(Code::UnknownSale).detail("the round has no draw");
    let listed = deps.shelf.listed().await.map_err(Problem::unanswered)?;
    // A round that the sale has not come to is looked up nowhere, however many are made up.
    if listed.round(&id.sale).is_some_and(|latest| id.number > latest.id.number) {
        return Err(none());
    }
    let draw: Option<Arc<Draw>> = deps.shelf.draw(id).await.map_err(Problem::unanswered)?;
    let draw = draw.ok_or_else(none)?;
    let keep = if draw.seed.is_some() { KEEP_REVEALED } else { KEEP };
    Ok(kept(request, &DrawDocument::of(&draw), keep))
}
