use std::collections::{BTreeSet, HashMap, HashSet};

use ledger::Ledger;
use sale::audit::{Audit, LedgerView, LiveOrder, Repair, StockView};
use sale::{EpochMs, ReservationId, Round, RoundId};
use stock::{Counters, RoundView, Stock};

use crate::error::FulfilmentError;

/// The audit of a round, and what it was made from.
#[derive(Debug, Clone)]
pub struct Audited {
    /// Where every unit is.
    pub audit: Audit,
    /// Whether Redis has the round.
    pub in_redis: bool,
}

/// Where every unit of a round is, by what Redis and the ledger say.
///
/// Of a round that Redis has lost, a unit that no order has is lost while the round is open, until it is rebuilt. Once
/// it is over, such a unit was not sold, and there is nothing to repair.
///
/// Read in pages while the sale may go on, so it is exact only while nobody buys.
///
/// # Errors
/// If a part does not answer.
pub async fn audit(stock: &Stock, ledger: &Ledger, round: &Round, now: EpochMs) -> Result<Audited, FulfilmentError> {
    if let Some((audit, _)) = audit_as_it_is(stock, ledger, &round.id).await? {
        return Ok(Audited { audit, in_redis: true });
    }
    let (view, total) = (ledger_view(ledger, &round.id).await?, round.terms.total);
    let audit = if round.is_over(now) { audit_of_the_past(total, &view) } else { audit_to_be_rebuilt(total, &view) };
    Ok(Audited { audit, in_redis: false })
}

/// What no order has was not sold.
fn audit_of_the_past(total: u32, ledger: &LedgerView) -> Audit {
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

/// What no order has is in no place until the round is loaded again, which is the one repair there is.
fn audit_to_be_rebuilt(total: u32, ledger: &LedgerView) -> Audit {
    let mut audit = sale::audit::audit(total, &StockView::default(), ledger);
    audit.repairs = vec![Repair::Rebuild {}];
    audit.discrepancies.iter_mut().for_each(|each| each.repairs = vec![Repair::Rebuild {}]);
    audit
}

/// The audit of a round that Redis has. Redis knows how many units there are.
pub(crate) async fn audit_as_it_is(
    stock: &Stock,
    ledger: &Ledger,
    round: &RoundId,
) -> Result<Option<(Audit, Counters)>, FulfilmentError> {
    let Some(view) = stock.round(round).view().await? else { return Ok(None) };
    let RoundView { counters, free, entries, .. } = view;
    let audit = sale::audit::audit(counters.total(), &StockView { free, entries }, &ledger_view(ledger, round).await?);
    Ok(Some((audit, counters)))
}

/// Live orders come from an index of their own, since a unit has one guard only and so leads to one order only. Where index
/// and guards agree nothing more is read. Each order of which only one of the two knows is read by itself: the index
/// lacks orders of earlier versions, may have those that they ended, and both lag behind.
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
