use std::collections::BTreeSet;

use aws_sdk_eventbridge::Client;
use aws_sdk_eventbridge::primitives::DateTime;
use aws_sdk_eventbridge::types::PutEventsRequestEntry;

use crate::event::Event;

/// Most events of one call (EventBridge API reference, `PutEvents`). One has less than two kilobytes, so their size is no bound.
pub(crate) const AT_ONCE: usize = 10;
/// Who says so, in every event of this system. Deployments differ in their bus.
const SOURCE: &str = "flash-sale";
/// Codes of an entry that is refused for what it says (`PutEventsResultEntry`). Any other may pass.
const NEVER: [&str; 2] = ["InvalidArgument", "MalformedDetail"];

/// The bus of the merchant's systems.
#[derive(Clone)]
pub(crate) struct Bus {
    client: Client,
    name: String,
}

/// Why events are not on the bus.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BusError {
    #[error("EventBridge did not answer PutEvents")]
    NoAnswer(#[source] Box<dyn std::error::Error + Send + Sync>),
    #[error("an event has no detail")]
    Form(#[from] serde_json::Error),
}

/// Which events of a call are not on the bus, by their places in it.
#[derive(Debug, Default)]
pub(crate) struct Refused {
    /// These may be taken another time.
    pub(crate) for_now: BTreeSet<usize>,
    /// These never are, as they stand.
    pub(crate) for_good: BTreeSet<usize>,
}

impl Bus {
    pub(crate) fn new(client: Client, name: String) -> Self {
        Self { client, name }
    }

    /// Puts up to [`AT_ONCE`] events on the bus. Each is taken or refused by itself.
    pub(crate) async fn put(&self, events: &[&Event]) -> Result<Refused, BusError> {
        let entries = events.iter().map(|event| self.entry(event)).collect::<Result<Vec<_>, _>>()?;
        let put = self.client.put_events().set_entries(Some(entries)).send();
        let output = put.await.map_err(|error| BusError::NoAnswer(Box::new(error)))?;
        let results = output.entries();
        let mut refused = Refused::default();
        for (at, event) in events.iter().enumerate() {
            // What is not answered is not known to be taken.
            let result = results.get(at);
            if result.is_some_and(|result| result.event_id().is_some()) {
                continue;
            }
            let code = result.and_then(|result| result.error_code()).unwrap_or("no answer");
            tracing::error!(event_id = event.id, code, "an event is not on the bus");
            if NEVER.contains(&code) { &mut refused.for_good } else { &mut refused.for_now }.insert(at);
        }
        Ok(refused)
    }

    fn entry(&self, event: &Event) -> Result<PutEventsRequestEntry, serde_json::Error> {
        let entry = PutEventsRequestEntry::builder()
            .event_bus_name(&self.name)
            .source(SOURCE)
            .detail_type(event.r#type)
            .detail(serde_json::to_string(event)?)
            .time(DateTime::from_millis(event.at.0));
        Ok(entry.build())
    }
}
