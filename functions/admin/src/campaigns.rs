//! Campaigns: what is shown together.

use api::{Code, Problem, Reply, json, json_body};
use http::StatusCode;
use lambda_http::Request;
use ledger::PutCampaign;
use sale::{Campaign, CampaignId, MAX_LIMITS_OF_A_SALE, SaleId};
use serde::{Deserialize, Serialize};

use crate::Deps;

/// A campaign as an operator writes it, all of it at once. Its sales exist; drafts are shown once they are published.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NewCampaign {
    campaign_id: CampaignId,
    title: String,
    sale_ids: Vec<SaleId>,
    limit_per_user: Option<u8>,
    /// The version that is to be changed; none to make a new one.
    version: Option<u32>,
}

#[derive(Serialize)]
struct CampaignsDocument {
    campaigns: Vec<Campaign>,
}

/// Makes a campaign, or changes it if it is still the version that the operator has seen.
pub(crate) async fn put(deps: &Deps, request: &Request) -> Reply {
    let NewCampaign { campaign_id, title, sale_ids, limit_per_user, version: seen } = json_body(request)?;
    if seen == Some(0) {
        return Err(Problem::invalid("version: from 1, or left out for a new campaign"));
    }
    let version = seen.unwrap_or(0).checked_add(1).ok_or_else(|| Problem::invalid("version: there is no later one"))?;
    let campaign = Campaign { id: campaign_id, title, sale_ids, limit_per_user, version };
    campaign.validate().map_err(|error| Problem::invalid(error.to_string()))?;
    let missing = deps.ledger.missing_sales(&campaign.sale_ids).await.map_err(Problem::unanswered)?;
    if !missing.is_empty() {
        let missing: Vec<&str> = missing.iter().map(SaleId::as_str).collect();
        return Err(Problem::invalid(format!("sale_ids: there is no {}", missing.join(", "))));
    }
    limits_fit(deps, &campaign).await?;
    match deps.ledger.put_campaign(&campaign).await.map_err(Problem::unanswered)? {
        PutCampaign::Now if seen.is_none() => Ok(json(StatusCode::CREATED, &campaign)),
        PutCampaign::Now | PutCampaign::Before => Ok(json(StatusCode::OK, &campaign)),
        PutCampaign::Other(other) => Err(Problem::new(Code::CampaignChanged).with("version", other.version)),
        PutCampaign::Unknown => Err(Problem::new(Code::UnknownCampaign)),
    }
}

/// A sale is in few campaigns that have a limit, since each is a write of every order. Two operators who write campaigns at the same
/// moment may get past this: then orders have a few writes more.
async fn limits_fit(deps: &Deps, campaign: &Campaign) -> Result<(), Problem> {
    if campaign.limit_per_user.is_none() {
        return Ok(());
    }
    let mut all = deps.ledger.campaigns().await.map_err(Problem::unanswered)?;
    all.retain(|other| other.id != campaign.id);
    let full = |sale: &&SaleId| all.iter().filter_map(|other| other.limit_of(sale)).count() >= MAX_LIMITS_OF_A_SALE;
    match campaign.sale_ids.iter().find(full) {
        Some(sale) => Err(Problem::invalid(format!(
            "limit_per_user: {sale} is in {MAX_LIMITS_OF_A_SALE} campaigns that have one, which is all that can be"
        ))),
        None => Ok(()),
    }
}

/// Every campaign, whether the public sees it or not.
pub(crate) async fn list(deps: &Deps) -> Reply {
    let campaigns = deps.ledger.campaigns().await.map_err(Problem::unanswered)?;
    Ok(json(StatusCode::OK, &CampaignsDocument { campaigns }))
}
