use std::collections::HashMap;
use std::time::Duration;

use aws_sdk_dynamodb::types::KeysAndAttributes;
use backon::{BackoffBuilder, ExponentialBuilder};
use sale::RoundId;
use serde::de::DeserializeOwned;
use tokio::time::sleep;

use crate::calls::{COMPLETE, Call};
use crate::item::{Item, from_item, pk_of, text};
use crate::{Ledger, LedgerError};

/// The largest number of keys in a `BatchGetItem` (DynamoDB API reference).
const BATCH_GET: usize = 100;
/// DynamoDB leaves keys unprocessed when a partition is busy, and asks callers to wait longer each time ("Error retries
/// and exponential backoff"). Two seconds in total.
const FIRST_PAUSE: Duration = Duration::from_millis(30);
const PAUSES: usize = 6;

impl Ledger {
    /// The existing items with these keys, parsed, in the order of the keys.
    pub(crate) async fn batch<T: DeserializeOwned>(&self, pks: &[String]) -> Result<Vec<T>, LedgerError> {
        self.batch_get(pks).await?.into_iter().map(from_item).collect()
    }

    /// What is noted of these rounds, without those of which nothing is. `None` for what this version cannot read.
    pub(crate) async fn of_rounds<'a, T: DeserializeOwned>(
        &self,
        what: &str,
        rounds: impl IntoIterator<Item = &'a RoundId>,
        key: fn(&RoundId) -> String,
    ) -> Result<HashMap<RoundId, Option<T>>, LedgerError> {
        let mut ids: HashMap<String, RoundId> = rounds.into_iter().map(|id| (key(id), id.clone())).collect();
        let pks: Vec<String> = ids.keys().cloned().collect();
        let mut noted = HashMap::with_capacity(pks.len());
        for item in self.batch_get(&pks).await? {
            let Some(id) = pk_of(&item).and_then(|pk| ids.remove(pk)) else { continue };
            let read = from_item(item).inspect_err(|error| {
                tracing::error!(sale_id = %id.sale, error = error as &dyn std::error::Error, "the {what} of a round cannot be read");
            });
            noted.insert(id, read.ok());
        }
        Ok(noted)
    }

    /// The existing items with these keys, in their order.
    pub(crate) async fn batch_get(&self, pks: &[String]) -> Result<Vec<Item>, LedgerError> {
        self.batch_read(pks, true).await
    }

    /// The same. Unless `consistently`, it may lag a moment behind, for half the price.
    pub(crate) async fn batch_read(&self, pks: &[String], consistently: bool) -> Result<Vec<Item>, LedgerError> {
        let mut items = Vec::with_capacity(pks.len());
        for page in pks.chunks(BATCH_GET) {
            let mut keys: Vec<Item> =
                page.iter().map(|pk| Item::from([("pk".to_owned(), text(pk.as_str()))])).collect();
            let pauses = ExponentialBuilder::default().with_min_delay(FIRST_PAUSE).with_max_times(PAUSES).with_jitter();
            let mut pauses = pauses.build();
            // DynamoDB may return only a part of a batch.
            loop {
                let wanted = KeysAndAttributes::builder().set_keys(Some(keys)).consistent_read(consistently).build();
                let batch = self.client.batch_get_item().request_items(&self.table, wanted.expect(COMPLETE));
                let output = batch.answer().await?;
                items.extend(output.responses.unwrap_or_default().into_values().flatten());
                keys = output.unprocessed_keys.unwrap_or_default().into_values().flat_map(|rest| rest.keys).collect();
                if keys.is_empty() {
                    break;
                }
                let Some(pause) = pauses.next() else {
                    return Err(LedgerError::Contended(format!("DynamoDB left {} keys of a batch", keys.len())));
                };
                sleep(pause).await;
            }
        }
        let places: HashMap<&str, usize> = pks.iter().map(String::as_str).zip(0..).collect();
        items.sort_by_key(|item| pk_of(item).and_then(|pk| places.get(pk)));
        Ok(items)
    }
}
