use ledger::{Guard, Ledger};
use sale::audit::{Audit, Claim, LedgerView, StockView};
use sale::{Order, Round, SaleId};
use stock::Stock;

use crate::{FulfilmentError, LANE};

/// The audit of a round, and what it was made from.
#[derive(Debug, Clone)]
pub struct Audited {
    /// Where every unit is.
    pub audit: Audit,
    /// Whether Redis has the round.
    pub in_redis: bool,
}

/// Where every unit of a round of `total` units is, by what Redis and the ledger say.
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
    let view = stock.view(sale, round, LANE).await?;
    let guards = ledger.guards(sale, round).await?;
    let ids: Vec<_> = guards.iter().map(|guard| guard.order_id.clone()).collect();
    let orders = ledger.orders(&ids).await?;
    let claim = |id: &sale::ReservationId, unit| Claim { id: id.clone(), unit, state: () };
    let ledger_view = LedgerView {
        guards: guards.iter().map(|Guard { order_id, unit, .. }| claim(order_id, *unit)).collect(),
        live_orders: orders
            .iter()
            .filter(|order| order.state.is_live())
            .map(|Order { id, unit, .. }| claim(id, *unit))
            .collect(),
    };
    let stock_view = view.as_ref().map_or_else(StockView::default, |view| view.to_audit(sale, round));
    Ok(Audited { audit: sale::audit::audit(total, &stock_view, &ledger_view), in_redis: view.is_some() })
}
