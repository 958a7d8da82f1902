//! Live figures of a running sale, cheap enough to poll every second: reads are bounded, silent parts are left out.

use std::collections::BTreeMap;
use std::time::Duration;

use api::{Reply, json};
use fulfilment::FulfilmentError;
use futures::FutureExt;
use futures::future::{BoxFuture, join_all};
use http::StatusCode;
use jiff::Timestamp;
use ledger::{Latest, Ledger, LedgerError};
use messaging::queue::{Depth, depth};
use process::OrderCount;
use sale::award::drand::DrandRound;
use sale::{EpochMs, Phase, Round, SaleId};
use serde::Serialize;
use stock::{Counters, PartialCounters, StockError};

use crate::beacon::drand_round;
use crate::deps::AdminDeps;
use crate::lookup::sale_of;

/// The longest wait for one part. The other parts are useful without it.
const PART_TIMEOUT: Duration = Duration::from_secs(6);

/// How many elements of the outbox are read to find the oldest: this runs every second. Reconciliation reads them all.
const MOST_OF_OUTBOX: usize = 10_000;

#[derive(Serialize)]
struct FiguresDocument {
    server_time: Timestamp,
    sale_id: SaleId,
    round: u32,
    state: State,
    stopped: Option<bool>,
    units: Option<Units>,
    /// The lanes that do not answer or that Redis has lost. Their units count as held.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unknown_lanes: Vec<u16>,
    /// The round of drand whose beacon must still be posted, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    awaits_beacon: Option<DrandRound>,
    answers: Option<BTreeMap<String, u64>>,
    queues: [QueueDocument; 3],
}

#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
enum State {
    Draft,
    #[serde(untagged)]
    Of(Phase),
}

/// Where the units are. They add up to the total.
#[derive(Debug, PartialEq, Eq, Serialize)]
struct Units {
    total: u32,
    free: u32,
    /// How many of the free units are still to become available. `None` in a round without a plan.
    #[serde(skip_serializing_if = "Option::is_none")]
    to_drop: Option<u32>,
    held: Option<u32>,
    ordered: Option<u32>,
    paid: Option<u32>,
    /// When the last three were read from the ledger.
    as_of: Option<Timestamp>,
}

#[derive(Serialize)]
struct QueueDocument {
    queue: &'static str,
    waiting: Option<u64>,
    delayed: Option<u64>,
    in_flight: Option<u64>,
    dead: Option<u64>,
    /// How long the oldest reservation has waited for its order, in seconds. SQS tells its ages only to CloudWatch.
    oldest_s: Option<u64>,
}

/// `free` is current; the ledger's counts are a moment old. Units sold since then count as held, returned ones as free.
impl Units {
    fn of(counters: &Counters, orders: Option<OrderCount>, now: EpochMs) -> Self {
        let (total, free) = (counters.total(), counters.free().min(counters.total()));
        let to_drop =
            counters.plan.is_some().then(|| counters.free().saturating_sub(counters.available(now)).min(free));
        let taken = total - free;
        let Some(OrderCount { unpaid, granted, paid, as_of_ms }) = orders else {
            return Self { total, free, to_drop, held: None, ordered: None, paid: None, as_of: None };
        };
        let paid = paid.min(taken);
        let ordered = unpaid.saturating_add(granted).min(taken - paid);
        let held = taken - paid - ordered;
        let (held, ordered, paid) = (Some(held), Some(ordered), Some(paid));
        Self { total, free, to_drop, held, ordered, paid, as_of: Some(as_of_ms.into()) }
    }
}

impl QueueDocument {
    fn of(queue: &'static str, depth: Option<Depth>, dead: Option<Depth>, oldest_s: Option<u64>) -> Self {
        Self {
            queue,
            waiting: depth.map(|depth| depth.waiting),
            delayed: depth.map(|depth| depth.delayed),
            in_flight: depth.map(|depth| depth.in_flight),
            dead: dead.map(|dead| dead.waiting),
            oldest_s,
        }
    }
}

