use std::collections::{BTreeSet, HashMap, HashSet};

use futures::{StreamExt, stream};
use ledger::Ledger;
use sale::audit::{Audit, Awarded, LedgerView, LiveOrder, MAX_DISCREPANCIES, Repair, StockView};
use sale::{EpochMs, ReservationId, Round, RoundId};
use stock::{Counters, RoundView, Stock};

use crate::error::FulfilmentError;

/// How many orders a call reads to find what they won.
const ORDERS_PER_CALL: usize = 100;
const CALLS_AT_ONCE: usize = 8;

/// The audit of a round, with what it was made from.
#[derive(Debug, Clone)]
pub struct Audited {
    /// Where every unit is.
    pub audit: Audit,
    /// Whether Redis has the round.
    pub in_redis: bool,
    /// What its orders won, if it has awards.
    pub awarded: Option<Awarded>,
}

/// Finds where every unit of a round is, from what Redis and the ledger say.
///
/// If Redis has lost an open round, a unit without an order counts as lost until the round is rebuilt; if Redis has
/// lost some of its lanes, only their units do. Before the round is first loaded, and once it is over, such a unit is
/// simply unsold, and there is nothing to repair.
///
/// Read in pages while the sale may go on, so it is only exact while nobody buys.
///
/// # Errors
/// If a part does not answer.
pub async fn audit(stock: &Stock, ledger: &Ledger, round: &Round, now: EpochMs) -> Result<Audited, FulfilmentError> {
    let nothing_is_lost = round.is_over(now) || round.loaded_at_ms.is_none();
    let view = match stock.of(round).view().await? {
        // The units of the other lanes are where they say.
        None if !nothing_is_lost => stock.of(round).view_of_reachable().await?,
        view => view,
    };
    let as_it_is = audit_view(view, ledger, &round.id).await?;
    let in_redis = as_it_is.is_some();
    let (audit, view) = match as_it_is {
        Some(AsItIs { mut audit, ledger, unknown, .. }) => {
            if unknown.lost > 0 {
                to_be_rebuilt(&mut audit);
            }
            (audit, ledger)
        }
        None => {
            let (view, total) = (ledger_view(ledger, &round.id).await?, round.terms.total);
            (if nothing_is_lost { audit_of_orders(total, &view) } else { audit_to_be_rebuilt(total, &view) }, view)
        }
    };
    Ok(Audited { audit, in_redis, awarded: awarded(ledger, round, &view).await? })
}

/// What the live orders of a round won, according to the orders themselves.
async fn awarded(ledger: &Ledger, round: &Round, view: &LedgerView) -> Result<Option<Awarded>, FulfilmentError> {
    let Some(mut awarded) = Awarded::nothing(&round.terms) else { return Ok(None) };
    if round.terms.allocation.is_drawn_at_end()
        && let Some(draw) = ledger.draw(&round.id).await?
        && let Some(closed) = draw.closed
    {
        awarded.note_draw(closed.entries, draw.drawn_at_ms.is_some());
    }
    let ids: Vec<ReservationId> = view.live_orders.iter().map(|order| order.id.clone()).collect();
    let calls: Vec<Vec<ReservationId>> = ids.chunks(ORDERS_PER_CALL).map(<[_]>::to_vec).collect();
    let calls = stream::iter(calls).map(|ids| async move { ledger.orders(&ids).await });
    let mut calls = calls.buffer_unordered(CALLS_AT_ONCE);
    while let Some(orders) = calls.next().await {
        orders?.iter().for_each(|order| awarded.add(order));
    }
    Ok(Some(awarded))
}

/// Units without an order are unsold.
fn audit_of_orders(total: u32, ledger: &LedgerView) -> Audit {
    let guarded = ledger.guards.iter().map(|claim| claim.unit.0);
    let mut taken: Vec<u32> = guarded.chain(ledger.live_orders.iter().map(|order| order.unit.0)).collect();
    taken.sort_unstable();
    let mut free = Vec::new();
    let mut next = 1;
    for unit in taken.into_iter().chain([total + 1]) {
        if unit > next {
            free.push(next..=(unit - 1).min(total));
        }
        next = next.max(unit + 1);
    }
    let mut audit = sale::audit::audit(total, &StockView { free, entries: Vec::new() }, ledger);
    audit.repairs.clear();
    audit.discrepancies.iter_mut().for_each(|each| each.repairs.clear());
    audit
}

/// Units without an order are in no place until the round is loaded again, which is the only repair.
fn audit_to_be_rebuilt(total: u32, ledger: &LedgerView) -> Audit {
    let mut audit = sale::audit::audit(total, &StockView::default(), ledger);
    to_be_rebuilt(&mut audit);
    audit
}

