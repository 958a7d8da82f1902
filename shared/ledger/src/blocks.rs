use std::collections::HashMap;

use sale::{EpochMs, UserId};
use serde::{Deserialize, Serialize};

use crate::calls::{Conditional, Write, Written};
use crate::item::{from_item, item_with, number, read_or_skip, text};
use crate::{Ledger, LedgerError, keys};

/// How many blocks are read at most, to list them or to load or reconcile a round: about 1 MB.
pub const MAX_BLOCKS: usize = 10_000;
/// How long the item of an ended block is kept for inspection, in seconds, before DynamoDB's time to live deletes it.
const KEPT_AFTER_S: u32 = 24 * 60 * 60;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BlockedBy {
    Operators,
    System,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BlockReason {
    Asked,
    ForgedTokens,
    WrongAnswers,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UserBlock {
    pub user: UserId,
    pub until_ms: EpochMs,
    pub reason: BlockReason,
    pub by: BlockedBy,
}

impl Ledger {
    /// Blocks a user. Returns the block that is in force then: this one, or one that the system may not change.
    ///
    /// An operator's last decision holds, longer or shorter. The system's block is on the condition that the user is
    /// not already blocked for as long. Guards against violations that are counted while an operator blocks the user
    /// for longer, two processes that count the last violation at once, and a late block for violations after a later
    /// one.
    pub async fn block(&self, block: &UserBlock) -> Result<UserBlock, LedgerError> {
        // Seconds since the Unix epoch, for DynamoDB's time to live. Deletion may come days late, so nothing relies on
        // it.
        let expires_at = ("expires_at", number(block.until_ms.plus_s(KEPT_AFTER_S).as_epoch_s()));
        let keys = [("pk", text(keys::blocked(&block.user))), ("blocked_list", text(keys::BLOCKED)), expires_at];
        let mut put = self.put(item_with(block, keys)?);
        if block.by == BlockedBy::System {
            put = put
                .condition_expression("attribute_not_exists(pk) OR until_ms < :until")
                .values([(":until", number(block.until_ms.0))])
                .or_old();
        }
        match put.write().await? {
            Written::Done(_) => Ok(block.clone()),
            Written::Refused(stands) => from_item(stands),
        }
    }

    /// Ends a user's block and deletes the violations.
    ///
    /// The violations are deleted first: if the process dies in between, the user is still blocked and the same call
    /// ends it. In the other order, one more violation would block a user whom an operator has just allowed.
    pub async fn allow(&self, user: &UserId) -> Result<(), LedgerError> {
        for pk in [keys::violations(user), keys::blocked(user)] {
            self.delete(pk).must_write().await?;
        }
        Ok(())
    }

    pub async fn blocks_of(&self, users: &[UserId]) -> Result<HashMap<UserId, UserBlock>, LedgerError> {
        let pks: Vec<String> = users.iter().map(keys::blocked).collect();
        let blocks: Vec<UserBlock> = self.batch(&pks).await?;
        Ok(blocks.into_iter().map(|block| (block.user.clone(), block)).collect())
    }

    /// Everybody who is blocked at `now`, those blocked for longest first. May lag a moment behind.
    pub async fn blocked(&self, now: EpochMs) -> Result<Vec<UserBlock>, LedgerError> {
        let values = [(":list", text(keys::BLOCKED)), (":now", number(now.0))];
        let query = self.query(keys::BLOCKED_BY_END, "blocked_list = :list AND until_ms > :now", values);
        let mut items = query.scan_index_forward(false).into_paginator().items().send();
        let mut blocks = Vec::new();
        while let Some(item) = items.next().await {
            let item = item.map_err(LedgerError::of("Query"))?;
            if blocks.len() == MAX_BLOCKS {
                tracing::error!(
                    MAX_BLOCKS,
                    "too many blocked users to read all: Redis may not know those whose block ends first"
                );
                break;
            }
            blocks.extend(read_or_skip::<UserBlock>("block", item));
        }
        Ok(blocks)
    }
}
