//! Campaigns: what is shown together.

use api::{Code, Problem, Reply, json, json_body};
use http::StatusCode;
use lambda_http::Request;
use ledger::PutCampaign;
use sale::{Campaign, CampaignId, SaleId};
use serde::{Deserialize, Serialize};

use crate::Deps;

/// A campaign as an operator writes it, all of it at once. Its sales exist; drafts are shown once they are published.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NewCampaign {
    campaign_id: CampaignId,
    title: String,
    sale_ids: Vec<SaleId>,
    /// The version that is to be changed; none to make a new one.
    version: Option<u32>,
}

#[derive(Serialize)]
struct CampaignsDocument {
    campaigns: Vec<Campaign>,
}

/// Makes a campaign, or changes it if it is still the version that the operator has seen.
pub(crate) async fn put(deps: &Deps, request: &Request) -> Reply {
    let NewCampaign { campaign_id, title, sale_ids, version: seen } = json_body(request)?;
    if seen == Some(0) {
        return Err(Problem::invalid("version: from 1, or left out for a new campaign"));
    }
    let version = seen.unwrap_or(0).checked_add(1).ok_or_else(|| Problem::invalid("version: there is no later one"))?;
    let campaign = Campaign { id: campaign_id, title, sale_ids, version };
    campaign.validate().map_err(|error| Problem::invalid(error.to_string()))?;
    let missing = deps.ledger.missing_sales(&campaign.sale_ids).await.map_err(Problem::unanswered)?;
    if !missing.is_empty() {
        let missing: Vec<&str> = missing.iter().map(SaleId::as_str).collect();
        return Err(Problem::invalid(format!("sale_ids: there is no {}", missing.join(", "))));
    }
    match deps.ledger.put_campaign(&campaign).await.map_err(Problem::unanswered)? {
        PutCampaign::Now if seen.is_none() => Ok(json(StatusCode::CREATED, &campaign)),
        PutCampaign::Now | PutCampaign::Before => Ok(json(StatusCode::OK, &campaign)),
        PutCampaign::Other(other) => Err(Problem::new(Code::CampaignChanged).with("version", other.version)),
        PutCampaign::Unknown => Err(Problem::new(Code::UnknownCampaign)),
    }
}

/// Every campaign, whether the public sees it or not.
pub(crate) async fn list(deps: &Deps) -> Reply {
    let campaigns = deps.ledger.campaigns().await.map_err(Problem::unanswered)?;
    Ok(json(StatusCode::OK, &CampaignsDocument { campaigns }))
}
