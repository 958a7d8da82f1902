use aws_sdk_dynamodb::types::KeysAndAttributes;

use crate::item::{Item, text};
use crate::{Ledger, LedgerError};

/// The largest number of keys in a `BatchGetItem` (DynamoDB API reference).
const BATCH_GET: usize = 100;

impl Ledger {
    /// The existing items with these keys, in any order. A consistent read.
    ///
    /// # Errors
    /// If DynamoDB does not answer.
    pub(crate) async fn batch_get(&self, pks: &[String]) -> Result<Vec<Item>, LedgerError> {
        self.batch_read(pks, true).await
    }

    /// The same. Unless `consistently`, it may lag a moment behind, for half the price.
    pub(crate) async fn batch_read(&self, pks: &[String], consistently: bool) -> Result<Vec<Item>, LedgerError> {
        let mut items = Vec::with_capacity(pks.len());
        for page in pks.chunks(BATCH_GET) {
            let mut keys: Vec<Item> =
                page.iter().map(|pk| Item::from([("pk".to_owned(), text(pk.as_str()))])).collect();
            // DynamoDB may return only a part of a batch; each iteration gets some of it or fails.
            while !keys.is_empty() {
                let wanted = KeysAndAttributes::builder().set_keys(Some(keys)).consistent_read(consistently).build();
                let output = self
                    .client
                    .batch_get_item()
                    .request_items(&self.table, wanted.map_err(|error| LedgerError::of_input("BatchGetItem", error))?)
                    .send()
                    .await
                    .map_err(LedgerError::of("BatchGetItem"))?;
                items.extend(output.responses.unwrap_or_default().into_values().flatten());
                keys = output.unprocessed_keys.unwrap_or_default().into_values().flat_map(|rest| rest.keys).collect();
            }
        }
        Ok(items)
    }
}
