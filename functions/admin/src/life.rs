//! Sales other than operating their rounds: create, find, edit, publish, delete, withdraw, duplicate and list them.

use std::collections::HashMap;

use api::{Code, Problem, Reply, caller, json, json_body, no_body};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http::{Response, StatusCode, header::CACHE_CONTROL};
use lambda_http::{Body, Request};
use ledger::{Created, Deleted, Latest, ListedState, Position, Withdrawal};
use sale::{
    EpochMs, InvalidTerms, LogEntry, Offer, Refusal, Round, RoundId, RoundNumber, SaleId, SaleState, latest_rounds,
};
use serde_json::{Map, Value};
use stock::{Counters, RoundStock};
use uuid::Uuid;

use crate::busy::busy;
use crate::deps::AdminDeps;
use crate::document::{Duplicate, EditSale, LoggedSaleDocument, NewSale, SaleDocument, SalesDocument};
use crate::lookup::sale_of;
use crate::query::{Query, bad_cursor, mark};
use crate::update::{SaleUpdate, made, refused, tell_redis, update_round};

/// The default and largest number of sales on a page.
const USUAL_PAGE: usize = 50;
const MAX_PAGE: usize = 100;
/// How many characters of a change the log keeps. A longer one is cut, and a hash of the whole is added.
const MAX_LOGGED: usize = 300;
/// How often a withdrawal is tried while others change the round at the same time.
const TRIES: usize = 3;
/// Seconds after which to retry a withdrawal that is not possible right now: warmup runs every minute.
const RETRY_AFTER_S: u32 = 15;
/// The log's parameters of a pause that is part of a withdrawal.
const ON_THE_WAY: &str = "withdraw";
/// The longest key of an item in a list, `ROUND#sale#round`.
const MAX_LISTED_KEY: usize = 80;

pub(crate) async fn create(deps: &AdminDeps, request: &Request) -> Reply {
    let (id, terms, recurrence) = json_body::<NewSale>(request)?.into_parts();
    deps.picture_hosts.check(&terms.goods.pictures)?;
    create_draft(deps, Offer::draft(id, terms, recurrence), entry(deps, request, "create")?).await
}

async fn create_draft(deps: &AdminDeps, mut offer: Offer, entry: LogEntry) -> Reply {
    let problems = offer.terms.problems();
    if !problems.is_empty() {
        let told = |problem: InvalidTerms| (problem.field().to_owned(), problem.to_string());
        return Err(Problem::invalid_fields(problems.into_iter().map(told)));
    }
    if offer.terms.closes_at_ms <= deps.clock.now() {
        return Err(Problem::invalid_field("closes_at", "closes_at is over"));
    }
    offer.keeps_apart().map_err(|error| Problem::invalid_field("closes_at", error))?;
    offer.beacon_comes_in_time().map_err(|error| Problem::invalid_field(error.field(), &error))?;
    offer.log.push(entry);
    match deps.ledger.create_offer(&offer).await.map_err(Problem::unanswered)? {
        Created::Now(offer) => Ok(json(StatusCode::CREATED, &SaleDocument::of(Latest { offer, round: None }))),
        Created::Before(offer) => Ok(json(StatusCode::OK, &SaleDocument::of(sale_of(deps, offer.id.as_str()).await?))),
        Created::Other(_) => Err(Problem::new(Code::SaleExists)),
    }
}

pub(crate) async fn publish(deps: &AdminDeps, request: &Request, sale: &str) -> Reply {
    no_body(request)?;
    let entry = entry(deps, request, "publish")?;
    let published = deps.ledger.publish(&sale.parse()?, &entry).await.map_err(Problem::unanswered)?;
    let published = published.ok_or_else(|| Problem::new(Code::UnknownSale))?;
    if published.offer.state == SaleState::Withdrawn {
        return Err(Problem::new(Code::NotAmendable).detail("it was withdrawn"));
    }
    Ok(json(StatusCode::OK, &SaleDocument::of(published)))
}

/// A log entry for a request without an idempotency key, which can be repeated anyway.
fn entry(deps: &AdminDeps, request: &Request, action: &str) -> Result<LogEntry, Problem> {
    let (key, parameters) = (String::new(), String::new());
    let (by, at_ms) = (Some(caller(request)?.user), deps.clock.now());
    Ok(LogEntry { key, action: action.to_owned(), parameters, by, at_ms })
}

pub(crate) async fn get_sale(deps: &AdminDeps, sale: &str) -> Reply {
    let latest = sale_of(deps, sale).await?;
    // A posted beacon has its own item, since its round may be long over. The item also serves as the log entry.
    let beacon = match &latest.round {
        Some(round) if round.terms.allocation.has_beacon() => {
            deps.ledger.beacon(&round.id).await.map_err(Problem::unanswered)?
        }
        _ => None,
    };
    let busy = busy(deps, std::slice::from_ref(&latest)).await;
    Ok(json(StatusCode::OK, &LoggedSaleDocument::of(latest, &busy, beacon)))
}

