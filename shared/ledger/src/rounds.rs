use sale::{RoundId, RoundNumber, Sale, SaleId, Terms};
use serde::{Deserialize, Serialize};

use crate::item::text;
use crate::{Ledger, LedgerError, keys};

/// A round that is over as an item: what it offered in the end. Written once, with the write that begins the next one.
#[derive(Serialize, Deserialize)]
pub(crate) struct RoundItem {
    pk: String,
    sale: SaleId,
    round: RoundNumber,
    #[serde(flatten)]
    terms: Terms,
}

impl RoundItem {
    /// Of the round that `sale` is in.
    pub(crate) fn of(sale: &Sale) -> Self {
        let id = sale.round_id();
        Self { pk: keys::round(&id), sale: id.sale, round: id.number, terms: sale.terms.clone() }
    }
}

impl Ledger {
    /// What a round offered in the end, once the next one has begun. `None` for a round that an earlier version ended.
    ///
    /// # Errors
    /// If DynamoDB does not answer.
    pub async fn past_round(&self, round: &RoundId) -> Result<Option<Terms>, LedgerError> {
        let get = self.client.get_item().table_name(&self.table).key("pk", text(keys::round(round)));
        let output = get.consistent_read(true).send().await.map_err(LedgerError::of("GetItem"))?;
        let item: Option<RoundItem> = output.item.map(serde_dynamo::from_item).transpose()?;
        Ok(item.map(|item| item.terms))
    }
}
