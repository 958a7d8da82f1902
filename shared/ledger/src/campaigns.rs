use aws_sdk_dynamodb::types::builders::UpdateBuilder;
use aws_sdk_dynamodb::types::{AttributeValue, TransactWriteItem};
use sale::{Campaign, CampaignId, CampaignLimit, Order, SaleId};

use crate::calls::{ABSENT, Conditional, Part, Write, Written};
use crate::item::{from_item, item_with, number, pk_of, read_or_skip, text};
use crate::published::whole;
use crate::{Ledger, LedgerError, keys};

/// How long a user's orders in a campaign are kept after the last change, in seconds: longer than a campaign lasts.
const KEPT_FOR_S: u32 = 400 * 24 * 60 * 60;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PutCampaign {
    Now,
    /// An earlier run of the same request wrote it.
    Before,
    /// Somebody else wrote another version; the current campaign.
    Other(Campaign),
    Unknown,
}

impl Ledger {
    /// Writes a campaign on the condition that the previous version is stored, or none for the first version.
    ///
    /// Guards against concurrent operators, and against a request that is repeated after another change.
    pub async fn put_campaign(&self, campaign: &Campaign) -> Result<PutCampaign, LedgerError> {
        let keys = [("pk", text(keys::campaign(&campaign.id))), ("campaign_list", text(keys::CAMPAIGNS))];
        let put = self.put(item_with(campaign, keys)?);
        let put = match campaign.version {
            0 | 1 => put.condition_expression(ABSENT),
            version => put.condition_expression("version = :before").values([(":before", number(version - 1))]),
        };
        match put.or_old().write().await? {
            Written::Done(_) => Ok(PutCampaign::Now),
            Written::Refused(item) if item.is_empty() => Ok(PutCampaign::Unknown),
            Written::Refused(item) => {
                let seen: Campaign = from_item(item)?;
                Ok(if seen == *campaign { PutCampaign::Before } else { PutCampaign::Other(seen) })
            }
        }
    }

    /// The given ids that no sale has, draft or published, in order.
    pub async fn missing_sales(&self, ids: &[SaleId]) -> Result<Vec<SaleId>, LedgerError> {
        let pks: Vec<String> = ids.iter().map(keys::sale).collect();
        let items = self.batch_get(&pks).await?;
        let is_missing = |id: &&SaleId| items.iter().all(|item| pk_of(item) != Some(&keys::sale(id)));
        Ok(ids.iter().filter(is_missing).cloned().collect())
    }

    /// All campaigns, by id. May lag a moment behind.
    pub async fn campaigns(&self) -> Result<Vec<Campaign>, LedgerError> {
        let query = self.query(keys::CAMPAIGNS_BY_ID, "campaign_list = :list", [(":list", text(keys::CAMPAIGNS))]);
        Ok(whole(query).await?.into_iter().filter_map(|item| read_or_skip("campaign", item)).collect())
    }

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