/// Changes a draft, the future rounds or, with `round`, that round, if it still has the version that the operator saw.
pub(crate) async fn edit(deps: &AdminDeps, request: &Request, sale: &str) -> Reply {
    let edit: EditSale = json_body(request)?;
    deps.picture_hosts.check(edit.pictures())?;
    let parameters = logged(&json_body::<Map<String, Value>>(request)?);
    match edit.seen()? {
        (Some(round), seen) => {
            let now = deps.clock.now();
            let update = SaleUpdate::new(deps, request, sale, round, "edit", parameters)?;
            update_round(deps, &update, |round, offer| {
                unchanged(seen, round.version)?;
                let edit = edit.of(&round.terms);
                offer.edit_round(round, &edit, now)
            })
            .await
        }
        (None, seen) => edit_offer(deps, request, sale, &edit, seen, parameters).await,
    }
}

async fn edit_offer(
    deps: &AdminDeps,
    request: &Request,
    sale: &str,
    edit: &EditSale,
    seen: u32,
    parameters: String,
) -> Reply {
    let now = deps.clock.now();
    let latest = sale_of(deps, sale).await?.offer.latest_round;
    let SaleUpdate { round, entry } = SaleUpdate::new(deps, request, sale, latest, "edit", parameters)?;
    let change = |offer: Offer| {
        unchanged(seen, offer.version)?;
        let edit = edit.of(&offer.terms);
        if edit.closes_at_ms.is_some_and(|closes_at| closes_at <= now) {
            return Err(Refusal::ClosesInThePast);
        }
        offer.edit(&edit)
    };
    let outcome = deps.ledger.update_offer(&round, &entry, change).await.map_err(Problem::unanswered)?;
    Ok(json(StatusCode::OK, &SaleDocument::of(made(&round, outcome)?)))
}

fn unchanged(seen: u32, version: u32) -> Result<(), Refusal> {
    if seen == version { Ok(()) } else { Err(Refusal::Changed(version)) }
}

/// An edit's changes as text for the log, in the order of the fields' names: the same request gives the same text.
fn logged(body: &Map<String, Value>) -> String {
    let named = ["round", "round_version", "version"];
    let changes: Map<String, Value> =
        body.iter().filter(|(name, _)| !named.contains(&name.as_str())).map(|(n, v)| (n.clone(), v.clone())).collect();
    let text = Value::Object(changes).to_string();
    // The version distinguishes two requests with the same key.
    let seen: Vec<String> = named.iter().filter_map(|name| Some(format!("{name} {}", body.get(*name)?))).collect();
    let (seen, short) = (seen.join(", "), text.chars().take(MAX_LOGGED).collect::<String>());
    if short.len() == text.len() { format!("{seen}: {text}") } else { format!("{seen}: {short}… {}", mark(&text)) }
}

pub(crate) async fn delete(deps: &AdminDeps, request: &Request, sale: &str) -> Reply {
    no_body(request)?;
    let (id, entry) = (sale.parse()?, entry(deps, request, "delete")?);
    match deps.ledger.delete_draft(&id).await.map_err(Problem::unanswered)? {
        Deleted::Now => {
            tracing::warn!(operator = entry.by.as_ref().map(ToString::to_string), sale = %id, "a draft is deleted");
            let response = Response::builder().status(StatusCode::NO_CONTENT).header(CACHE_CONTROL, "no-store");
            Ok(response.body(Body::Empty).expect("every header above is a plain value"))
        }
        Deleted::NoDraft => {
            Err(Problem::new(Code::NotAmendable).detail("the sale is not a draft; withdraw a published sale instead"))
        }
        Deleted::Unknown => Err(Problem::new(Code::UnknownSale)),
    }
}

/// Withdraws a published sale before anybody can buy. A round that may be in Redis is paused there first and then
/// checked: nobody can buy while it is paused, and the withdrawal is conditional on that version.
pub(crate) async fn withdraw(deps: &AdminDeps, request: &Request, sale: &str) -> Reply {
    no_body(request)?;
    let (id, entry) = (sale.parse()?, entry(deps, request, "withdraw")?);
    let mut paused = None;
    for _ in 0..TRIES {
        let withdrawn = deps.ledger.withdraw(&id, &entry, deps.clock.now(), paused).await;
        match withdrawn.map_err(Problem::unanswered)? {
            Withdrawal::Done(latest) => {
                // If that fails, the round stays paused there, since nobody can resume it.
                tell_redis(deps, &latest, "the withdrawn round stays paused in Redis").await;
                return Ok(json(StatusCode::OK, &SaleDocument::of(*latest)));
            }
            Withdrawal::ToPause(round) => paused = Some(pause_in_redis(deps, &round, &entry).await?),
            Withdrawal::Refused(refusal) => {
                let round = RoundId { sale: id, number: RoundNumber(1) };
                if refusal == Refusal::HasOpened {
                    go_on_selling(deps, &round, &entry).await?;
                }
                return Err(refused(&round, &refusal));
            }
            Withdrawal::Unknown => return Err(Problem::new(Code::UnknownSale)),
        }
    }
    Err(later("the sale is being changed by others"))
}

