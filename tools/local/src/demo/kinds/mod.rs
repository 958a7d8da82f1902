//! The kinds of sales: what each puts on sale, and what its report shows and proves.

mod early_access;
mod line;
mod lottery;
mod prizes;
mod rain;
mod red_packet;
mod sale;

use std::sync::Arc;

use ::sale::{EpochMs, Order, OrderState, RainPlan};
use anyhow::Result;
use load::Outcome;

use crate::client::NewSale;
use crate::demo::crowd::{Crowd, Turn};
use crate::demo::figures::Figures;
use crate::demo::plan::Plan;
use crate::demo::rush;

pub(super) use early_access::MembersFirst;
pub(super) use line::InLine;
pub(super) use lottery::Lottery;
pub(super) use prizes::Prizes;
pub(super) use rain::Downpour;
pub(super) use red_packet::RedPacket;
pub(super) use sale::Sale;

pub(super) trait Staged {
    fn offer(plan: &Plan) -> NewSale;

    /// Who the buyer with this number is in the sale.
    fn turn(_: &Plan, _number: usize) -> Turn {
        Turn::Rush
    }

    fn rush(plan: &Plan) -> Result<load::Plan> {
        plan.rush()
    }

    /// Lets everybody come, and signals `begins` when the first one does.
    async fn come(crowd: &Arc<Crowd>, plan: &load::Plan) -> Outcome {
        rush::rush(crowd, plan).await
    }

    /// What the operator does before anybody comes.
    async fn prepare(_: &Crowd) -> Result<()> {
        Ok(())
    }

    /// What the operator does during the rush.
    async fn update(_: &Crowd) -> Result<SaleUpdates> {
        Ok(SaleUpdates { began_ms: EpochMs(0), plans: Vec::new() })
    }

    /// What must happen once all orders are written.
    async fn end(_: &Crowd) -> Result<()> {
        Ok(())
    }

    /// The part of the report that only this kind has, and whether every sum and count of it is right. That no unit is
    /// oversold, lost or duplicated is checked for all kinds.
    async fn count(found: &Found<'_>) -> Result<Figures>;
}

pub(super) struct Found<'a> {
    pub(super) crowd: &'a Crowd,
    pub(super) orders: &'a [Order],
    pub(super) updates: &'a SaleUpdates,
}

#[derive(Debug)]
pub(super) struct SaleUpdates {
    /// When the first buyer came.
    pub(super) began_ms: EpochMs,
    /// Every plan of drops that was in force, in order.
    pub(super) plans: Vec<RainPlan>,
}

impl Found<'_> {
    pub(super) fn live(&self) -> impl Iterator<Item = &Order> {
        self.orders.iter().filter(|order| order.state.is_live())
    }

    pub(super) fn count(&self, state: OrderState) -> usize {
        self.orders.iter().filter(|order| order.state == state).count()
    }

    /// Adds the orders of a sale for money that have no unit.
    fn unsold(&self, figures: &mut Figures) {
        figures.both("expired", "expired", self.count(OrderState::Expired));
        figures.both("cancelled", "cancelled", self.count(OrderState::Cancelled));
        figures.both("failed", "failed", self.count(OrderState::Failed));
    }
}

#[cfg(test)]
mod tests {
    use ::sale::{Allocation, Terms};
    use serde_json::json;

    use super::*;
    use crate::demo::plan::Kind;

    pub(super) fn plan(units: u32, buyers: u32) -> Plan {
        let (kind, rate, lanes) = (Kind::Sale, 600, 1);
        Plan { kind, units, buyers, rate, lanes, payment_window_s: None, hold: false, built: true, json: true }
    }

    /// What a kind puts on sale, as the ledger has it: with times as numbers.
    fn offered<K: Staged>(plan: &Plan) -> Terms {
        let mut offer = serde_json::to_value(K::offer(plan)).unwrap();
        for name in ["opens_at", "closes_at"] {
            let at: jiff::Timestamp = offer[name].as_str().unwrap().parse().unwrap();
            offer[format!("{name}_ms")] = json!(EpochMs::from(at));
        }
        // The API adds it.
        offer["door"] = json!(::sale::DoorTerms::default());
        serde_json::from_value(offer).unwrap()
    }

    /// Most kinds are staged in no test, so nothing else notices an offer that would be refused, such as one with no
    /// prizes, or with more prizes than tickets.
    #[test]
    fn every_kind_offers_what_can_be_published() {
        for units in [1, 2, 7, 9, 10, 19, 20, 60, 100, 1_000, 10_000] {
            let plan = plan(units, units * 10);
            for terms in [
                offered::<Sale>(&plan),
                offered::<RedPacket>(&plan),
                offered::<Prizes>(&plan),
                offered::<Lottery>(&plan),
                offered::<Downpour>(&plan),
                offered::<MembersFirst>(&plan),
                offered::<InLine>(&plan),
            ] {
                assert_eq!((terms.total, terms.problems()), (units, Vec::new()), "{terms:?}");
            }
        }
        let Allocation::Prizes { prizes, .. } = offered::<Lottery>(&plan(1_000, 1)).allocation else { panic!() };
        assert_eq!(prizes.iter().map(|prize| prize.count).sum::<u32>(), 100);
    }
}
