//! Histories of runs: clients' requests and answers, and the ledger's content. The crate `history` checks them.

use std::io::BufWriter;
use std::path::PathBuf;

use anyhow::{Context, Result};
use aws_sdk_dynamodb::Client as DynamoDb;
use aws_sdk_dynamodb::types::AttributeValue;
use history::{
    Answer, Buyers, Clocks, History, LedgerReading, Name, Question, Recorder, Redis, Report, Round, Status, Supply,
};
use load::{Failure, Request, Response};
use sale::{LogEntry, Order, RoundId};
use stock::COOLDOWN_MS;

use crate::client::{Client, payment_of};
use crate::deployment::Deployment;
use crate::paths;

/// What is known about a round besides its terms and its orders.
#[derive(Debug, Clone, Copy)]
pub struct RoundFacts {
    /// Whether Redis may have lost something.
    pub redis: Redis,
    /// Whether others bought as well.
    pub buyers: Buyers,
    /// Whether the functions' clocks are this machine's.
    pub clocks: Clocks,
    /// Whether the ledger was read while nothing was under way.
    pub ledger: LedgerReading,
}

/// Sends a request for `user` and records it. A request for a unit is for round `round` of its sale.
pub async fn send(
    client: &load::Client,
    recorder: &Recorder,
    n: usize,
    user: &str,
    round: &RoundId,
    request: &Request,
) -> Result<Response, Failure> {
    let asked = history::Request {
        method: request.method.as_str(),
        path: request.path(),
        key: request.idempotency_key(),
        body: &request.body,
    };
    let asking = recorder.send(asked, user, round.number.0);
    let response = client.send(n, request).await?;
    if let Some(asking) = asking {
        asking.hears_http(response.status, &response.body);
    }
    Ok(response)
}

/// Reports a payment for a reservation, always the same one, and records it. Returns the outcome.
pub(crate) async fn pay(
    client: &Client,
    recorder: &Recorder,
    key: &str,
    round: &RoundId,
    reservation: &str,
) -> Result<String> {
    let payment = payment_of(reservation);
    let question = Question::Pay { reservation: Name::of(reservation), payment: Name::of(&payment) };
    let asking = recorder.ask(&round.to_string(), "", question);
    let outcome = client.pay(key, reservation, &payment).await?;
    asking.hears(outcome.parse().map_or(Answer::Unknown, Answer::Payment));
    Ok(outcome)
}

pub fn add_round(history: &mut History, round: &sale::Round, orders: &[Order], facts: RoundFacts) {
    let RoundFacts { redis, buyers, clocks, ledger } = facts;
    let (terms, supply) = (&round.terms, supply(round));
    history.rounds.push(Round {
        id: round.id.to_string(),
        units: terms.total,
        limit: terms.per_user_limit.into(),
        supply,
        redis,
        buyers,
        cooldown_ms: COOLDOWN_MS.into(),
        clocks,
        ledger,
    });
    for order in orders.iter().filter(|order| order.reservation.id.round == round.id) {
        // A state without a status belongs to a reservation that never became an order.
        let status = order.state.status().parse().unwrap_or(Status::Failed);
        history.orders.push(history::Order {
            round: Name::of(&round.id.to_string()),
            reservation: Name::of(&order.reservation.id.to_string()),
            user: Name::of(order.reservation.user.as_str()),
            unit: order.reservation.unit.0,
            status,
            reason: order.failure.map(|failure| Name::of(failure.as_str())),
            reserved_ms: Some(order.reservation.reserved_at_ms.0),
            ended_ms: order.ended_at_ms.map(|at| at.0),
        });
    }
}

/// The history of a run on a deployment that has come to rest: what its clients heard, and what the ledger has of its
/// round, whose buyers were all recorded.
pub async fn at_rest(deployment: &Deployment, recorder: &Recorder, id: &RoundId, redis: Redis) -> Result<History> {
    let (read_at, clocks) = (recorder.now_ns(), recorder.clocks());
    let dynamodb = DynamoDb::new(&deployment.patient_aws_config());
    let orders = every_order(&dynamodb, &deployment.table).await?;
    let round = deployment.ledger().round(id).await?.with_context(|| format!("the ledger has lost {id}"))?;
    let (mut history, ledger) = (recorder.take(), LedgerReading::AtRest(read_at));
    add_round(&mut history, &round, &orders, RoundFacts { redis, buyers: Buyers::Recorded, clocks, ledger });
    Ok(history)
}