fn later(why: &str) -> Problem {
    Problem::new(Code::Overloaded).detail(why).retry_after_s(RETRY_AFTER_S)
}

fn step(request: &LogEntry, action: &str) -> LogEntry {
    let (key, action) = (Uuid::now_v7().as_simple().to_string(), action.to_owned());
    LogEntry { key, action, parameters: ON_THE_WAY.to_owned(), ..request.clone() }
}

/// Pauses a round in the ledger and in Redis. Returns the paused version, or resumes it if somebody has bought there.
async fn pause_in_redis(deps: &AdminDeps, id: &RoundId, request: &LogEntry) -> Result<u32, Problem> {
    let latest = deps.ledger.latest(&id.sale).await.map_err(Problem::unanswered)?;
    let mut round = latest.and_then(|latest| latest.round).ok_or_else(|| Problem::new(Code::UnknownSale))?;
    if !round.paused {
        let outcome = deps.ledger.update_round(id, &step(request, "pause"), |round, _| Ok(round.pause())).await;
        let latest = made(id, outcome.map_err(Problem::unanswered)?)?;
        round = latest.round.ok_or_else(|| Problem::new(Code::UnknownSale))?;
    }
    let stock = deps.stock.of(&round);
    stock.amend(&round).await.map_err(Problem::unanswered)?;
    let Some(counters) = stock.counters().await.map_err(Problem::unanswered)? else {
        // It is being loaded, or Redis has lost it together with what was sold.
        return Err(later("the round is being loaded into Redis and stays paused; try again"));
    };
    if !counters.paused || counters.version < round.version {
        return Err(later("Redis has another version of the round"));
    }
    if nobody_has_bought(stock, &counters).await? {
        return Ok(round.version);
    }
    go_on_selling(deps, id, request).await?;
    Err(refused(id, &Refusal::HasOpened))
}

/// Undoes the pause of a failed withdrawal, this or an earlier one that stopped half-way. An operator's pause stays.
async fn go_on_selling(deps: &AdminDeps, id: &RoundId, request: &LogEntry) -> Result<(), Problem> {
    let latest = deps.ledger.latest(&id.sale).await.map_err(Problem::unanswered)?;
    let is_paused_on_the_way = |round: &Round| {
        let last = round.log.entries().last();
        round.paused && last.is_some_and(|last| last.action == "pause" && last.parameters == ON_THE_WAY)
    };
    let Some(round) = latest.and_then(|latest| latest.round).filter(is_paused_on_the_way) else { return Ok(()) };
    let (version, now) = (round.version, deps.clock.now());
    let resume = |seen: Round, _: &Offer| {
        unchanged(version, seen.version)?;
        seen.resume(now)
    };
    let resumed = deps.ledger.update_round(id, &step(request, "resume"), resume).await.map_err(Problem::unanswered)?;
    // If somebody has changed it meanwhile, their change wins.
    if let Ok(Latest { round: Some(round), .. }) = made(id, resumed) {
        deps.stock.of(&round).amend(&round).await.map_err(Problem::unanswered)?;
    }
    Ok(())
}

/// Whether no unit was ever handed out. The time alone does not tell, since Redis has its own clock.
async fn nobody_has_bought(stock: RoundStock<'_>, counters: &Counters) -> Result<bool, Problem> {
    if counters.lanes.is_empty() {
        return Ok(counters.next_unit == 1 && counters.moves == 0);
    }
    // Units also move between lanes, so this looks for users with reservations.
    let view = stock.view().await.map_err(Problem::unanswered)?;
    Ok(view.is_some_and(|view| view.reservations.is_empty() && view.counters.free() == view.counters.total()))
}

pub(crate) async fn duplicate(deps: &AdminDeps, request: &Request, sale: &str) -> Reply {
    let Duplicate { sale_id: id, opens_at, closes_at } = json_body(request)?;
    let Latest { offer, round } = sale_of(deps, sale).await?;
    let mut copy = offer.duplicate(id, round.as_ref());
    let lasts_ms = copy.terms.closes_at_ms.0 - copy.terms.opens_at_ms.0;
    if let Some(opens_at) = opens_at {
        copy.terms.opens_at_ms = opens_at.into();
        copy.terms.closes_at_ms = EpochMs(copy.terms.opens_at_ms.0.saturating_add(lasts_ms));
    }
    if let Some(closes_at) = closes_at {
        copy.terms.closes_at_ms = closes_at.into();
    }
    create_draft(deps, copy, LogEntry { parameters: offer.id.to_string(), ..entry(deps, request, "duplicate")? }).await
}

