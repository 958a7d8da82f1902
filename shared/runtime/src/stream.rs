use serde::Deserialize;
use serde_json::Value;

/// Which records failed: Lambda reads it like a queue's, and continues with the first of them.
pub use aws_lambda_events::sqs::SqsBatchResponse as StreamResponse;

/// A batch of a table's stream, which Lambda repeats from the first failed record. Records are parsed one by one.
#[derive(Debug, Clone, Deserialize)]
pub struct StreamEvent {
    /// In the order of the stream.
    #[serde(default = "Vec::new", rename = "Records")]
    pub records: Vec<Value>,
}
