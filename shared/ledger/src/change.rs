use sale::Order;
use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::LedgerError;
use crate::item::OrderItem;

/// One write of the table, as its stream tells it.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Change {
    /// Its place in the stream.
    pub sequence_number: String,
    new_image: Option<serde_dynamo::Item>,
    old_image: Option<serde_dynamo::Item>,
}

/// The attributes of an order whose change counts. What an earlier version wrote besides it may be anything.
#[derive(Deserialize)]
struct Before {
    state: Option<String>,
    award: Option<IgnoredAny>,
}

impl Change {
    /// The order that has another state since, won in a draw, or was made. None if it was another write, or one of another item.
    ///
    /// # Errors
    /// If an order was written that this version cannot read.
    pub fn moved_order(&self) -> Result<Option<Order>, LedgerError> {
        let Some(new) = self.new_image.as_ref().filter(|item| is_order(item)) else { return Ok(None) };
        let OrderItem { order, .. } = serde_dynamo::from_item(new.clone())?;
        let Some(old) = &self.old_image else { return Ok(Some(order)) };
        let before: Before = serde_dynamo::from_item(old.clone())?;
        let has_won = order.award.is_some() && before.award.is_none();
        Ok((has_won || before.state.as_deref() != Some(order.state.as_str())).then_some(order))
    }
}

fn is_order(item: &serde_dynamo::Item) -> bool {
    matches!(item.get("pk"), Some(serde_dynamo::AttributeValue::S(pk)) if pk.starts_with("ORDER#"))
}
