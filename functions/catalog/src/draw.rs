//! The draw of a round: everything that a third party needs to verify what each unit won.

use std::sync::Arc;

use api::{Code, Problem};
use http::HeaderValue;
use jiff::Timestamp;
use lambda_http::{Body, Request, Response};
use ledger::{Beacon, CHUNK_ENTRIES, DrawEntry};
use sale::award::drand::DrandRound;
use sale::award::{Commitment, Hex, Seed};
use sale::{Allocation, Currency, Round, RoundId, SaleId};
use serde::Serialize;

use crate::caching::{KEEP, kept};
use crate::deps::CatalogDeps;
use crate::draw_state::{Draw, Winner, reveals_at};

/// The version of `docs/draws.md`, which is in the labels of `award`.
const ENCODING: u8 = 1;
/// A draw with its seed never changes. It is kept for a day and not for ever, so that mistakes disappear. Browsers must
/// ask the shared cache, because pages set their clock by the time in answers, which would be old in a browser's cache.
const KEEP_REVEALED: HeaderValue = HeaderValue::from_static("public, max-age=0, s-maxage=86400");

/// What is drawn, and the commitment that binds the operator.
#[derive(Serialize)]
pub(crate) struct DrawTerms {
    units: u32,
    allocation: Allocation,
    commitment: Commitment,
    label: Label,
}

/// What decides who wins what.
#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
enum Label {
    /// The seed alone.
    CommitmentOnly,
    /// The seed and the beacon of a round of drand.
    Beacon,
}

impl DrawTerms {
    /// The terms of a round with awards; `None` for other rounds.
    pub(crate) fn of(round: &Round) -> Option<Self> {
        let (commitment, allocation) = (round.commitment?, round.terms.allocation.clone());
        let label = if allocation.has_beacon() { Label::Beacon } else { Label::CommitmentOnly };
        Some(Self { units: round.terms.total, allocation, commitment, label })
    }
}

#[serde_with::skip_serializing_none]
#[derive(Serialize)]
struct AtEndDocument<'a> {
    state: State,
    closed: Option<ClosedDocument<'a>>,
    drawn_at: Option<Timestamp>,
}

#[derive(Serialize)]
struct ClosedDocument<'a> {
    at: Timestamp,
    entries: u32,
    root: String,
    entries_per_chunk: usize,
    winners: &'a [Winner],
}

#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
enum State {
    /// Entries may still come.
    Open,
    /// The entries are public. The winners are known once the beacon is posted.
    AwaitingBeacon,
    /// Entries and winners are public, and the winners get their prizes one by one.
    Closed,
    /// Every winner has the prize.
    Drawn,
}

impl<'a> AtEndDocument<'a> {
    fn of(draw: &'a Draw) -> Option<Self> {
        if !draw.round.terms.allocation.is_drawn_at_end() {
            return None;
        }
        let at_end = draw.at_end.as_ref();
        let (closed, drawn_at) = (at_end.and_then(|draw| draw.closed), at_end.and_then(|draw| draw.drawn_at_ms));
        let state = match (closed, drawn_at) {
            (_, Some(_)) => State::Drawn,
            (Some(_), None) if draw.awaits_beacon() => State::AwaitingBeacon,
            (Some(_), None) => State::Closed,
            (None, None) => State::Open,
        };
        let closed = closed.map(|closed| ClosedDocument {
            at: closed.at_ms.into(),
            entries: closed.entries,
            root: Hex(&closed.root).to_string(),
            entries_per_chunk: CHUNK_ENTRIES,
            winners: &draw.winners,
        });
        Some(Self { state, closed, drawn_at: drawn_at.map(Timestamp::from) })
    }
}

#[derive(Serialize)]
struct BeaconDocument {
    signature: String,
    randomness: String,
}

impl BeaconDocument {
    fn of(beacon: &Beacon) -> Self {
        let (signature, randomness) = (Hex(&beacon.signature).to_string(), Hex(&beacon.randomness()).to_string());
        Self { signature, randomness }
    }
}

