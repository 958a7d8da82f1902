use aws_sdk_dynamodb::error::SdkError;
use aws_sdk_dynamodb::operation::put_item::PutItemError;
use aws_sdk_dynamodb::operation::update_item::UpdateItemError;
use aws_sdk_dynamodb::types::{AttributeValue, ReturnValue, ReturnValuesOnConditionCheckFailure};
use sale::{DoorTerms, EpochMs, ReservationId, UserId};
use serde::{Deserialize, Serialize};

use crate::conflict::retry_conflicts;
use crate::item::{number, text, to_item};
use crate::{Denial, DeniedBy, DeniedWhy, Ledger, LedgerError, keys};

/// Tries to count a strike while windows end and begin.
const TRIES: usize = 3;

/// What a user did that nobody does who uses the shop as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Strike {
    /// Sent passes that nobody gave out.
    ForgedTokens,
    /// Answered challenges wrong again and again.
    WrongAnswers,
    /// Got an order that failed at the limit. One order is one strike, however often its message comes.
    FailedOrder(ReservationId),
}

/// What became of a strike.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Struck {
    /// It is counted, now or since an earlier run: so many within the window.
    Counted(u32),
    /// It was one too many: the user is denied until this moment.
    Denied(EpochMs),
}

#[derive(Serialize, Deserialize)]
struct Strikes {
    strikes: u32,
    /// When the window began.
    since_ms: EpochMs,
    /// Orders that are counted. No more than a user can have made by the time of the denial.
    #[serde(default)]
    orders: Vec<ReservationId>,
}

#[derive(Serialize)]
struct StrikesItem {
    pk: String,
    strikes: u32,
    since_ms: EpochMs,
    expires_at: i64,
}

impl Strike {
    const fn why(&self) -> DeniedWhy {
        match self {
            Self::ForgedTokens => DeniedWhy::ForgedTokens,
            Self::WrongAnswers => DeniedWhy::WrongAnswers,
            Self::FailedOrder(_) => DeniedWhy::FailedOrder,
        }
    }

    const fn order(&self) -> Option<&ReservationId> {
        match self {
            Self::FailedOrder(id) => Some(id),
            _ => None,
        }
    }
}

impl Ledger {
    /// Counts a strike, and denies the user if it is one too many by the sale's `door`.
    ///
    /// Dying between the count and the denial leaves a user who is not denied: the next strike denies.
    ///
    /// # Errors
    /// If DynamoDB does not answer; then it may or may not be counted.
    pub async fn strike(
        &self,
        user: &UserId,
        strike: &Strike,
        door: &DoorTerms,
        now: EpochMs,
    ) -> Result<Struck, LedgerError> {
        let strikes = self.count(user, strike, door, now).await?;
        tracing::warn!(%user, ?strike, strikes, "a strike");
        if strikes < door.strikes {
            return Ok(Struck::Counted(strikes));
        }
        let until_ms = now.plus_s(door.denied_for_s);
        let denial = Denial { user: user.clone(), until_ms, reason: strike.why(), by: DeniedBy::System };
        Ok(Struck::Denied(self.deny(&denial).await?.until_ms))
    }

    /// Counts within the window that is running, or begins one.
    ///
    /// Guards against: two processes that count at once (the count is added to, not written); two that begin a window at
    /// once (one of them does, and the other counts within it); the message of an order that comes twice (its id is in
    /// the set).
    async fn count(&self, user: &UserId, strike: &Strike, door: &DoorTerms, now: EpochMs) -> Result<u32, LedgerError> {
        for _ in 0..TRIES {
            if let Some(strikes) = self.add_strike(user, strike, door, now).await? {
                return Ok(strikes);
            }
            if self.begin_window(user, door, now).await?
                && let Some(strikes) = self.add_strike(user, strike, door, now).await?
            {
                return Ok(strikes);
            }
        }
        Err(LedgerError::Contradiction(format!("the strikes of {user} begin again and again")))
    }

    /// The count with this strike in it; none if no window is running.
    async fn add_strike(
        &self,
        user: &UserId,
        strike: &Strike,
        door: &DoorTerms,
        now: EpochMs,
    ) -> Result<Option<u32>, LedgerError> {
        let began_after = begins_after(door, now);
        let mut update = self
            .client
            .update_item()
            .table_name(&self.table)
            .key("pk", text(keys::strikes(user)))
            .expression_attribute_values(":one", number(1))
            .expression_attribute_values(":began_after", number(began_after.0))
            .return_values(ReturnValue::AllNew)
            .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld);
        update = match strike.order() {
            None => update.update_expression("ADD strikes :one").condition_expression("since_ms > :began_after"),
            Some(order) => update
                .update_expression("ADD strikes :one, orders :orders")
                .condition_expression("since_ms > :began_after AND NOT contains(orders, :order)")
                .expression_attribute_values(":orders", AttributeValue::Ss(vec![order.to_string()]))
                .expression_attribute_values(":order", text(order.to_string())),
        };
        match retry_conflicts(|| update.clone().send()).await.map_err(SdkError::into_service_error) {
            Ok(output) => {
                let Strikes { strikes, .. } = serde_dynamo::from_item(output.attributes.unwrap_or_default())?;
                Ok(Some(strikes))
            }
            Err(UpdateItemError::ConditionalCheckFailedException(failed)) => {
                let Some(item) = failed.item.filter(|item| !item.is_empty()) else { return Ok(None) };
                let Strikes { strikes, since_ms, orders } = serde_dynamo::from_item(item)?;
                let counted = strike.order().is_some_and(|order| orders.contains(order));
                Ok((counted && since_ms > began_after).then_some(strikes))
            }
            Err(other) => Err(LedgerError::DynamoDb { call: "UpdateItem", source: Box::new(other) }),
        }
    }

    /// Begins a window on the condition that none is running. Whether this call did.
    async fn begin_window(&self, user: &UserId, door: &DoorTerms, now: EpochMs) -> Result<bool, LedgerError> {
        let expires_at = now.plus_s(door.strike_window_s).as_epoch_s();
        let item = StrikesItem { pk: keys::strikes(user), strikes: 0, since_ms: now, expires_at };
        let put = self
            .client
            .put_item()
            .table_name(&self.table)
            .set_item(Some(to_item(item)?))
            .condition_expression("attribute_not_exists(pk) OR since_ms <= :began_after")
            .expression_attribute_values(":began_after", number(begins_after(door, now).0));
        match retry_conflicts(|| put.clone().send()).await.map_err(SdkError::into_service_error) {
            Ok(_) => Ok(true),
            Err(PutItemError::ConditionalCheckFailedException(_)) => Ok(false),
            Err(other) => Err(LedgerError::DynamoDb { call: "PutItem", source: Box::new(other) }),
        }
    }
}

/// A window that began at this moment or before is over at `now`.
const fn begins_after(door: &DoorTerms, now: EpochMs) -> EpochMs {
    EpochMs(now.0.saturating_sub(door.strike_window_s as i64 * 1000))
}
