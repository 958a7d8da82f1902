use std::collections::{BTreeSet, HashMap, HashSet};

use futures::{StreamExt, stream};
use ledger::{Ledger, has_outlived_its_guards};
use range_set_blaze::RangeSetBlaze;
use sale::audit::{Audit, Awarded, Discrepancy, LedgerView, LiveOrder, MAX_DISCREPANCIES, Repair, StockView, Wrong};
use sale::{EpochMs, Order, ReservationId, Round, RoundId, Unit};
use serde::Serialize;
use stock::{Counters, RoundView, Stock};

use crate::error::Result;

/// How many orders a call reads to find what they won.
const ORDERS_PER_CALL: usize = 100;
const CALLS_AT_ONCE: usize = 8;
/// How many units a second look is taken at: a sale moves more than are listed while it is read.
pub(crate) const MOST_SUSPECTS: usize = 10_000;

#[derive(Debug, Clone)]
pub struct Audited {
    pub audit: Audit,
    pub in_redis: bool,
    pub awarded: Option<Awarded>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct UnitCounts {
    pub free: u32,
    pub held: u32,
    pub ordered: u32,
    pub oversold: u32,
    pub lost: u32,
    pub duplicated: u32,
}

impl From<&Audit> for UnitCounts {
    fn from(audit: &Audit) -> Self {
        let Audit { free, held, ordered, oversold, lost, duplicated, .. } = *audit;
        Self { free, held, ordered, oversold, lost, duplicated }
    }
}

/// Finds where every unit of a round is, from what Redis and the ledger say.
///
/// If Redis has lost an open round, a unit without an order counts as lost until the round is rebuilt; if Redis has
/// lost some of its lanes, only their units do. Before the round is first loaded, and once it is over, such a unit is
/// simply unsold, and there is nothing to repair.
///
/// Read in pages while the sale may go on, so it is only exact while nobody buys.
pub async fn audit(stock: &Stock, ledger: &Ledger, round: &Round, now: EpochMs) -> Result<Audited> {
    let nothing_is_lost = round.is_over(now) || round.loaded_at_ms.is_none();
    let view = match stock.of(round).view().await? {
        // The units of the other lanes are where they say.
        None if !nothing_is_lost => stock.of(round).view_of_reachable().await?,
        view => view,
    };
    let as_it_is = audit_view(view, ledger, &round.id, now, MAX_DISCREPANCIES).await?;
    let in_redis = as_it_is.is_some();
    let (audit, view) = match as_it_is {
        Some(AsItIs { mut audit, ledger, unknown, .. }) => {
            if unknown.lost > 0 {
                replace_repairs(&mut audit, vec![Repair::Rebuild {}]);
            }
            (audit, ledger)
        }
        None => {
            let view = ledger_view(ledger, &round.id, now).await?;
            (audit_of_orders(round.terms.total, &view, nothing_is_lost), view)
        }
    };
    Ok(Audited { audit, in_redis, awarded: awarded(ledger, round, &view).await? })
}

async fn awarded(ledger: &Ledger, round: &Round, view: &LedgerView) -> Result<Option<Awarded>> {
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

/// Redis does not have the round. Units without an order are unsold or, if Redis has lost them, in no place until the
/// round is loaded again, which is the only repair.
fn audit_of_orders(total: u32, ledger: &LedgerView, nothing_is_lost: bool) -> Audit {
    let (free, repairs) = if nothing_is_lost {
        let guarded = ledger.guards.iter().map(|reservation| reservation.unit.0);
        let taken = guarded.chain(ledger.live_orders.iter().map(|order| order.unit.0)).collect::<RangeSetBlaze<u32>>();
        ((RangeSetBlaze::from_iter([1..=total]) - taken).into_ranges().collect(), Vec::new())
    } else {
        (Vec::new(), vec![Repair::Rebuild {}])
    };
    let mut audit = sale::audit::audit(total, &StockView { free, reservations: Vec::new() }, ledger);
    replace_repairs(&mut audit, repairs);
    audit
}

fn replace_repairs(audit: &mut Audit, repairs: Vec<Repair>) {
    audit.discrepancies.iter_mut().for_each(|each| each.repairs.clone_from(&repairs));
    audit.repairs = repairs;
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct UnknownLanes {
    pub away: usize,
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

/// Audits a round that Redis has, as far as its lanes exist and answer. Redis knows the number of units.
pub(crate) async fn audit_view(
    view: Option<RoundView>,
    ledger: &Ledger,
    round: &RoundId,
    now: EpochMs,
    listing: usize,
) -> Result<Option<AsItIs>> {
    let Some(view) = view else { return Ok(None) };
    let twice = if view.counters.lanes.len() > 1 { view.free_twice(MAX_DISCREPANCIES) } else { Vec::new() };
    let RoundView { counters, free, reservations, held_still, unreachable, lost, .. } = view;
    let unknown = UnknownLanes { away: unreachable.len(), lost: lost.len() };
    let ledger = ledger_view(ledger, round, now).await?;
    // Only the first lane knows about the newest units.
    let taken = ledger.guards.iter().map(|guard| guard.unit.0).max().filter(|_| unknown != UnknownLanes::default());
    let total = taken.map_or(counters.total(), |taken| taken.max(counters.total()));
    let mut audit = sale::audit::audit_listing(listing, total, &StockView { free, reservations }, &ledger);
    let is_restore = |repair: &Repair| matches!(repair, Repair::Restore { .. });
    let lacks_nothing = held_still && !counters.is_miscounted() && !audit.repairs.iter().any(is_restore);
    if !held_still {
        // A unit that moved from one lane to another meanwhile may have been seen in neither.
        audit.repairs.retain(|repair| !is_restore(repair));
    } else if !twice.is_empty() {
        audit.repairs.push(Repair::Exclude { units: twice });
    }
    // What the count does not know of is handed out to nobody, unless it has another place.
    let hidden = counters.uncounted().saturating_sub(audit.duplicated).min(audit.free);
    audit.free -= hidden;
    audit.lost += hidden;
    let moves_units = |repair: &Repair| matches!(repair, Repair::Restore { .. } | Repair::Exclude { .. });
    if counters.is_miscounted() && !audit.repairs.iter().any(moves_units) {
        audit.repairs.insert(0, Repair::Restore { units: Vec::new() });
    }
    if unknown != UnknownLanes::default() {
        // Such a lane's knowledge is unavailable.
        let is_there = |guard: &&sale::Reservation| unreachable.contains(&guard.lane) || lost.contains(&guard.lane);
        let ids: HashSet<&ReservationId> = ledger.guards.iter().filter(is_there).map(|guard| &guard.id).collect();
        audit.repairs.retain(|repair| match repair {
            Repair::Adopt { id } | Repair::Release { id, .. } => !ids.contains(id),
            _ => true,
        });
    }
    Ok(Some(AsItIs { audit, counters, lacks_nothing, unknown, ledger }))
}

/// Live orders come from their own index, since a unit has only one guard, which leads to only one order. Where index
/// and guards agree nothing more is read. Orders of other units are read individually: both lag behind.
///
/// What an index has was written before, so orders that are read as live afterwards were live at the same time.
async fn ledger_view(ledger: &Ledger, round: &RoundId, now: EpochMs) -> Result<LedgerView> {
    let (guards, indexed) = tokio::try_join!(ledger.guards(round), ledger.live_orders(round))?;
    let found: HashSet<(Unit, &ReservationId)> = indexed.iter().map(|order| (order.unit, &order.id)).collect();
    let guarded: HashSet<(Unit, &ReservationId)> = guards.iter().map(|guard| (guard.unit, &guard.id)).collect();
    let disputed: HashSet<Unit> = found.symmetric_difference(&guarded).map(|(unit, _)| *unit).collect();
    let doubtful = found.union(&guarded).filter(|(unit, _)| disputed.contains(unit)).map(|(_, id)| *id);
    let doubtful: BTreeSet<ReservationId> = doubtful.cloned().collect();
    let read = ledger.orders(&Vec::from_iter(doubtful)).await?;
    let mut live_orders: Vec<LiveOrder> =
        indexed.iter().filter(|order| !disputed.contains(&order.unit)).cloned().collect();
    live_orders.extend(live(&read));
    // Without their guards, the orders of a round of last year would all look lost.
    let guarded: HashSet<ReservationId> = guards.iter().map(|guard| guard.id.clone()).collect();
    let outlived = read.into_iter().filter(|order| order.state.is_live() && has_outlived_its_guards(order, now));
    let outlived = outlived
        .map(|order| order.reservation)
        .filter(|reservation| !guarded.contains(&reservation.id))
        .collect::<Vec<_>>();
    let guards = [guards, outlived].concat();
    Ok(LedgerView { guards, live_orders })
}

fn live(orders: &[Order]) -> impl Iterator<Item = LiveOrder> {
    orders.iter().filter(|order| order.state.is_live()).map(|order| LiveOrder::from(&order.reservation))
}

/// Counts what is wrong with the units of a round, and is not just under way: what a second look finds in the same places.
/// It begins after the first has ended and reads the ledger by key, so no index lags behind, and a unit that moved
/// during the first look is elsewhere now. Says nothing if Redis has lost a part of the round meanwhile.
pub(crate) async fn recheck(
    stock: &Stock,
    ledger: &Ledger,
    round: &RoundId,
    lanes: u16,
    AsItIs { audit: first, ledger: view, counters: before, .. }: &mut AsItIs,
) -> Result<Option<UnitCounts>> {
    let suspects: HashSet<Unit> = first.discrepancies.iter().map(|discrepancy| discrepancy.unit).collect();
    let Some(RoundView { counters, free, reservations, unreachable, lost, .. }) =
        stock.round_in(round, lanes).view_of_reachable().await?
    else {
        return Ok(None);
    };
    if !(unreachable.is_empty() && lost.is_empty()) {
        return Ok(None);
    }
    let guards = ledger.guards_of(round, &Vec::from_iter(suspects.iter().copied())).await?;
    let of_orders = view.live_orders.iter().map(|order| (order.unit, &order.id));
    let of_reservations =
        view.guards.iter().chain(&guards).chain(reservations.iter().map(|stored| &stored.reservation));
    let ids = of_orders.chain(of_reservations.map(|reservation| (reservation.unit, &reservation.id)));
    let ids: BTreeSet<&ReservationId> = ids.filter(|(unit, _)| suspects.contains(unit)).map(|(_, id)| id).collect();
    let orders = ledger.orders(&Vec::from_iter(ids.into_iter().cloned())).await?;
    view.guards.retain(|guard| !suspects.contains(&guard.unit));
    view.guards.extend(guards);
    view.live_orders.retain(|order| !suspects.contains(&order.unit));
    view.live_orders.extend(live(&orders));
    let still_uncounted = if counters.is_read_still() { counters.uncounted() } else { u32::MAX };
    let second = sale::audit::audit_listing(MOST_SUSPECTS, counters.total(), &StockView { free, reservations }, view);
    let places = |audit: &Audit| -> HashMap<Unit, (Wrong, BTreeSet<String>)> {
        let of = |each: &Discrepancy| (each.unit, (each.wrong, each.found.iter().cloned().collect()));
        audit.discrepancies.iter().map(of).collect()
    };
    let second = places(&second);
    let mut counts = UnitCounts { oversold: 0, lost: 0, duplicated: 0, ..UnitCounts::from(&*first) };
    // Two orders that were read by key are live together, whatever an index says of the guard.
    let is_still = |unit: &Unit, (wrong, places): &(Wrong, BTreeSet<String>)| {
        let again = second.get(unit);
        again.is_some_and(|(again, same)| again == wrong && (*wrong == Wrong::Oversold || same == places))
    };
    for (_, (wrong, _)) in places(first).iter().filter(|(unit, found)| is_still(unit, found)) {
        match wrong {
            Wrong::Oversold => counts.oversold += 1,
            Wrong::Lost => counts.lost += 1,
            Wrong::Duplicated => counts.duplicated += 1,
        }
    }
    counts.lost += still_uncounted.min(before.uncounted()).saturating_sub(counts.duplicated);
    Ok(Some(counts))
}
