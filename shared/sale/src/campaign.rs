use std::collections::HashSet;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::{InvalidId, MAX_TITLE_LENGTH, SaleId};

/// Most sales of a campaign: a page shows all of them at once, and asks Redis for each.
pub const MAX_CAMPAIGN_SALES: usize = 50;

/// Names a campaign, by the same rule as a sale.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct CampaignId(String);

impl FromStr for CampaignId {
    type Err = InvalidId;
    fn from_str(text: &str) -> Result<Self, InvalidId> {
        text.parse::<SaleId>().map(|_| Self(text.to_owned())).map_err(|_| InvalidId::Campaign)
    }
}

impl TryFrom<String> for CampaignId {
    type Error = InvalidId;
    fn try_from(text: String) -> Result<Self, InvalidId> {
        text.parse()
    }
}

impl From<CampaignId> for String {
    fn from(id: CampaignId) -> Self {
        id.0
    }
}

impl fmt::Display for CampaignId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Sales that are shown together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Campaign {
    /// Names it.
    #[serde(rename = "campaign_id")]
    pub id: CampaignId,
    /// What it is, for people.
    pub title: String,
    /// Its sales, in the order in which they are shown. Those that are not published are not shown yet.
    pub sale_ids: Vec<SaleId>,
    /// Counts its writes, from 1: each one is conditional on the version that it read.
    pub version: u32,
}

/// A campaign that cannot be shown.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidCampaign {
    /// The title is empty or too long, or has control characters.
    #[error("title must have 1 to {MAX_TITLE_LENGTH} characters and no control characters")]
    Title,
    /// Too many sales, or one of them twice.
    #[error("sale_ids must be at most {MAX_CAMPAIGN_SALES} different ids")]
    Sales,
}

impl Campaign {
    /// Checks every bound.
    ///
    /// # Errors
    /// The first bound that does not hold.
    pub fn validate(&self) -> Result<(), InvalidCampaign> {
        let title_length = self.title.chars().count();
        if !(1..=MAX_TITLE_LENGTH).contains(&title_length) || self.title.chars().any(char::is_control) {
            return Err(InvalidCampaign::Title);
        }
        let different: HashSet<&SaleId> = self.sale_ids.iter().collect();
        if self.sale_ids.len() > MAX_CAMPAIGN_SALES || different.len() < self.sale_ids.len() {
            return Err(InvalidCampaign::Sales);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn campaign(title: &str, sales: impl IntoIterator<Item = usize>) -> Campaign {
        let sale_ids = sales.into_iter().map(|n| format!("sale-{n}").parse().unwrap()).collect();
        Campaign { id: "autumn".parse().unwrap(), title: title.into(), sale_ids, version: 1 }
    }

    #[test]
    fn bounds_are_inclusive() {
        assert_eq!(campaign("Autumn", []).validate(), Ok(()));
        assert_eq!(campaign(&"ü".repeat(MAX_TITLE_LENGTH), 0..MAX_CAMPAIGN_SALES).validate(), Ok(()));
        for title in ["", "a\nb", &"x".repeat(MAX_TITLE_LENGTH + 1)] {
            assert_eq!(campaign(title, [1]).validate(), Err(InvalidCampaign::Title));
        }
        assert_eq!(campaign("Autumn", 0..=MAX_CAMPAIGN_SALES).validate(), Err(InvalidCampaign::Sales));
        assert_eq!(campaign("Autumn", [1, 2, 1]).validate(), Err(InvalidCampaign::Sales));
    }

    #[test]
    fn ids_are_short_plain_names() {
        assert_eq!("autumn-2026".parse::<CampaignId>().unwrap().to_string(), "autumn-2026");
        for bad in ["", "-a", "Autumn", "a#b", "a/b"] {
            assert_eq!(bad.parse::<CampaignId>(), Err(InvalidId::Campaign), "{bad:?}");
        }
    }
}
