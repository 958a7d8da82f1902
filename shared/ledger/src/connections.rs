use sale::{EpochMs, UserId};
use serde::Deserialize;

use crate::calls::{Call, Write};
use crate::item::{from_item, item_of, number, text};
use crate::{Ledger, LedgerError, keys};

/// How many connections a user can have: some windows on some devices. An eleventh replaces the oldest.
pub const MAX_CONNECTIONS: usize = 10;
/// How long a connection lasts at most, in seconds: two hours (API Gateway's quotas for WebSocket APIs).
const CONNECTION_LIFE_S: u32 = 2 * 60 * 60;
/// How many connections beyond [`MAX_CONNECTIONS`] one read finds: some, while several are opened at once.
const SURPLUS_READ: usize = 15;

/// A connection on which a user gets messages about reservations.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Connection {
    #[serde(rename = "pk", deserialize_with = "keys::connection_of")]
    pub id: String,
    #[serde(rename = "connections_of")]
    pub user: UserId,
    pub connected_at_ms: EpochMs,
}

impl Ledger {
    /// Stores a connection. Needs no condition: API Gateway's ids are unique, and twice writes the same item.
    pub async fn connect(&self, connection: &Connection) -> Result<(), LedgerError> {
        let Connection { id, user, connected_at_ms } = connection;
        let item = item_of([
            ("pk", text(keys::connection(id))),
            ("connections_of", text(user.as_str())),
            ("connected_at_ms", number(connected_at_ms.0)),
            // Seconds since the Unix epoch, for DynamoDB's time to live. Deletion may come days late, so nothing relies
            // on it.
            ("expires_at", number(connected_at_ms.plus_s(CONNECTION_LIFE_S).as_epoch_s())),
        ]);
        self.put(item).must_write().await.map(drop)
    }

    pub async fn disconnect(&self, id: &str) -> Result<(), LedgerError> {
        self.delete(keys::connection(id)).must_write().await.map(drop)
    }

    /// The user's connections that may be open at `now`, newest first, at most [`MAX_CONNECTIONS`]. May lag.
    pub async fn connections_of(&self, user: &UserId, now: EpochMs) -> Result<Vec<Connection>, LedgerError> {
        self.newest_connections(user, now, MAX_CONNECTIONS).await
    }

    /// The oldest connections of the user of `new`, as far as they exceed the limit together with `new`.
    pub async fn surplus_connections(&self, new: &Connection) -> Result<Vec<Connection>, LedgerError> {
        let limit = MAX_CONNECTIONS + SURPLUS_READ;
        let mut all = self.newest_connections(&new.user, new.connected_at_ms, limit).await?;
        // The index may or may not have the new one yet.
        all.retain(|connection| connection.id != new.id);
        Ok(all.split_off(all.len().min(MAX_CONNECTIONS - 1)))
    }

    async fn newest_connections(
        &self,
        user: &UserId,
        now: EpochMs,
        limit: usize,
    ) -> Result<Vec<Connection>, LedgerError> {
        let ended = EpochMs(now.0.saturating_sub(i64::from(CONNECTION_LIFE_S) * 1000));
        let condition = "connections_of = :user AND connected_at_ms > :ended";
        let values = [(":user", text(user.as_str())), (":ended", number(ended.0))];
        let query = self.query(keys::CONNECTIONS_BY_USER, condition, values).scan_index_forward(false);
        let output = query.limit(i32::try_from(limit).unwrap_or(i32::MAX)).answer().await?;
        output.items.unwrap_or_default().into_iter().map(from_item).collect()
    }
}
