use sale::{EpochMs, RoundId};
use uuid::Uuid;

use crate::calls::{Conditional, Write};
use crate::item::{number, text};
use crate::{Ledger, LedgerError, keys};

/// A time that is further away, in seconds, comes from a wrong clock, and nobody waits for it.
const FAR_S: u32 = 60;
/// How long the item stays after its end, in seconds: longer than clocks differ.
const KEPT_AFTER_S: u32 = 60 * 60;

impl Ledger {
    /// Lets `loader` alone load the round until this time. Also renews, or gives back. Returns whether it may.
    ///
    /// Guards against two that load at once: whoever comes second finds the first one's time. A loader that dies gives
    /// way when its time ends. Here and not in Redis, which may be lost again while the round is loaded. Fails if
    /// DynamoDB does not answer; it may or may not be granted then.
    pub async fn let_load(
        &self,
        round: &RoundId,
        loader: Uuid,
        now: EpochMs,
        until: EpochMs,
    ) -> Result<bool, LedgerError> {
        let update = self
            .update(keys::loading(round), "SET loader = :loader, until_ms = :until, expires_at = :expires_at")
            .condition_expression("attribute_not_exists(pk) OR until_ms <= :now OR until_ms > :far OR loader = :loader")
            .values([(":until", number(until.0)), (":now", number(now.0)), (":far", number(now.plus_s(FAR_S).0))])
            .values([(":loader", text(loader.as_simple().to_string()))])
            .values([(":expires_at", number(now.plus_s(KEPT_AFTER_S).as_epoch_s()))]);
        Ok(update.write().await?.is_done())
    }
}
