use std::collections::HashSet;

use ::sale::{OrderState, Unit};
use anyhow::Result;
use serde_json::json;

use super::{Found, Staged};
use crate::client::NewSale;
use crate::demo::figures::Figures;
use crate::demo::plan::Plan;

/// A sale for money. Some pay, some cancel, some let the payment window pass, and returned units are sold again.
pub(in crate::demo) struct Sale;

impl Staged for Sale {
    fn offer(plan: &Plan) -> NewSale {
        plan.sale("lamp")
    }

    async fn count(found: &Found<'_>) -> Result<Figures> {
        let came_back = |state| matches!(state, OrderState::Expired | OrderState::Cancelled);
        let came_back = found.orders.iter().filter(|order| came_back(order.state)).map(|order| order.reservation.unit);
        let came_back: HashSet<Unit> = came_back.collect();
        let resold = found.live().filter(|order| came_back.contains(&order.reservation.unit)).count();
        // The audit, which every kind has, checks all that there is to check.
        let mut figures = Figures::new(true);
        // The answers to those who came for returned units, by code.
        let resale = &found.crowd.promised.lock().resale;
        figures.facts(json!({ "payment_window_s": found.crowd.plan.payment_window_s(), "resale": resale }));
        figures.both("sold", "sold", found.live().count());
        figures.both("paid", "  paid", found.count(OrderState::Paid));
        figures.both("resold", "  resold after coming back", resold);
        found.unsold(&mut figures);
        Ok(figures)
    }
}
