use futures::future::try_join_all;

use crate::item::{Item, text};
use crate::{Ledger, LedgerError};

impl Ledger {
    /// Reads every item of an index whose key `attribute` is one of `shards`, concurrently. May lag a moment behind.
    /// Fails if DynamoDB does not answer, or `read` fails on an item.
    pub(crate) async fn of_shards<T>(
        &self,
        index: &str,
        attribute: &str,
        shards: impl Iterator<Item = String>,
        read: impl Fn(Item) -> Result<T, LedgerError>,
    ) -> Result<Vec<T>, LedgerError> {
        let read = &read;
        let shards = shards.map(|shard| async move {
            let query = self
                .query(index)
                .key_condition_expression(format!("{attribute} = :shard"))
                .expression_attribute_values(":shard", text(shard));
            let mut items = query.into_paginator().items().send();
            let mut values = Vec::new();
            while let Some(item) = items.next().await {
                values.push(read(item.map_err(LedgerError::of("Query"))?)?);
            }
            Ok::<_, LedgerError>(values)
        });
        Ok(try_join_all(shards).await?.into_iter().flatten().collect())
    }
}
