use ledger::Ledger;
use sale::audit::{Audit, Claim, LedgerView, StockView};
use sale::{ReservationId, Round, SaleId};
use stock::{Counters, Stock};

use crate::{FulfilmentError, LANE};

/// The audit of a round, and what it was made from.
#[derive(Debug, Clone)]
pub struct Audited {
    /// Where every unit is.
    pub audit: Audit,
    /// Whether Redis has the round.
    pub in_redis: bool,
}

/// Where every unit of a round is, by what Redis and the ledger say. A round that Redis does not have is taken for one of
/// `total` units.
///
/// Read in pages while the sale may go on, so it is exact only while nobody buys.
///
/// # Errors
/// If a part does not answer.
pub async fn audit(
    stock: &Stock,
    ledger: &Ledger,
    sale: &SaleId,
    round: Round,
    total: u32,
) -> Result<Audited, FulfilmentError> {
    if let Some((audit, _)) = audit_as_it_is(stock, ledger, sale, round).await? {
        return Ok(Audited { audit, in_redis: true });
    }
    let ledger_view = ledger_view(ledger, sale, round).await?;
    Ok(Audited { audit: sale::audit::audit(total, &StockView::default(), &ledger_view), in_redis: false })
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

async fn ledger_view(ledger: &Ledger, sale: &SaleId, round: Round) -> Result<LedgerView, FulfilmentError> {
    let guards = ledger.guards(sale, round).await?;
    let ids: Vec<_> = guards.iter().map(|guard| guard.order_id.clone()).collect();
    let orders = ledger.orders(&ids).await?;
    let claim = |id: &ReservationId, unit, since_ms| Claim { id: id.clone(), unit, since_ms, state: () };
    Ok(LedgerView {
        guards: guards.iter().map(|guard| claim(&guard.order_id, guard.unit, guard.reserved_at_ms)).collect(),
        live_orders: orders
            .iter()
            .filter(|order| order.state.is_live())
            .map(|order| claim(&order.id, order.unit, order.reserved_at_ms))
            .collect(),
    })
}
