use aws_sdk_dynamodb::error::SdkError;
use aws_sdk_dynamodb::operation::put_item::PutItemError;
use aws_sdk_dynamodb::types::ReturnValuesOnConditionCheckFailure;
use sale::{Campaign, SaleId};
use serde::{Deserialize, Serialize};

use crate::item::{number, text, to_item};
use crate::published::whole;
use crate::{Ledger, LedgerError, keys};

/// The result of writing a campaign.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PutCampaign {
    /// It was written.
    Now,
    /// An earlier run of the same request wrote it.
    Before,
    /// Somebody else wrote another version; the current campaign.
    Other(Campaign),
    /// There is no campaign to change.
    Unknown,
}

#[derive(Serialize, Deserialize)]
struct CampaignItem {
    pk: String,
    campaign_list: String,
    #[serde(flatten)]
    campaign: Campaign,
}

impl Ledger {
    /// Writes a campaign on the condition that the previous version is stored, or none for the first version.
    ///
    /// Guards against concurrent operators, of whom the later would undo the other's change, and against a request that
    /// is repeated after another change. Fails if DynamoDB does not answer. Can be repeated.
    pub async fn put_campaign(&self, campaign: &Campaign) -> Result<PutCampaign, LedgerError> {
        let item = CampaignItem {
            pk: keys::campaign(&campaign.id),
            campaign_list: keys::CAMPAIGNS.to_owned(),
            campaign: campaign.clone(),
        };
        let put = self.client.put_item().table_name(&self.table).set_item(Some(to_item(item)?));
        let put = match campaign.version {
            0 | 1 => put.condition_expression("attribute_not_exists(pk)"),
            version => put
                .condition_expression("version = :before")
                .expression_attribute_values(":before", number(version - 1)),
        };
        let put = put.return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld);
        match put.send().await.map_err(SdkError::into_service_error) {
            Ok(_) => Ok(PutCampaign::Now),
            Err(PutItemError::ConditionalCheckFailedException(failed)) => {
                let Some(item) = failed.item.filter(|item| !item.is_empty()) else { return Ok(PutCampaign::Unknown) };
                let seen = serde_dynamo::from_item::<_, CampaignItem>(item)?.campaign;
                Ok(if seen == *campaign { PutCampaign::Before } else { PutCampaign::Other(seen) })
            }
            Err(other) => Err(LedgerError::DynamoDb { call: "PutItem", source: Box::new(other) }),
        }
    }

    /// The given ids that no sale has, draft or published, in order.
    pub async fn missing_sales(&self, ids: &[SaleId]) -> Result<Vec<SaleId>, LedgerError> {
        let pks: Vec<String> = ids.iter().map(keys::sale).collect();
        let items = self.batch_get(&pks).await?;
        let is_missing = |id: &&SaleId| items.iter().all(|item| item.get("pk") != Some(&text(keys::sale(id))));
        Ok(ids.iter().filter(is_missing).cloned().collect())
    }

    /// All campaigns, by id. May lag a moment behind.
    pub async fn campaigns(&self) -> Result<Vec<Campaign>, LedgerError> {
        let query = self
            .client
            .query()
            .table_name(&self.table)
            .index_name(keys::CAMPAIGNS_BY_ID)
            .key_condition_expression("campaign_list = :list")
            .expression_attribute_values(":list", text(keys::CAMPAIGNS));
        let mut campaigns = Vec::new();
        for item in whole(query).await? {
            // An unreadable campaign must not hide the others.
            match serde_dynamo::from_item::<_, CampaignItem>(item) {
                Ok(item) => campaigns.push(item.campaign),
                Err(error) => {
                    tracing::error!(error = &error as &dyn std::error::Error, "skipped an unreadable campaign")
                }
            }
        }
        Ok(campaigns)
    }
}
