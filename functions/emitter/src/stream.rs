use ledger::{Change, LedgerError};
use serde_json::Value;

use crate::event::Event;

#[derive(Debug)]
pub(crate) struct Read {
    /// Its sequence number in the stream; empty if it has none.
    pub(crate) sequence_number: String,
    pub(crate) record: Value,
    pub(crate) events: Result<Vec<Event>, Unreadable>,
}

/// A record of which no event can ever be made.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Unreadable {
    #[error("the record is not from a table's stream")]
    Record(#[from] serde_json::Error),
    #[error("the record has an item that this version cannot read")]
    Item(#[from] LedgerError),
}

impl From<Value> for Read {
    fn from(record: Value) -> Self {
        let sequence_number = record["dynamodb"]["SequenceNumber"].as_str().unwrap_or_default().to_owned();
        let events = events(&record);
        Self { sequence_number, record, events }
    }
}

fn events(record: &Value) -> Result<Vec<Event>, Unreadable> {
    let change: Change = serde_json::from_value(record["dynamodb"].clone())?;
    Ok(change.facts()?.into_iter().map(Event::from).collect())
}
