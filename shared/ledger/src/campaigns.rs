use aws_sdk_dynamodb::error::SdkError;
use aws_sdk_dynamodb::operation::put_item::PutItemError;
use aws_sdk_dynamodb::types::{KeysAndAttributes, ReturnValuesOnConditionCheckFailure};
use sale::{Campaign, MAX_CAMPAIGN_SALES, SaleId};
use serde::{Deserialize, Serialize};

use crate::item::{Item, number, text, to_item};
use crate::{Ledger, LedgerError, keys};

/// Pages of campaigns that one call walks: each has some hundreds.
const MAX_CAMPAIGN_PAGES: usize = 10;

/// Most keys in one `BatchGetItem` (DynamoDB API reference), which takes the sales of a campaign at once.
const _: () = assert!(MAX_CAMPAIGN_SALES <= 100);

/// What became of a campaign that was to be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PutCampaign {
    /// It is written.
    Now,
    /// It was written before, by an earlier run of the same request.
    Before,
    /// Somebody else wrote another one in between: the campaign as it is.
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
    /// Writes a campaign on the condition that the version before is there: none before the first.
    ///
    /// Guards against: two operators who change it at once, of whom the later one would undo what the other did; a request
    /// that is sent again after its answer was lost and after another change came in between.
    ///
    /// # Errors
    /// If DynamoDB does not answer. Can be repeated.
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

    /// Those of these ids that no sale has, draft or published, in their order.
    ///
    /// # Errors
    /// If DynamoDB does not answer.
    pub async fn missing_sales(&self, ids: &[SaleId]) -> Result<Vec<SaleId>, LedgerError> {
        let mut missing: Vec<SaleId> = ids.to_vec();
        let mut keys: Vec<Item> = ids.iter().map(|id| Item::from([("pk".to_owned(), text(keys::sale(id)))])).collect();
        // DynamoDB may return a part of a batch; each round of this loop returns some of it or is an error.
        while !keys.is_empty() {
            let wanted = KeysAndAttributes::builder()
                .set_keys(Some(keys))
                .projection_expression("pk")
                .consistent_read(true)
                .build()
                .map_err(|error| LedgerError::of_input("BatchGetItem", error))?;
            let get = self.client.batch_get_item().request_items(&self.table, wanted);
            let output = get.send().await.map_err(LedgerError::of("BatchGetItem"))?;
            for item in output.responses.unwrap_or_default().into_values().flatten() {
                missing.retain(|id| item.get("pk") != Some(&text(keys::sale(id))));
            }
            keys = output.unprocessed_keys.unwrap_or_default().into_values().flat_map(|rest| rest.keys).collect();
        }
        Ok(missing)
    }

    /// Every campaign, by its id. May lag a moment behind.
    ///
    /// # Errors
    /// If DynamoDB does not answer.
    pub async fn campaigns(&self) -> Result<Vec<Campaign>, LedgerError> {
        let mut campaigns = Vec::new();
        let mut start = None;
        for _ in 0..MAX_CAMPAIGN_PAGES {
            let output = self
                .client
                .query()
                .table_name(&self.table)
                .index_name(keys::CAMPAIGNS_BY_ID)
                .key_condition_expression("campaign_list = :list")
                .expression_attribute_values(":list", text(keys::CAMPAIGNS))
                .set_exclusive_start_key(start)
                .send()
                .await
                .map_err(LedgerError::of("Query"))?;
            for item in output.items.unwrap_or_default() {
                // One campaign that cannot be read must not keep the others from being shown.
                match serde_dynamo::from_item::<_, CampaignItem>(item) {
                    Ok(item) => campaigns.push(item.campaign),
                    Err(error) => tracing::error!(error = &error as &dyn std::error::Error, "a campaign is left out"),
                }
            }
            start = output.last_evaluated_key;
            if start.is_none() {
                break;
            }
        }
        Ok(campaigns)
    }
}
