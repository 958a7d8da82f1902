use std::collections::HashMap;

use aws_sdk_dynamodb::types::ReturnValuesOnConditionCheckFailure;
use sale::{EpochMs, UserId};
use serde::{Deserialize, Serialize};

use crate::calls::{Write, Written};
use crate::item::{number, read_or_skip, text, to_item};
use crate::{Ledger, LedgerError, keys};

/// How many denials are read at most, to list them or to load or reconcile a round: about 1 MB.
pub const MAX_DENIALS: usize = 10_000;
/// How long the item of an ended denial is kept for inspection, in seconds, before DynamoDB's time to live deletes it.
const KEPT_AFTER_S: u32 = 24 * 60 * 60;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DeniedBy {
    Operators,
    System,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DeniedWhy {
    Asked,
    ForgedTokens,
    WrongAnswers,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Denial {
    pub user: UserId,
    pub until_ms: EpochMs,
    pub reason: DeniedWhy,
    pub by: DeniedBy,
}

#[derive(Serialize, Deserialize)]
struct DenialItem {
    pk: String,
    denied_list: String,
    /// Seconds since the Unix epoch, for DynamoDB's time to live. Deletion may come days late, so nothing relies on it.
    expires_at: i64,
    #[serde(flatten)]
    denial: Denial,
}

impl Ledger {
    /// Denies a user. Returns the denial that is in force then: this one, or one that the system may not change.
    ///
    /// An operator's last decision holds, longer or shorter. The system's denial is on the condition that the user is
    /// not already denied for as long. Guards against strikes that are counted while an operator denies the user for
    /// longer, two processes that count the last strike at once, and a late denial for strikes after a later one.
    pub async fn deny(&self, denial: &Denial) -> Result<Denial, LedgerError> {
        let item = DenialItem {
            pk: keys::denied(&denial.user),
            denied_list: keys::DENIED.to_owned(),
            expires_at: denial.until_ms.plus_s(KEPT_AFTER_S).as_epoch_s(),
            denial: denial.clone(),
        };
        let mut put = self.put(to_item(item)?);
        if denial.by == DeniedBy::System {
            put = put
                .condition_expression("attribute_not_exists(pk) OR until_ms < :until")
                .expression_attribute_values(":until", number(denial.until_ms.0))
                .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld);
        }
        match put.write().await? {
            Written::Done(_) => Ok(denial.clone()),
            Written::Refused(stands) => Ok(serde_dynamo::from_item::<_, DenialItem>(stands)?.denial),
        }
    }

    /// Ends a user's denial and deletes the strikes.
    ///
    /// The strikes are deleted first: if the process dies in between, the user is still denied and the same call ends
    /// it. In the other order, one more strike would deny a user whom an operator has just allowed.
    pub async fn allow(&self, user: &UserId) -> Result<(), LedgerError> {
        for pk in [keys::strikes(user), keys::denied(user)] {
            self.delete(pk).must_write().await?;
        }
        Ok(())
    }

    pub async fn denials_of(&self, users: &[UserId]) -> Result<HashMap<UserId, Denial>, LedgerError> {
        let pks: Vec<String> = users.iter().map(keys::denied).collect();
        let items: Vec<DenialItem> = self.batch(&pks).await?;
        Ok(items.into_iter().map(|DenialItem { denial, .. }| (denial.user.clone(), denial)).collect())
    }

    /// Everybody who is denied at `now`, those denied for longest first. May lag a moment behind.
    pub async fn denied(&self, now: EpochMs) -> Result<Vec<Denial>, LedgerError> {
        let query = self
            .query(keys::DENIED_BY_END)
            .key_condition_expression("denied_list = :list AND until_ms > :now")
            .expression_attribute_values(":list", text(keys::DENIED))
            .expression_attribute_values(":now", number(now.0))
            .scan_index_forward(false);
        let mut items = query.into_paginator().items().send();
        let mut denials = Vec::new();
        while let Some(item) = items.next().await {
            let item = item.map_err(LedgerError::of("Query"))?;
            if denials.len() == MAX_DENIALS {
                tracing::error!(
                    MAX_DENIALS,
                    "too many denied users to read all: Redis may not know those whose denial ends first"
                );
                break;
            }
            let read = serde_dynamo::from_item::<_, DenialItem>(item).map_err(Into::into);
            denials.extend(read_or_skip("denial", read).map(|item| item.denial));
        }
        Ok(denials)
    }
}
