use serde::{Deserialize, Serialize};

/// A batch of a table's stream, with records of type `R`. Lambda repeats it from the first record that failed.
#[derive(Debug, Clone, Deserialize)]
pub struct StreamEvent<R> {
    /// In the order of the stream.
    #[serde(default = "Vec::new", rename = "Records")]
    pub records: Vec<R>,
}

/// Which records failed, in the form that Lambda expects (`ReportBatchItemFailures`). It continues with the first of
/// them.
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
    /// The records with these sequence numbers failed.
    pub fn of(sequence_numbers: Vec<String>) -> Self {
        let failure = |item_identifier| ItemFailure { item_identifier };
        Self { batch_item_failures: sequence_numbers.into_iter().map(failure).collect() }
    }

    /// The sequence numbers of the records that failed.
    pub fn failed(&self) -> impl Iterator<Item = &str> {
        self.batch_item_failures.iter().map(|failure| failure.item_identifier.as_str())
    }
}
