use aws_sdk_dynamodb::types::ReturnValue;
use rand::TryRng;
use rand::rngs::SysRng;
use sale::{DoorTerms, EpochMs, UserId};
use serde::Deserialize;

use crate::calls::{Conditional, Write, Written};
use crate::item::{from_item, item_of, number, text};
use crate::{BlockReason, BlockedBy, Ledger, LedgerError, UserBlock, keys};

/// How often counting a violation is tried while windows end and begin.
const TRIES: usize = 4;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ViolationOutcome {
    Counted(u32),
    Blocked(EpochMs),
}

#[derive(Deserialize)]
struct Violations {
    violations: u32,
    since_ms: EpochMs,
    /// The violation that was counted last. `None` before the first one of the window.
    latest: Option<u64>,
}

impl Ledger {
    /// Counts an action that no ordinary client takes, and blocks the user if the sale's `door` says so. A reservation
    /// beyond the limit is none: `reserve.lua` only allows it if Redis has lost earlier ones.
    ///
    /// Not to be repeated: each call counts, also one that DynamoDB does not answer, perhaps. If the process dies between
    /// the count and the block, the next violation blocks the user.
    pub async fn count_violation(
        &self,
        user: &UserId,
        violation: BlockReason,
        door: &DoorTerms,
        now: EpochMs,
    ) -> Result<ViolationOutcome, LedgerError> {
        let violations = self.count(user, door, now).await?;
        tracing::warn!(%user, ?violation, violations, "a violation");
        if violations < door.violations {
            return Ok(ViolationOutcome::Counted(violations));
        }
        let until_ms = now.plus_s(door.blocked_for_s);
        let block = UserBlock { user: user.clone(), until_ms, reason: violation, by: BlockedBy::System };
        Ok(ViolationOutcome::Blocked(self.block(&block).await?.until_ms))
    }

    /// Counts within the current window, or begins one.
    ///
    /// Guards against: two processes that count at once (the count is added to, not written); two that begin a window at
    /// once (one of them does, and the other counts within it); an attempt of the call that the SDK repeats since its
    /// answer was lost (the item names the latest violation).
    async fn count(&self, user: &UserId, door: &DoorTerms, now: EpochMs) -> Result<u32, LedgerError> {
        let id = SysRng.try_next_u64()?;
        for _ in 0..TRIES {
            if let Some(violations) = self.add_violation(user, id, door, now).await? {
                return Ok(violations);
            }
            self.begin_window(user, door, now).await?;
        }
        Err(LedgerError::Contended(format!("could not count a violation of {user}: its window kept changing")))
    }

    async fn add_violation(
        &self,
        user: &UserId,
        id: u64,
        door: &DoorTerms,
        now: EpochMs,
    ) -> Result<Option<u32>, LedgerError> {
        let began_after = begins_after(door, now);
        let update = self
            .update(keys::violations(user), "ADD violations :one SET latest = :id")
            .condition_expression("since_ms > :began_after AND (attribute_not_exists(latest) OR latest <> :id)")
            .values([(":one", number(1)), (":id", number(id)), (":began_after", number(began_after.0))])
            .return_values(ReturnValue::AllNew);
        match update.or_old().write().await? {
            Written::Done(item) => Ok(Some(from_item::<Violations>(item)?.violations)),
            Written::Refused(item) if item.is_empty() => Ok(None),
            Written::Refused(item) => {
                let Violations { violations, since_ms, latest } = from_item(item)?;
                Ok((latest == Some(id) && since_ms > began_after).then_some(violations))
            }
        }
    }

    /// Begins a window unless there is a current one.
    async fn begin_window(&self, user: &UserId, door: &DoorTerms, now: EpochMs) -> Result<(), LedgerError> {
        let pk = ("pk", text(keys::violations(user)));
        let expires_at = ("expires_at", number(now.plus_s(door.violation_window_s).as_epoch_s()));
        let put = self
            .put(item_of([pk, ("violations", number(0)), ("since_ms", number(now.0)), expires_at]))
            .condition_expression("attribute_not_exists(pk) OR since_ms <= :began_after")
            .values([(":began_after", number(begins_after(door, now).0))]);
        put.write().await.map(drop)
    }
}

const fn begins_after(door: &DoorTerms, now: EpochMs) -> EpochMs {
    EpochMs(now.0.saturating_sub(door.violation_window_s as i64 * 1000))
}
