use std::collections::{BTreeMap, HashSet};
use std::fmt;

use ::sale::{OrderState, Unit};
use anyhow::Result;
use serde::Serialize;

use super::{Found, OrderCounts, Staged};
use crate::client::NewSale;
use crate::demo::plan::Plan;
use crate::demo::text::row;

/// A sale for money. Some pay, some cancel, some let the payment window pass, and returned units are sold again.
#[derive(Debug, Serialize)]
pub(in crate::demo) struct Sale {
    payment_window_s: u32,
    /// The answers to those who came for returned units, by code.
    resale: BTreeMap<String, u64>,
    /// Units of live orders.
    sold: usize,
    #[serde(flatten)]
    orders: OrderCounts,
    /// Units that were sold after they came back.
    resold: usize,
}

impl Staged for Sale {
    fn offer(plan: &Plan) -> NewSale {
        plan.sale("lamp")
    }

    async fn of(found: &Found<'_>) -> Result<Self> {
        let came_back = |state| matches!(state, OrderState::Expired | OrderState::Cancelled);
        let came_back = found.orders.iter().filter(|order| came_back(order.state)).map(|order| order.reservation.unit);
        let came_back: HashSet<Unit> = came_back.collect();
        Ok(Self {
            payment_window_s: found.plan.payment_window_s(),
            resale: found.crowd.promised().resale.clone(),
            sold: found.live().count(),
            orders: OrderCounts::of(found),
            resold: found.live().filter(|order| came_back.contains(&order.reservation.unit)).count(),
        })
    }

    /// Nothing besides the audit, which all kinds have.
    fn is_right(&self) -> bool {
        true
    }
}

impl fmt::Display for Sale {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        row!(f, "sold", self.sold)?;
        row!(f, "  paid", self.orders.paid)?;
        row!(f, "  resold after coming back", self.resold)?;
        self.orders.unsold(f)
    }
}
