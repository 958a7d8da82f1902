use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use crate::invalid_terms::{InvalidTerms, is_name, require, within};
use crate::text_serde::text_type;
use crate::{InvalidId, MAX_TITLE_LENGTH, SaleId};

/// The largest number of sales in a campaign: a page shows all of them at once, and asks Redis for each.
pub const MAX_CAMPAIGN_SALES: usize = 50;
/// The highest limit of a campaign: the ledger keeps that many order ids for a user in one item.
pub const MAX_CAMPAIGN_LIMIT: u8 = 100;
/// The largest number of campaigns with a limit that an order counts in: each adds a write to its transaction.
pub const MAX_LIMITS_OF_A_SALE: usize = 5;

text_type!(CampaignId, InvalidId, InvalidId::Campaign, |text| text.parse::<SaleId>().is_ok());

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Campaign {
    #[serde(rename = "campaign_id")]
    pub id: CampaignId,
    pub title: String,
    /// The ids of its sales, in the order in which they are shown. Unpublished ones are not shown yet.
    pub sale_ids: Vec<SaleId>,
    /// The most live orders of one user in all its sales. It applies to orders made while it is set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit_per_user: Option<u8>,
    /// The version, from 1: each write is conditional on the version that it read.
    pub version: u32,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CampaignLimit {
    pub campaign: CampaignId,
    pub per_user: u8,
}

impl Campaign {
    pub fn validate(&self) -> Result<(), InvalidTerms> {
        let title = format!("title must have 1 to {MAX_TITLE_LENGTH} characters and no control characters");
        require(is_name(&self.title, MAX_TITLE_LENGTH), "title", title)?;
        let different: HashSet<&SaleId> = self.sale_ids.iter().collect();
        let are_sales = self.sale_ids.len() <= MAX_CAMPAIGN_SALES && different.len() == self.sale_ids.len();
        require(are_sales, "sale_ids", format!("sale_ids must be at most {MAX_CAMPAIGN_SALES} different ids"))?;
        self.limit_per_user.map_or(Ok(()), |limit| within(1..=MAX_CAMPAIGN_LIMIT, "limit_per_user", limit))
    }

    pub fn limit_of(&self, sale: &SaleId) -> Option<CampaignLimit> {
        let per_user = self.limit_per_user.filter(|_| self.sale_ids.contains(sale))?;
        Some(CampaignLimit { campaign: self.id.clone(), per_user })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn campaign(title: &str, sales: impl IntoIterator<Item = usize>) -> Campaign {
        let sale_ids = sales.into_iter().map(|n| format!("sale-{n}").parse().unwrap()).collect();
        Campaign { id: "autumn".parse().unwrap(), title: title.into(), sale_ids, limit_per_user: None, version: 1 }
    }

    #[test]
    fn bounds_are_inclusive() {
        let verdict = |campaign: Campaign| campaign.validate().map_err(|invalid| invalid.field());
        assert_eq!(verdict(campaign("Autumn", [])), Ok(()));
        assert_eq!(verdict(campaign(&"ü".repeat(MAX_TITLE_LENGTH), 0..MAX_CAMPAIGN_SALES)), Ok(()));
        for title in ["", "a\nb", &"x".repeat(MAX_TITLE_LENGTH + 1)] {
            assert_eq!(verdict(campaign(title, [1])), Err("title"));
        }
        assert_eq!(verdict(campaign("Autumn", 0..=MAX_CAMPAIGN_SALES)), Err("sale_ids"));
        assert_eq!(verdict(campaign("Autumn", [1, 2, 1])), Err("sale_ids"));
        for (limit, expected) in [(0, Err("limit_per_user")), (1, Ok(())), (100, Ok(())), (101, Err("limit_per_user"))]
        {
            let limited = Campaign { limit_per_user: Some(limit), ..campaign("Autumn", [1]) };
            assert_eq!(verdict(limited), expected, "{limit}");
        }
    }

    #[test]
    fn a_limit_is_one_of_the_campaigns_sales() {
        let limited = Campaign { limit_per_user: Some(2), ..campaign("Autumn", [1, 2]) };
        assert_eq!(limited.limit_of(&"sale-1".parse().unwrap()).map(|limit| limit.per_user), Some(2));
        assert_eq!(limited.limit_of(&"sale-3".parse().unwrap()), None);
        assert_eq!(campaign("Autumn", [1]).limit_of(&"sale-1".parse().unwrap()), None);
    }

    #[test]
    fn ids_are_short_plain_names() {
        assert_eq!("autumn-2026".parse::<CampaignId>().unwrap().to_string(), "autumn-2026");
        for bad in ["", "-a", "Autumn", "a#b", "a/b"] {
            assert_eq!(bad.parse::<CampaignId>(), Err(InvalidId::Campaign), "{bad:?}");
        }
    }
}