/// When the units of a round were available. An edit may add units to a round that is on sale. Before Redis has the
/// round it cannot: whatever it changes is loaded with the round.
fn supply(round: &sale::Round) -> Supply {
    let terms = &round.terms;
    let sold_from = round.loaded_at_ms.unwrap_or_else(|| terms.first_opens_at_ms());
    let may_add_units = |entry: &LogEntry| match &*entry.action {
        "restock" => true,
        "edit" => entry.at_ms >= sold_from,
        _ => false,
    };
    let is_withheld = terms.rain.is_some() || terms.quota().is_some() || round.log.entries().iter().any(may_add_units);
    if is_withheld { Supply::Withheld } else { Supply::AtOnce }
}

/// Checks a history. If the report has objections, the history is written to `target/history/NAME.jsonl`.
pub fn judge(history: &History, name: &str) -> Result<(Report, Option<PathBuf>)> {
    let report = history::check(history);
    if report.objections().is_empty() {
        return Ok((report, None));
    }
    let file = paths::target().join("history").join(format!("{name}.jsonl"));
    let write = || {
        std::fs::create_dir_all(file.parent().unwrap_or(&file))?;
        history.write(BufWriter::new(std::fs::File::create(&file)?))
    };
    write().with_context(|| format!("cannot write {}", file.display()))?;
    Ok((report, Some(file)))
}

/// Every order in a table, by a scan, which no index can affect.
pub async fn every_order(client: &DynamoDb, table: &str) -> Result<Vec<Order>> {
    let mut pages = client
        .scan()
        .table_name(table)
        .consistent_read(true)
        .filter_expression("begins_with(pk, :order)")
        .expression_attribute_values(":order", AttributeValue::S("ORDER#".to_owned()))
        .into_paginator()
        .items()
        .send();
    let mut orders = Vec::new();
    while let Some(item) = pages.next().await {
        orders.push(serde_dynamo::from_item(item?)?);
    }
    Ok(orders)
}

#[cfg(test)]
mod tests {
    use sale::{DoorTerms, EpochMs, Offer};
    use serde_json::json;

    use super::*;

    const LOADED: EpochMs = EpochMs(50_000);
    const OPENS: EpochMs = EpochMs(60_000);

    /// A round in whose log this was done at this time.
    fn changed(action: &str, at_ms: EpochMs) -> sale::Round {
        let terms = json!({
            "title": "A lamp", "opens_at_ms": OPENS, "closes_at_ms": OPENS.plus_s(60), "total": 100,
            "per_user_limit": 1, "price_minor": 990, "currency": "EUR", "payment_window_s": 900,
            "door": DoorTerms::default(),
        });
        let terms = serde_json::from_value(terms).unwrap();
        let (_, round) = Offer::draft("lamp".parse().unwrap(), terms, None).publish();
        let (key, action) = ("key".to_owned(), action.to_owned());
        let entry = LogEntry { key, action, parameters: String::new(), by: None, at_ms };
        let mut log = sale::Log::default();
        log.push(entry);
        sale::Round { loaded_at_ms: Some(LOADED), log, ..round }
    }

    #[test]
    fn only_changes_of_a_round_on_sale_withhold_units_from_the_checks() {
        let (before, during) = (EpochMs(LOADED.0 - 1), OPENS);
        for (action, at_ms, expected) in [
            // As an operator of the soak begins a day.
            ("edit", before, Supply::AtOnce),
            ("edit", during, Supply::Withheld),
            ("edit", LOADED, Supply::Withheld),
            ("restock", before, Supply::Withheld),
            ("pause", during, Supply::AtOnce),
        ] {
            assert_eq!(supply(&changed(action, at_ms)), expected, "{action} at {at_ms:?}");
        }
        let never_loaded = sale::Round { loaded_at_ms: None, ..changed("edit", LOADED) };
        assert_eq!(supply(&never_loaded), Supply::AtOnce, "it was edited before it opened");
    }
}
