use std::collections::HashMap;

use ledger::Ledger;
use sale::audit::{Audit, Claim, LedgerView, Repair, StockView};
use sale::{EpochMs, ReservationId, Round, Sale, SaleId};
use stock::{Counters, Stock};

use crate::LANE;
use crate::error::FulfilmentError;

/// The audit of a round, and what it was made from.
#[derive(Debug, Clone)]
pub struct Audited {
    /// Where every unit is.
    pub audit: Audit,
    /// Whether Redis has the round.
    pub in_redis: bool,
    /// Whether the round's own number of units is not known, so that the sale's of today stands for it: Redis has lost the
    /// round, and it ended before the ledger kept rounds.
    pub total_is_assumed: bool,
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
pub async fn audit(
    stock: &Stock,
    ledger: &Ledger,
    sale: &Sale,
    round: Round,
    now: EpochMs,
) -> Result<Audited, FulfilmentError> {
    if let Some((audit, _)) = audit_as_it_is(stock, ledger, &sale.id, round).await? {
        return Ok(Audited { audit, in_redis: true, total_is_assumed: false });
    }
    let view = ledger_view(ledger, &sale.id, round).await?;
    let past = if round < sale.round { ledger.past_round(&sale.id, round).await? } else { None };
    let total_is_assumed = round < sale.round && past.is_none();
    let total = past.map_or(sale.terms.total, |terms| terms.total);
    let is_over = round < sale.round || now >= sale.terms.closes_at_ms;
    let audit = if is_over { audit_of_the_past(total, &view) } else { audit_to_be_rebuilt(total, &view) };
    Ok(Audited { audit, in_redis: false, total_is_assumed })
}

/// What no order has was not sold.
fn audit_of_the_past(total: u32, ledger: &LedgerView) -> Audit {
    let mut taken: Vec<u32> = ledger.guards.iter().chain(&ledger.live_orders).map(|claim| claim.unit.0).collect();
    taken.sort_unstable();
    let mut free = Vec::new();
    let mut next = 1;
    for unit in taken.into_iter().chain([total + 1]) {
        if unit > next {
            free.push(next..=(unit - 1).min(total));
        }
        next = next.max(unit + 1);
    }
    let mut audit = sale::audit::audit(total, &StockView { free, holds: Vec::new() }, ledger);
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
    sale: &SaleId,
    round: Round,
) -> Result<Option<(Audit, Counters)>, FulfilmentError> {
    let Some(view) = stock.view(sale, round, LANE).await? else { return Ok(None) };
    let ledger_view = ledger_view(ledger, sale, round).await?;
    let audit = sale::audit::audit(view.counters.last, &view.to_audit(sale, round), &ledger_view);
    Ok(Some((audit, view.counters)))
}

/// Live orders come from an index of their own, since a unit has one guard only and so leads to one order only. Where index
/// and guards agree nothing more is read. Each order of which only one of the two knows is read by itself: the index
/// lacks orders of earlier versions, may have those that they ended, and both lag behind.
async fn ledger_view(ledger: &Ledger, sale: &SaleId, round: Round) -> Result<LedgerView, FulfilmentError> {
    let (guards, indexed) = tokio::try_join!(ledger.guards(sale, round), ledger.live_orders(sale, round))?;
    let owners: HashMap<_, _> = guards.iter().map(|guard| (guard.unit, &guard.order_id)).collect();
    let (agreed, alone): (Vec<_>, Vec<_>) =
        indexed.into_iter().partition(|order| owners.get(&order.unit) == Some(&&order.id));
    let known: std::collections::HashSet<&ReservationId> = agreed.iter().map(|order| &order.id).collect();
    let by_guard = guards.iter().map(|guard| &guard.order_id).filter(|id| !known.contains(id));
    let doubtful: std::collections::BTreeSet<&ReservationId> =
        by_guard.chain(alone.iter().map(|order| &order.id)).collect();
    let doubtful: Vec<ReservationId> = doubtful.into_iter().cloned().collect();
    let read = ledger.orders(&doubtful).await?;

    let claim = |id: &ReservationId, unit, since_ms| Claim { id: id.clone(), unit, since_ms, state: () };
    let agreed = agreed.iter().map(|order| claim(&order.id, order.unit, order.reserved_at_ms));
    let read = read.iter().filter(|order| order.state.is_live());
    let read = read.map(|order| claim(&order.id, order.unit, order.reserved_at_ms));
    Ok(LedgerView {
        guards: guards.iter().map(|guard| claim(&guard.order_id, guard.unit, guard.reserved_at_ms)).collect(),
        live_orders: agreed.chain(read).collect(),
    })
}
