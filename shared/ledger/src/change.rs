use sale::{Milestones, Order};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_dynamo::{AttributeValue, Item};

use crate::{LedgerError, NotedPayment, NotedRound, keys};

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Change {
    pub sequence_number: String,
    new_image: Option<Item>,
    old_image: Option<Item>,
}

/// A fact about the domain that follows from a write, for systems outside. Each happens once, however often something
/// is written; only selling out may happen again, and is then counted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fact {
    Order(Order),
    RefundDue(NotedPayment),
    RefundMade(NotedPayment),
    Opened(NotedRound),
    SoldOut(NotedRound),
    Ended(NotedRound),
}

/// The attributes of an order whose changes count. The others need not be readable.
#[derive(Deserialize)]
struct Before {
    state: String,
    award: Option<IgnoredAny>,
}

struct OrderChange {
    order: Order,
    has_moved: bool,
    has_won: bool,
}

impl Change {
    /// The order that was written, changed its state, or won in a draw. Fails if this version cannot read it.
    pub fn moved_order(&self) -> Result<Option<Order>, LedgerError> {
        let change = self.order()?.filter(|change| change.has_moved || change.has_won);
        Ok(change.map(|change| change.order))
    }

    /// The facts that follow from it, in order. Fails if the item cannot be read by this version.
    pub fn facts(&self) -> Result<Vec<Fact>, LedgerError> {
        if let Some(change) = self.order()? {
            return Ok(change.has_moved.then_some(Fact::Order(change.order)).into_iter().collect());
        }
        if let Some(new) = self.new_item(keys::PAYMENTS_BEGIN) {
            return self.facts_of_payment(new);
        }
        if let Some(new) = self.new_item(keys::MILESTONES_BEGIN) {
            return self.facts_of_round(new);
        }
        Ok(Vec::new())
    }

    fn order(&self) -> Result<Option<OrderChange>, LedgerError> {
        let Some(new) = self.new_item(keys::ORDERS_BEGIN) else { return Ok(None) };
        let order: Order = serde_dynamo::from_item(new.clone())?;
        let Some(old) = &self.old_image else {
            return Ok(Some(OrderChange { order, has_moved: true, has_won: false }));
        };
        let before: Before = serde_dynamo::from_item(old.clone())?;
        let has_won = order.award.is_some() && before.award.is_none();
        let has_moved = before.state != order.state.as_str();
        Ok(Some(OrderChange { order, has_moved, has_won }))
    }

    fn facts_of_payment(&self, new: &Item) -> Result<Vec<Fact>, LedgerError> {
        let came = |name: &str| new.contains_key(name) && !self.had(name);
        let (is_due, is_made) = (came("refund_due_at_ms"), came("refunded_at_ms"));
        if !is_due && !is_made {
            return Ok(Vec::new());
        }
        let payment: NotedPayment = serde_dynamo::from_item(new.clone())?;
        let due = is_due.then(|| Fact::RefundDue(payment.clone()));
        let made = (is_made && payment.refunded.is_some()).then_some(Fact::RefundMade(payment));
        Ok(due.into_iter().chain(made).collect())
    }

    fn facts_of_round(&self, new: &Item) -> Result<Vec<Fact>, LedgerError> {
        let round: NotedRound = serde_dynamo::from_item(new.clone())?;
        let before = match &self.old_image {
            Some(old) => serde_dynamo::from_item::<_, NotedRound>(old.clone())?.milestones,
            None => Milestones::default(),
        };
        let now = &round.milestones;
        let came = [
            (now.opened_at_ms.is_some() && before.opened_at_ms.is_none(), Fact::Opened as fn(NotedRound) -> Fact),
            (now.sold_out_times > before.sold_out_times, Fact::SoldOut),
            (now.ended_at_ms.is_some() && before.ended_at_ms.is_none(), Fact::Ended),
        ];
        Ok(came.into_iter().filter(|(came, _)| *came).map(|(_, fact)| fact(round.clone())).collect())
    }

    fn had(&self, name: &str) -> bool {
        self.old_image.as_ref().is_some_and(|old| old.contains_key(name))
    }

    fn new_item(&self, begin: &str) -> Option<&Item> {
        let is_one = |item: &&Item| matches!(item.get("pk"), Some(AttributeValue::S(pk)) if pk.starts_with(begin));
        self.new_image.as_ref().filter(is_one)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn order(state: &str, award: Option<Value>) -> Item {
        let mut order = json!({
            "pk": "ORDER#lamp.1.0198f0b2a4c57d1e8f00aabbccddeeff", "id": "lamp.1.0198f0b2a4c57d1e8f00aabbccddeeff",
            "orders_of": "alice", "user": "alice", "state": state, "lane": 0, "unit": 17, "slot": 1,
            "reserved_at_ms": 1_795_510_800_123_i64, "created_at_ms": 1_795_510_800_456_i64, "order_shard": "lamp#1#15",
        });
        if let Some(award) = award {
            order["award"] = award;
        }
        serde_dynamo::to_item(order).unwrap()
    }

    #[test]
    fn an_order_has_moved_if_its_state_or_what_it_won_is_new() {
        let prize = || Some(json!({ "kind": "prize", "prize": 1 }));
        for (old, new, has_moved) in [
            (None, order("GRANTED", None), true),
            (Some(order("GRANTED", None)), order("GRANTED", None), false),
            (Some(order("GRANTED", None)), order("GRANTED", prize()), true),
            (Some(order("GRANTED", prize())), order("GRANTED", prize()), false),
            (Some(order("GRANTED", prize())), order("CANCELLED", prize()), true),
        ] {
            let change = Change { sequence_number: "1".to_owned(), new_image: Some(new), old_image: old };
            assert_eq!(change.moved_order().unwrap().is_some(), has_moved, "{change:?}");
        }
    }
}
