use aws_sdk_dynamodb::types::builders::UpdateBuilder;
use aws_sdk_dynamodb::types::{AttributeValue, TransactWriteItem};
use sale::{CampaignId, CampaignLimit, Order};

use crate::calls::{Conditional, Part};
use crate::item::number;
use crate::{Ledger, keys};

/// How long a user's orders in a campaign are kept after the last change, in seconds: longer than a campaign lasts.
const KEPT_FOR_S: u32 = 400 * 24 * 60 * 60;

impl Ledger {
    /// Counts an order in a campaign's limit, if there is room. Part of the order's transaction.
    ///
    /// Guards against concurrent orders of one user in several sales. They all write this item, so DynamoDB lets no
    /// more through than the limit. The ids are a set, so an order counts once.
    pub(crate) fn count_in_campaign(&self, order: &Order, limit: &CampaignLimit) -> TransactWriteItem {
        self.changing(order, &limit.campaign, "ADD orders :order SET expires_at = :expires_at")
            .condition_expression("attribute_not_exists(orders) OR size(orders) < :limit")
            .values([(":limit", number(limit.per_user))])
            .part()
    }

    /// Frees the place in a campaign's limit of an order that is no longer live. This is one write of the transaction
    /// that ends the order. It has no condition, since the campaign may have changed.
    pub(crate) fn leave_campaign(&self, order: &Order, campaign: &CampaignId) -> TransactWriteItem {
        self.changing(order, campaign, "DELETE orders :order SET expires_at = :expires_at").part()
    }

    fn changing(&self, order: &Order, campaign: &CampaignId, expression: &str) -> UpdateBuilder {
        let expires_at = order.ended_at_ms.unwrap_or(order.created_at_ms).plus_s(KEPT_FOR_S).as_epoch_s();
        let id = AttributeValue::Ss(vec![order.reservation.id.to_string()]);
        let update = self.updating(keys::campaign_user(campaign, &order.reservation.user), expression);
        update.values([(":order", id), (":expires_at", number(expires_at))])
    }
}
