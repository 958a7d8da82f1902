use std::collections::BTreeSet;

use aws_sdk_dynamodb::types::{AttributeValue, TransactWriteItem, Update};
use sale::{CampaignId, CampaignLimit, Order, ReservationId, UserId};
use serde::Deserialize;

use crate::item::{number, text};
use crate::{COMPLETE, Ledger, LedgerError, keys};

/// How long a user's orders in a campaign are kept after the last change, in seconds: longer than a campaign lasts.
const KEPT_FOR_S: u32 = 400 * 24 * 60 * 60;

#[derive(Deserialize)]
struct CampaignUserItem {
    #[serde(default)]
    orders: BTreeSet<ReservationId>,
}

impl Ledger {
    /// Counts an order in a campaign's limit, on the condition that there is room. This is one write of the transaction
    /// that writes the order.
    ///
    /// Guards against concurrent orders of one user in several sales. They all write this item, so DynamoDB lets no
    /// more through than the limit. The ids are a set, so an order counts once.
    pub(crate) fn count_in_campaign(&self, order: &Order, limit: &CampaignLimit) -> TransactWriteItem {
        let update = Update::builder()
            .table_name(&self.table)
            .key("pk", text(keys::campaign_user(&limit.campaign, &order.claim.user)))
            .update_expression("ADD orders :order SET expires_at = :expires_at")
            .condition_expression("attribute_not_exists(orders) OR size(orders) < :limit")
            .expression_attribute_values(":order", ids([&order.claim.id]))
            .expression_attribute_values(":limit", number(limit.per_user))
            .expression_attribute_values(":expires_at", expires_at(order))
            .build();
        TransactWriteItem::builder().update(update.expect(COMPLETE)).build()
    }

    /// Frees the place in a campaign's limit of an order that is no longer live. This is one write of the transaction
    /// that ends the order. It has no condition, since the campaign may have changed.
    pub(crate) fn leave_campaign(&self, order: &Order, campaign: &CampaignId) -> TransactWriteItem {
        let update = Update::builder()
            .table_name(&self.table)
            .key("pk", text(keys::campaign_user(campaign, &order.claim.user)))
            .update_expression("DELETE orders :order SET expires_at = :expires_at")
            .expression_attribute_values(":order", ids([&order.claim.id]))
            .expression_attribute_values(":expires_at", expires_at(order))
            .build();
        TransactWriteItem::builder().update(update.expect(COMPLETE)).build()
    }

    /// Frees the places in campaigns' limits of a user's ended orders that still count, because the previous version
    /// does not do it when it ends orders. Returns whether there is room now. An ended order stays ended, so this needs no
    /// condition.
    ///
    /// # Errors
    /// If DynamoDB does not answer. Can be repeated.
    pub async fn forget_ended_in_campaigns(
        &self,
        user: &UserId,
        limits: &[CampaignLimit],
    ) -> Result<bool, LedgerError> {
        let mut is_any = false;
        for limit in limits {
            let pk = keys::campaign_user(&limit.campaign, user);
            // Somebody else may have freed a place since the refusal.
            let Some(item) = self.item(&pk).await? else {
                is_any = true;
                continue;
            };
            let counted: Vec<ReservationId> =
                serde_dynamo::from_item::<_, CampaignUserItem>(item)?.orders.into_iter().collect();
            // One that cannot be read may just have been written: two reads are not one transaction.
            let ended = self.orders(&counted).await?.into_iter().filter(|order| !order.state.is_live());
            let ended: Vec<ReservationId> = ended.map(|order| order.claim.id).collect();
            is_any |= counted.len() < usize::from(limit.per_user) || !ended.is_empty();
            if ended.is_empty() {
                continue;
            }
            let update = self
                .client
                .update_item()
                .table_name(&self.table)
                .key("pk", text(pk))
                .update_expression("DELETE orders :orders")
                .expression_attribute_values(":orders", ids(&ended));
            crate::conflict::retry_conflicts(|| update.clone().send()).await.map_err(LedgerError::of("UpdateItem"))?;
        }
        Ok(is_any)
    }
}

fn ids<'a>(ids: impl IntoIterator<Item = &'a ReservationId>) -> AttributeValue {
    AttributeValue::Ss(ids.into_iter().map(ToString::to_string).collect())
}

fn expires_at(order: &Order) -> AttributeValue {
    number(order.ended_at_ms.unwrap_or(order.created_at_ms).plus_s(KEPT_FOR_S).as_epoch_s())
}