pub(crate) async fn list(deps: &AdminDeps, request: &Request) -> Reply {
    let query = Query::new(request, &["state", "cursor", "limit"])?;
    let Some(state) = query.parsed("state", state)? else {
        if query.get("cursor").or(query.get("limit")).is_some() {
            return Err(Problem::invalid("state: required with cursor and limit"));
        }
        return published(deps).await;
    };
    let limit = query.limit(USUAL_PAGE, MAX_PAGE)?;
    let mark = query.mark(&["state"]);
    let after = query.get("cursor").map(|text| place(text, &mark)).transpose()?;
    let page = deps.ledger.sales_in(state, deps.clock.now(), after, limit).await.map_err(Problem::unanswered)?;
    let next = page.next.map(|place| cursor(&place, &mark));
    let busy = busy(deps, &page.sales).await;
    Ok(json(StatusCode::OK, &SalesDocument::of(page.sales, &busy, next)))
}

async fn published(deps: &AdminDeps) -> Reply {
    let mut rounds = deps.ledger.published_rounds(deps.clock.now()).await.map_err(Problem::unanswered)?;
    // Another function's clock may already have ended the round and begun the next one.
    let latest: HashMap<SaleId, RoundNumber> =
        latest_rounds(rounds.iter().cloned()).into_iter().map(|(sale, round)| (sale, round.id.number)).collect();
    rounds.retain(|round| latest.get(&round.id.sale) == Some(&round.id.number));
    let sales: Vec<SaleId> = rounds.iter().map(|round| round.id.sale.clone()).collect();
    let offers = deps.ledger.offers(&sales).await.map_err(Problem::unanswered)?;
    let mut offers: HashMap<SaleId, Offer> = offers.into_iter().map(|offer| (offer.id.clone(), offer)).collect();
    let of_round = |round: Round| Some(Latest { offer: offers.remove(&round.id.sale)?, round: Some(round) });
    let latest: Vec<Latest> = rounds.into_iter().filter_map(of_round).collect();
    let busy = busy(deps, &latest).await;
    Ok(json(StatusCode::OK, &SalesDocument::of(latest, &busy, None)))
}

fn state(text: &str) -> Result<ListedState, String> {
    match text {
        "draft" => Ok(ListedState::Draft),
        "published" => Ok(ListedState::Published),
        "open" => Ok(ListedState::Open),
        "ended" => Ok(ListedState::Ended),
        "withdrawn" => Ok(ListedState::Withdrawn),
        _ => Err("must be one of draft, published, open, ended, withdrawn".to_owned()),
    }
}

/// Formats a cursor. The table's keys have a `#`, which must be escaped in a query.
fn cursor(Position { at_ms, pk }: &Position, mark: &str) -> String {
    URL_SAFE_NO_PAD.encode(format!("{mark}.{}.{pk}", at_ms.0))
}

fn place(text: &str, mark: &str) -> Result<Position, Problem> {
    let parse = || {
        let read = String::from_utf8(URL_SAFE_NO_PAD.decode(text).ok()?).ok()?;
        let (of, rest) = read.split_once('.')?;
        let (at_ms, pk) = rest.split_once('.')?;
        let place = Position { at_ms: EpochMs(at_ms.parse().ok()?), pk: pk.to_owned() };
        let is_key = (1..=MAX_LISTED_KEY).contains(&pk.len()) && (pk.starts_with("SALE#") || pk.starts_with("ROUND#"));
        (of == mark && is_key && cursor(&place, mark) == text).then_some(place)
    };
    parse().ok_or_else(bad_cursor)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_cursor_leads_on_in_its_own_list_only() {
        let at = Position { at_ms: EpochMs(7), pk: "ROUND#lamp#2".to_owned() };
        assert_eq!(place(&cursor(&at, "a"), "a").unwrap(), at);
        assert!(place(&cursor(&at, "a"), "b").is_err());
        let order = Position { pk: "ORDER#x".to_owned(), ..at };
        assert!(place(&cursor(&order, "a"), "a").is_err());
    }

    #[test]
    fn the_log_says_what_was_changed_within_bounds() {
        let read = |value: Value| logged(value.as_object().unwrap());
        assert_eq!(read(json!({ "version": 3, "title": "é" })), r#"version 3: {"title":"é"}"#);
        let long = |last: &str| read(json!({ "version": 3, "title": format!("{}{last}", "é".repeat(400)) }));
        assert!(long("a").chars().count() < MAX_LOGGED + 40 && long("a") != long("b"));
    }
}
