use serde::{Deserialize, Serialize};

use crate::{EpochMs, UserId};

/// How many changes an offer or a round remembers. A request that is repeated within that many others is recognized.
pub const MAX_LOG: usize = 50;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogEntry {
    /// The id of the request: printable ASCII without spaces. Repeating it changes nothing. Empty for changes that are
    /// idempotent anyway; clients' keys are never empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub key: String,
    pub action: String,
    /// The request's other parameters, which distinguish it from another request with the same key.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub parameters: String,
    /// The operator. `None` if a schedule did it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<UserId>,
    pub at_ms: EpochMs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Seen {
    No,
    Same,
    Another,
}

/// What was done to an offer or a round, newest last. Holds the last [`MAX_LOG`] entries.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Log(Vec<LogEntry>);

impl Log {
    pub fn seen(&self, request: &LogEntry) -> Seen {
        let LogEntry { key, action, parameters, .. } = request;
        match self.0.iter().find(|entry| entry.key == *key) {
            None => Seen::No,
            Some(entry) if entry.action == *action && entry.parameters == *parameters => Seen::Same,
            Some(_) => Seen::Another,
        }
    }

    pub fn push(&mut self, entry: LogEntry) {
        self.0.push(entry);
        let forgotten = self.0.len().saturating_sub(MAX_LOG);
        self.0.drain(..forgotten);
    }

    pub fn entries(&self) -> &[LogEntry] {
        &self.0
    }

    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(key: &str, parameters: &str) -> LogEntry {
        let (action, by, at_ms) = ("restock".to_owned(), Some("ops".parse().unwrap()), EpochMs(7));
        LogEntry { key: key.to_owned(), action, parameters: parameters.to_owned(), by, at_ms }
    }

    #[test]
    fn a_request_is_known_again_by_all_that_it_says() {
        let mut log = Log::default();
        log.push(request("k", "20"));
        assert_eq!(log.seen(&request("l", "20")), Seen::No);
        let by_another = LogEntry { by: None, at_ms: EpochMs(8), ..request("k", "20") };
        assert_eq!(log.seen(&by_another), Seen::Same);
        assert_eq!(log.seen(&request("k", "21")), Seen::Another);
        assert_eq!(log.seen(&LogEntry { action: "close".to_owned(), ..request("k", "20") }), Seen::Another);
    }

    #[test]
    fn the_oldest_entries_are_forgotten() {
        let mut log = Log::default();
        (0..=MAX_LOG).for_each(|number| log.push(request(&number.to_string(), "")));
        assert_eq!(log.entries().len(), MAX_LOG);
        assert_eq!(log.seen(&request("0", "")), Seen::No);
        assert_eq!(log.seen(&request(&MAX_LOG.to_string(), "")), Seen::Same);
    }
}
