use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A batch of a table's stream, which Lambda repeats from the first failed record. Records are parsed one by one.
#[derive(Debug, Clone, Deserialize)]
pub struct StreamEvent {
    /// In the order of the stream.
    #[serde(default = "Vec::new", rename = "Records")]
    pub records: Vec<Value>,
}

/// Which records failed, as Lambda expects it (`ReportBatchItemFailures`). It continues with the first of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct StreamResponse {
    batch_item_failures: Vec<ItemFailure>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
struct ItemFailure {
    item_identifier: String,
}

impl StreamResponse {
    pub fn of(sequence_numbers: Vec<String>) -> Self {
        let failure = |item_identifier| ItemFailure { item_identifier };
        Self { batch_item_failures: sequence_numbers.into_iter().map(failure).collect() }
    }

    pub fn failed(&self) -> impl Iterator<Item = &str> {
        self.batch_item_failures.iter().map(|failure| failure.item_identifier.as_str())
    }
}