fn to_be_rebuilt(audit: &mut Audit) {
    audit.repairs = vec![Repair::Rebuild {}];
    audit.discrepancies.iter_mut().for_each(|each| each.repairs = vec![Repair::Rebuild {}]);
}

/// How many of a round's lanes are missing in an audit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct UnknownLanes {
    /// Lanes that do not answer.
    pub away: usize,
    /// Lanes that Redis has lost.
    pub lost: usize,
}

/// The audit of a round that Redis has, with what it was made from.
pub(crate) struct AsItIs {
    pub(crate) audit: Audit,
    pub(crate) counters: Counters,
    /// Whether nothing moved and no unit is in no place.
    pub(crate) lacks_nothing: bool,
    pub(crate) unknown: UnknownLanes,
    ledger: LedgerView,
}

/// Audits a round that Redis has, as far as its lanes exist and answer.
pub(crate) async fn audit_as_it_is(
    stock: &Stock,
    ledger: &Ledger,
    round: &RoundId,
    lanes: u16,
) -> Result<Option<AsItIs>, FulfilmentError> {
    let view = stock.round_in(round, lanes).view_of_reachable().await?;
    audit_view(view, ledger, round).await
}

/// Audits a round that Redis has. Redis knows the number of units.
async fn audit_view(
    view: Option<RoundView>,
    ledger: &Ledger,
    round: &RoundId,
) -> Result<Option<AsItIs>, FulfilmentError> {
    let Some(view) = view else { return Ok(None) };
    let twice = if view.counters.lanes.len() > 1 { view.free_twice(MAX_DISCREPANCIES) } else { Vec::new() };
    let RoundView { counters, free, entries, held_still, unreachable, lost, .. } = view;
    let unknown = UnknownLanes { away: unreachable.len(), lost: lost.len() };
    let ledger = ledger_view(ledger, round).await?;
    // Only the first lane knows about the newest units.
    let taken = ledger.guards.iter().map(|guard| guard.unit.0).max().filter(|_| unknown != UnknownLanes::default());
    let total = taken.map_or(counters.total(), |taken| taken.max(counters.total()));
    let mut audit = sale::audit::audit(total, &StockView { free, entries }, &ledger);
    let is_restore = |repair: &Repair| matches!(repair, Repair::Restore { .. });
    let lacks_nothing = held_still && !audit.repairs.iter().any(is_restore);
    if !held_still {
        // A unit that moved from one lane to another meanwhile may have been seen in neither.
        audit.repairs.retain(|repair| !is_restore(repair));
    } else if !twice.is_empty() {
        audit.repairs.push(Repair::Exclude { units: twice });
    }
    if unknown != UnknownLanes::default() {
        // Such a lane's knowledge is unavailable.
        let is_there = |guard: &&sale::Claim| unreachable.contains(&guard.lane) || lost.contains(&guard.lane);
        let ids: HashSet<&ReservationId> = ledger.guards.iter().filter(is_there).map(|guard| &guard.id).collect();
        audit.repairs.retain(|repair| match repair {
            Repair::Adopt { id } | Repair::Release { id, .. } => !ids.contains(id),
            _ => true,
        });
    }
    Ok(Some(AsItIs { audit, counters, lacks_nothing, unknown, ledger }))
}

/// Live orders come from their own index, since a unit has only one guard, which leads to only one order. Where index
/// and guards agree nothing more is read. An order that only one of them has is read individually: the index lacks
/// orders of earlier versions, may still have orders that those ended, and both lag behind.
async fn ledger_view(ledger: &Ledger, round: &RoundId) -> Result<LedgerView, FulfilmentError> {
    let (guards, indexed) = tokio::try_join!(ledger.guards(round), ledger.live_orders(round))?;
    let owners: HashMap<_, _> = guards.iter().map(|guard| (guard.unit, &guard.id)).collect();
    let (mut live_orders, alone): (Vec<_>, Vec<_>) =
        indexed.into_iter().partition(|order| owners.get(&order.unit) == Some(&&order.id));
    let known: HashSet<&ReservationId> = live_orders.iter().map(|order| &order.id).collect();
    let by_guard = guards.iter().map(|guard| &guard.id).filter(|id| !known.contains(id));
    let doubtful: BTreeSet<&ReservationId> = by_guard.chain(alone.iter().map(|order| &order.id)).collect();
    let doubtful: Vec<ReservationId> = doubtful.into_iter().cloned().collect();
    let read = ledger.orders(&doubtful).await?;
    live_orders.extend(read.iter().filter(|order| order.state.is_live()).map(|order| LiveOrder::from(&order.claim)));
    Ok(LedgerView { guards, live_orders })
}
