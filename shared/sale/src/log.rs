use serde::{Deserialize, Serialize};

use crate::{EpochMs, UserId};

/// Changes that an offer or a round remembers. A request that is sent again within so many others is known again.
pub const MAX_LOG: usize = 50;

/// One change of an offer or a round: what was asked for, by whom and when.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogEntry {
    /// Names the request: printable ASCII without spaces. Sent again, it changes nothing. Empty for what is done once
    /// anyway: clients' keys never are.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub key: String,
    /// What kind of change it is, in one word.
    pub action: String,
    /// What else the request says, so that another request under the same key is told apart.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub parameters: String,
    /// The operator. `None` for what a schedule did, and where the version before did not note it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<UserId>,
    /// When. `None` where the version before did not note it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_ms: Option<EpochMs>,
}

impl LogEntry {
    /// Whether it is of this request. An entry without a moment and parameters may be of a version that noted neither.
    fn is_same(&self, request: &Self) -> bool {
        let is_bare = self.at_ms.is_none() && self.parameters.is_empty();
        self.action == request.action && (is_bare || self.parameters == request.parameters)
    }
}

/// What a log says of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Seen {
    /// It is new.
    No,
    /// It was made before.
    Same,
    /// Its key named another request before.
    Another,
}

/// What was done to an offer or a round, the newest last. Holds the last [`MAX_LOG`] entries.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Log(Vec<LogEntry>);

impl Log {
    /// What the log says of a request.
    pub fn seen(&self, request: &LogEntry) -> Seen {
        match self.0.iter().find(|entry| entry.key == request.key) {
            None => Seen::No,
            Some(entry) if entry.is_same(request) => Seen::Same,
            Some(_) => Seen::Another,
        }
    }

    /// Adds an entry, and forgets the oldest one if there are too many.
    pub fn push(&mut self, entry: LogEntry) {
        self.0.push(entry);
        let forgotten = self.0.len().saturating_sub(MAX_LOG);
        self.0.drain(..forgotten);
    }

    /// The entries, the oldest first.
    pub fn entries(&self) -> &[LogEntry] {
        &self.0
    }

    /// Whether it has no entry.
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl FromIterator<LogEntry> for Log {
    fn from_iter<I: IntoIterator<Item = LogEntry>>(entries: I) -> Self {
        let mut log = Self::default();
        entries.into_iter().for_each(|entry| log.push(entry));
        log
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(key: &str, parameters: &str) -> LogEntry {
        let (action, by, at_ms) = ("restock".to_owned(), Some("ops".parse().unwrap()), Some(EpochMs(7)));
        LogEntry { key: key.to_owned(), action, parameters: parameters.to_owned(), by, at_ms }
    }

    #[test]
    fn a_request_is_known_again_by_all_that_it_says() {
        let log: Log = [request("k", "20")].into_iter().collect();
        assert_eq!(log.seen(&request("l", "20")), Seen::No);
        let by_another = LogEntry { by: None, at_ms: None, ..request("k", "20") };
        assert_eq!(log.seen(&by_another), Seen::Same);
        assert_eq!(log.seen(&request("k", "21")), Seen::Another);
        assert_eq!(log.seen(&LogEntry { action: "close".to_owned(), ..request("k", "20") }), Seen::Another);
    }

    #[test]
    fn what_an_earlier_version_noted_is_known_again_by_its_action() {
        let log: Log = [LogEntry { at_ms: None, ..request("k", "") }].into_iter().collect();
        assert_eq!(log.seen(&request("k", "20")), Seen::Same);
        assert_eq!(log.seen(&LogEntry { action: "close".to_owned(), ..request("k", "") }), Seen::Another);
    }

    #[test]
    fn the_oldest_entries_are_forgotten() {
        let log: Log = (0..=MAX_LOG).map(|number| request(&number.to_string(), "")).collect();
        assert_eq!(log.entries().len(), MAX_LOG);
        assert_eq!(log.seen(&request("0", "")), Seen::No);
        assert_eq!(log.seen(&request(&MAX_LOG.to_string(), "")), Seen::Same);
    }
}
