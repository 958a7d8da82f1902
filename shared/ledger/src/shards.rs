use aws_sdk_dynamodb::operation::query::builders::QueryFluentBuilder;
use aws_sdk_dynamodb::types::Select;
use futures::future::try_join_all;

use crate::item::{Item, text};
use crate::{Ledger, LedgerError};

impl Ledger {
    /// Reads every item of an index whose key `attribute` is one of `shards`, concurrently. May lag a moment behind.
    /// Fails if `read` fails on an item.
    pub(crate) async fn of_shards<T>(
        &self,
        index: &str,
        attribute: &str,
        shards: impl Iterator<Item = String>,
        read: impl Fn(Item) -> Result<T, LedgerError>,
    ) -> Result<Vec<T>, LedgerError> {
        let read = &read;
        let shards = shards
            .map(|shard| read_all(self.query(index, format!("{attribute} = :shard"), [(":shard", text(shard))]), read));
        Ok(try_join_all(shards).await?.into_iter().flatten().collect())
    }
}

/// The number of items of a query, in this many pages at most, without transferring them.
pub(crate) async fn count(query: QueryFluentBuilder, most_pages: usize) -> Result<u64, LedgerError> {
    let mut pages = query.select(Select::Count).into_paginator().send();
    let mut count = 0;
    for _ in 0..most_pages {
        let Some(page) = pages.next().await else { break };
        count += u64::try_from(page.map_err(LedgerError::of("Query"))?.count).unwrap_or_default();
    }
    Ok(count)
}

/// Reads every item of a query.
pub(crate) async fn read_all<T>(
    query: QueryFluentBuilder,
    read: impl Fn(Item) -> Result<T, LedgerError>,
) -> Result<Vec<T>, LedgerError> {
    let mut items = query.into_paginator().items().send();
    let mut values = Vec::new();
    while let Some(item) = items.next().await {
        values.push(read(item.map_err(LedgerError::of("Query"))?)?);
    }
    Ok(values)
}