/// A chunk of a draw's entries, in order: their units, and the hashes of their leaves.
#[derive(Serialize)]
struct EntriesDocument {
    chunk: u32,
    units: Vec<u32>,
    leaves: Vec<String>,
}

#[serde_with::skip_serializing_none]
#[derive(Serialize)]
struct DrawDocument<'a> {
    sale_id: SaleId,
    round: u32,
    encoding: u8,
    #[serde(flatten)]
    terms: Option<DrawTerms>,
    currency: Currency,
    closes_at: Timestamp,
    reveals_at: Timestamp,
    drand: Option<DrandRound>,
    beacon: Option<BeaconDocument>,
    seed: Option<String>,
    at_end: Option<AtEndDocument<'a>>,
}

impl<'a> DrawDocument<'a> {
    fn of(draw: &'a Draw) -> Self {
        let Draw { round: Round { id, terms, .. }, seed, .. } = draw;
        Self {
            sale_id: id.sale.clone(),
            round: id.number.0,
            encoding: ENCODING,
            terms: DrawTerms::of(&draw.round),
            currency: terms.price.currency,
            closes_at: terms.closes_at_ms.into(),
            reveals_at: reveals_at(terms.closes_at_ms).into(),
            drand: draw.drand_round(),
            beacon: draw.beacon.as_ref().map(BeaconDocument::of),
            seed: seed.as_ref().map(|Seed(bytes)| Hex(bytes).to_string()),
            at_end: AtEndDocument::of(draw),
        }
    }
}

pub(crate) async fn get_draw(deps: &CatalogDeps, request: &Request, id: &RoundId) -> Result<Response<Body>, Problem> {
    let draw = draw_of(deps, id).await?;
    let keep = if draw.is_final() { KEEP_REVEALED } else { KEEP };
    Ok(kept(request, &DrawDocument::of(&draw), keep))
}

/// A chunk of the entries of a draw at the end, once they have closed. They never change.
pub(crate) async fn entries(
    deps: &CatalogDeps,
    request: &Request,
    id: &RoundId,
    chunk: &str,
) -> Result<Response<Body>, Problem> {
    let none = || Problem::new(Code::UnknownSale).detail("the draw has no such entries");
    // Another spelling of the same number would be another page to a cache.
    let number = chunk.parse::<u32>().ok().filter(|number| number.to_string() == chunk);
    let number = number.ok_or_else(|| Problem::invalid("chunk: a number from 0"))?;
    let draw = draw_of(deps, id).await?;
    let closed = draw.at_end.as_ref().and_then(|draw| draw.closed).ok_or_else(none)?;
    // Chunks that cannot exist are not looked up.
    if u64::from(number) * CHUNK_ENTRIES as u64 >= u64::from(closed.entries) {
        return Err(none());
    }
    let entries = deps.shelf.entries(id, &closed.root, number).await.map_err(Problem::unanswered)?.ok_or_else(none)?;
    let document = EntriesDocument {
        chunk: number,
        units: entries.iter().map(|entry| entry.unit.0).collect(),
        leaves: entries.iter().map(|DrawEntry { leaf, .. }| Hex(leaf).to_string()).collect(),
    };
    Ok(kept(request, &document, KEEP_REVEALED))
}

async fn draw_of(deps: &CatalogDeps, id: &RoundId) -> Result<Arc<Draw>, Problem> {
    let none = || Problem::new(Code::UnknownSale).detail("the round has no draw");
    let listed = deps.shelf.listed().await.map_err(Problem::unanswered)?;
    // Rounds that have not begun are not looked up, so made-up ones cost nothing.
    if listed.rounds.get(&id.sale).is_some_and(|latest| id.number > latest.id.number) {
        return Err(none());
    }
    deps.shelf.draw(id).await.map_err(Problem::unanswered)?.ok_or_else(none)
}