pub(crate) async fn figures(deps: &AdminDeps, sale: &str) -> Reply {
    let AdminDeps { stock, ledger, sqs, queues, order_counts, clock, .. } = deps;
    let Latest { offer, round: latest } = sale_of(deps, sale).await?;
    let within = clock.limit(PART_TIMEOUT);
    let id = offer.latest_round_id();
    let lanes = latest.as_ref().map_or(offer.terms.lanes, |latest| latest.terms.lanes);
    let round = stock.round_in(&id, lanes);
    let depth_of = |url| part(within, "a queue", depth(sqs, url));
    let held_since = of_lanes(round.each_lane().map(|lane| lane.held_since(MOST_OF_OUTBOX).boxed()).collect());
    let in_redis = async {
        tokio::join!(
            part(within, "counters", round.partial_counters()),
            part(within, "answers", of_lanes(round.each_lane().map(|lane| lane.answers().boxed()).collect())),
            part(within, "the outbox", held_since),
        )
    };
    let in_sqs = async {
        tokio::join!(
            depth_of(&queues.orders),
            depth_of(&queues.orders_dlq),
            depth_of(&queues.expiry),
            depth_of(&queues.expiry_dlq),
            depth_of(&queues.quarantine),
        )
    };
    let awaited = async {
        let round = latest.as_ref().filter(|round| round.terms.allocation.has_beacon())?;
        part(within, "the beacon", awaited(ledger, round)).await.flatten()
    };
    let counted = async {
        let total = latest.as_ref().map_or(offer.terms.total, |latest| latest.terms.total);
        tokio::time::timeout(within, order_counts.of_round(&id, total)).await.ok().flatten()
    };
    let (
        (counters, answers, held_since),
        (orders, orders_dlq, expiry, expiry_dlq, quarantine),
        kill_switches,
        counted,
        awaits_beacon,
    ) = tokio::join!(in_redis, in_sqs, part(within, "kill switches", ledger.kill_switches()), counted, awaited);
    let now = clock.now();
    let stopped = kill_switches.map(|kill_switches| kill_switches.is_stopped(&offer.id));
    let oldest_s = held_since.into_iter().flatten().flatten().min().map(|since| now.since_ms(since) / 1000);
    let unknown_lanes = counters.as_ref().filter(|_| lanes > 1).map(PartialCounters::unknown).unwrap_or_default();
    let phase = |round: &Round| Phase::of(&round.terms, round.paused || stopped == Some(true), now);
    let state = latest.as_ref().map_or(State::Draft, |round| State::Of(phase(round)));
    let document = FiguresDocument {
        server_time: now.into(),
        state,
        stopped,
        units: counters.and_then(|known| known.counters).map(|counters| Units::of(&counters, counted, now)),
        unknown_lanes,
        answers: answers.map(sum),
        awaits_beacon,
        queues: [
            QueueDocument::of("orders", orders, orders_dlq, oldest_s),
            QueueDocument::of("expiry", expiry, expiry_dlq, None),
            // Nobody processes the quarantine: all of its messages are dead.
            QueueDocument::of("quarantine", None, quarantine, None),
        ],
        round: id.number.0,
        sale_id: id.sale,
    };
    Ok(json(StatusCode::OK, &document))
}

/// The results of those lanes that answer.
async fn of_lanes<T>(asked: Vec<BoxFuture<'_, Result<T, StockError>>>) -> Result<Vec<T>, StockError> {
    let (mut said, mut failed) = (Vec::new(), None);
    for answer in join_all(asked).await {
        match answer {
            Ok(answer) => said.push(answer),
            Err(error) => failed = Some(error),
        }
    }
    match failed {
        Some(error) if said.is_empty() => Err(error),
        _ => Ok(said),
    }
}

fn sum(lanes: Vec<BTreeMap<String, u64>>) -> BTreeMap<String, u64> {
    let mut answers = BTreeMap::new();
    for (code, count) in lanes.into_iter().flatten() {
        *answers.entry(code).or_default() += count;
    }
    answers
}

async fn awaited(ledger: &Ledger, round: &Round) -> Result<Option<DrandRound>, LedgerError> {
    Ok(match ledger.beacon(&round.id).await? {
        Some(_) => None,
        None => drand_round(ledger, round).await?,
    })
}

/// The result of a part, or `None` if it fails or takes too long.
pub(crate) async fn part<T, E>(within: Duration, what: &str, asked: impl Future<Output = Result<T, E>>) -> Option<T>
where
    FulfilmentError: From<E>,
{
    let answer = tokio::time::timeout(within, asked).await;
    let answer = answer.map_or(Err(FulfilmentError::OutOfTime), |answer| answer.map_err(FulfilmentError::from));
    answer.inspect_err(|error| tracing::warn!(error = error as &dyn std::error::Error, what, "left out")).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counters(free: u32) -> Counters {
        Counters { next_unit: 11 - free, last_unit: 10, ..Counters::default() }
    }

    #[test]
    fn units_add_up_whatever_has_moved_between_the_readings() {
        for free in 0..=10 {
            for (unpaid, granted, paid) in
                [(0, 0, 0), (3, 0, 2), (10, 0, 0), (0, 0, 10), (8, 0, 5), (u32::MAX, 1, 1), (0, 7, 0), (0, u32::MAX, 0)]
            {
                let orders = OrderCount { unpaid, granted, paid, as_of_ms: EpochMs(1) };
                let units = Units::of(&counters(free), Some(orders), EpochMs(1));
                let sum = units.free + units.held.unwrap() + units.ordered.unwrap() + units.paid.unwrap();
                assert_eq!((sum, units.free, units.total), (10, free, 10), "{units:?}");
                assert!(units.paid <= Some(paid) && units.ordered <= Some(unpaid.saturating_add(granted)), "{units:?}");
            }
        }
        assert_eq!(Units::of(&counters(4), None, EpochMs(1)).held, None);
    }

    #[test]
    fn what_is_still_to_drop_is_told_apart_from_what_can_be_had() {
        let plan = |text: &str| Counters { plan: text.parse().ok(), last_unit: 0, next_unit: 1, ..counters(0) };
        let to_drop = |text: &str, ms| {
            let units = Units::of(&plan(text), None, EpochMs(ms));
            (units.free, units.to_drop)
        };
        let at = [999, 1000, 1500, 9000].map(|ms| to_drop("9 1000 2 500 1000+3", ms));
        assert_eq!(at, [(9, Some(9)), (9, Some(6)), (9, Some(4)), (9, Some(0))]);
        assert_eq!(Units::of(&counters(4), None, EpochMs(1)).to_drop, None, "without a plan");
    }
}
