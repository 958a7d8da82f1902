//! Operating a running sale. A change goes to the ledger first, which decides and stores the request; then to Redis, at
//! once or from reconciliation within a minute.
//!
//! Each request names its round. The ledger checks it in the same conditional write, so a round that begins between an
//! operator's decision and the request is left alone. What a change makes of a round, and when it is refused, are rules
//! of `sale`.

use api::{Code, Object, Problem, Reply, caller, idempotency_key, json, json_body};
use http::StatusCode;
use lambda_http::Request;
use ledger::{Latest, UpdateOutcome};
use sale::{LogEntry, Offer, Rain, Refusal, Round, RoundId, RoundNumber};
use serde::Deserialize;
use uuid::Uuid;

use crate::deps::AdminDeps;
use crate::document::{NewRain, SaleDocument};

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

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ChangeRain {
    round: RoundNumber,
    rain: Object<NewRain>,
}

pub(crate) struct SaleUpdate {
    pub(crate) round: RoundId,
    pub(crate) entry: LogEntry,
}

impl SaleUpdate {
    /// Uses the request's idempotency key, or a new unique one.
    pub(crate) fn new(
        deps: &AdminDeps,
        request: &Request,
        sale: &str,
        round: RoundNumber,
        action: &str,
        parameters: String,
    ) -> Result<Self, Problem> {
        let key = idempotency_key(request)?;
        let key = key.map_or_else(|| Uuid::now_v7().as_simple().to_string(), str::to_owned);
        let (action, by, at_ms) = (action.to_owned(), Some(caller(request)?.user), deps.clock.now());
        let round = RoundId { sale: sale.parse()?, number: round };
        Ok(Self { round, entry: LogEntry { key, action, parameters, by, at_ms } })
    }

    fn in_round(deps: &AdminDeps, request: &Request, sale: &str, action: &str) -> Result<Self, Problem> {
        let InRound { round } = json_body(request)?;
        Self::new(deps, request, sale, round, action, String::new())
    }
}

pub(crate) async fn pause(deps: &AdminDeps, request: &Request, sale: &str) -> Reply {
    update_round(deps, &SaleUpdate::in_round(deps, request, sale, "pause")?, |round, _| Ok(round.pause())).await
}

pub(crate) async fn resume(deps: &AdminDeps, request: &Request, sale: &str) -> Reply {
    let now = deps.clock.now();
    update_round(deps, &SaleUpdate::in_round(deps, request, sale, "resume")?, |round, _| round.resume(now)).await
}

/// Ends the round now. One that has ended keeps its end.
pub(crate) async fn close(deps: &AdminDeps, request: &Request, sale: &str) -> Reply {
    let now = deps.clock.now();
    update_round(deps, &SaleUpdate::in_round(deps, request, sale, "close")?, |round, _| round.close(now)).await
}

/// Adds units to this round. Requires a key: without one, a retry could not be told from a second delivery.
pub(crate) async fn restock(deps: &AdminDeps, request: &Request, sale: &str) -> Reply {
    let Restock { round, units } = json_body(request)?;
    if idempotency_key(request)?.is_none() {
        return Err(Problem::invalid("idempotency-key: required, so that a retry adds nothing"));
    }
    let now = deps.clock.now();
    let update = SaleUpdate::new(deps, request, sale, round, "restock", units.to_string())?;
    update_round(deps, &update, |round, _| round.restock(units, now)).await
}

/// Changes when this round's units become available. Requires a key: without one, a retry would add `at_once` twice.
pub(crate) async fn rain(deps: &AdminDeps, request: &Request, sale: &str) -> Reply {
    let ChangeRain { round, rain } = json_body(request)?;
    if idempotency_key(request)?.is_none() {
        return Err(Problem::invalid("idempotency-key: required, so that a retry adds nothing"));
    }
    let (rain, now) = (Rain::from(rain.0), deps.clock.now());
    let update = SaleUpdate::new(deps, request, sale, round, "rain", rain.to_string())?;
    update_round(deps, &update, |round, _| round.rain(&rain, now)).await
}

/// Makes this round the last one. Repeating it changes nothing.
pub(crate) async fn end_recurrence(deps: &AdminDeps, request: &Request, sale: &str) -> Reply {
    let SaleUpdate { round, mut entry } = SaleUpdate::in_round(deps, request, sale, "end_recurrence")?;
    // The offer's log covers many rounds.
    entry.parameters = round.number.to_string();
    let outcome = deps.ledger.update_offer(&round, &entry, Offer::end_recurrence).await.map_err(Problem::unanswered)?;
    Ok(json(StatusCode::OK, &SaleDocument::of(made(&round, outcome)?)))
}

/// Changes a round by a rule of `sale`, and tells Redis.
pub(crate) async fn update_round(
    deps: &AdminDeps,
    SaleUpdate { round, entry }: &SaleUpdate,
    change: impl Fn(Round, &Offer) -> Result<Round, Refusal>,
) -> Reply {
    let latest = made(round, deps.ledger.update_round(round, entry, change).await.map_err(Problem::unanswered)?)?;
    // Otherwise reconciliation tells it.
    tell_redis(deps, &latest, "Redis gets the change later").await;
    Ok(json(StatusCode::OK, &SaleDocument::of(latest)))
}

/// Tells Redis of a change that the ledger has. A failure is logged, and no error for the operator.
pub(crate) async fn tell_redis(deps: &AdminDeps, latest: &Latest, otherwise: &str) {
    if let Some(round) = &latest.round
        && let Err(error) = deps.stock.of(round).amend(round).await
    {
        tracing::warn!(error = &error as &dyn std::error::Error, "{otherwise}");
    }
}

pub(crate) fn made(round: &RoundId, outcome: UpdateOutcome) -> Result<Latest, Problem> {
    match outcome {
        UpdateOutcome::Made(latest) => Ok(*latest),
        UpdateOutcome::Refused(refusal) => Err(refused(round, &refusal)),
        UpdateOutcome::RoundChanged(latest) => Err(Problem::new(Code::RoundChanged).with("round", latest.0)),
        UpdateOutcome::KeyReused => Err(Problem::new(Code::KeyReused)),
        UpdateOutcome::Unknown => Err(Problem::new(Code::UnknownSale)),
    }
}

/// A change that is never possible is an invalid request (400); one that is not possible now is a conflict (409).
pub(crate) fn refused(round: &RoundId, refusal: &Refusal) -> Problem {
    match refusal {
        Refusal::Units(_) | Refusal::Rate(_) => Problem::invalid(refusal.to_string()),
        Refusal::ClosesInThePast | Refusal::Overlap(_) => Problem::invalid_field("closes_at", refusal),
        Refusal::Terms(error) => Problem::invalid_field(error.field(), error),
        Refusal::Changed(version) => Problem::new(Code::SaleChanged).with("version", *version),
        Refusal::Over => Problem::new(Code::NotAmendable).detail(format!("round {} is over", round.number)),
        Refusal::Draft
        | Refusal::Withdrawn
        | Refusal::HasOpened
        | Refusal::Published(_)
        | Refusal::NotOpen
        | Refusal::Promised(_)
        | Refusal::Loaded(_)
        | Refusal::FewerUnits(_)
        | Refusal::DropIsOver(_)
        | Refusal::NotOver
        | Refusal::NeverAgain => Problem::new(Code::NotAmendable).detail(refusal.to_string()),
    }
}
