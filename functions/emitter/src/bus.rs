use std::collections::BTreeSet;

use runtime::{AwsClient, AwsError};
use serde_json::{Value, json};

use crate::event::Event;

/// The largest number of events in a call (EventBridge API reference, `PutEvents`). An event has less than two
/// kilobytes, so size is no limit.
pub(crate) const AT_ONCE: usize = 10;
/// The source of every event of this system. Deployments have different buses.
const SOURCE: &str = "flash-sale";
/// Error codes of entries that are refused for their content (`PutEventsResultEntry`). Other errors may pass.
const NEVER: [&str; 2] = ["InvalidArgument", "MalformedDetail"];

#[derive(Clone)]
pub(crate) struct Bus {
    event_bridge: AwsClient,
    name: String,
}

/// Which events of a call were refused, by their index.
#[derive(Debug, Default)]
pub(crate) struct Refused {
    pub(crate) for_now: BTreeSet<usize>,
    pub(crate) for_good: BTreeSet<usize>,
}

impl Bus {
    pub(crate) fn new(event_bridge: AwsClient, name: String) -> Self {
        Self { event_bridge, name }
    }

    /// Puts up to [`AT_ONCE`] events on the bus. Each is accepted or refused on its own.
    pub(crate) async fn put(&self, events: &[&Event]) -> Result<Refused, AwsError> {
        let entries: Vec<Value> = events.iter().map(|event| self.entry(event)).collect();
        let output = self.event_bridge.call("AWSEvents.PutEvents", &json!({ "Entries": entries })).await?;
        let mut refused = Refused::default();
        for (at, event) in events.iter().enumerate() {
            // Without a result it is unknown whether the event was accepted.
            let result = &output["Entries"][at];
            if result["EventId"].is_string() {
                continue;
            }
            let code = result["ErrorCode"].as_str().unwrap_or("no answer");
            tracing::error!(event_id = event.id, code, "the bus refused an event");
            if NEVER.contains(&code) { &mut refused.for_good } else { &mut refused.for_now }.insert(at);
        }
        Ok(refused)
    }

    fn entry(&self, event: &Event) -> Value {
        let detail = serde_json::to_string(event).expect("an event has text keys and plain values only");
        json!({
            "EventBusName": self.name,
            "Source": SOURCE,
            "DetailType": event.r#type,
            "Detail": detail,
            "Time": event.at.0 as f64 / 1000.0,
        })
    }
}
