//! Campaigns: sales that are shown together.

use api::{Code, Problem, Reply, json, json_body};
use http::StatusCode;
use lambda_http::Request;
use ledger::PutCampaign;
use sale::{Campaign, CampaignId, MAX_LIMITS_OF_A_SALE, SaleId};
use serde::Deserialize;
use serde_json::json;

use crate::deps::AdminDeps;

/// A whole campaign as an operator writes it. Its sales must exist; drafts are shown once they are published.
#[serde_with::apply(Option => #[serde(default, deserialize_with = "api::present")])]
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewCampaign {
    campaign_id: CampaignId,
    title: String,
    sale_ids: Vec<SaleId>,
    limit_per_user: Option<u8>,
    /// The version to change, or `None` for a new campaign.
    version: Option<u32>,
}

/// Creates a campaign, or changes it if it still has the version that the operator has seen.
pub(crate) async fn put(deps: &AdminDeps, request: &Request) -> Reply {
    let NewCampaign { campaign_id, title, sale_ids, limit_per_user, version: seen } = json_body(request)?;
    if seen == Some(0) {
        return Err(Problem::invalid("version: at least 1; leave it out for a new campaign"));
    }
    let version =
        seen.unwrap_or(0).checked_add(1).ok_or_else(|| Problem::invalid("version: there can be no later one"))?;
    let campaign = Campaign { id: campaign_id, title, sale_ids, limit_per_user, version };
    campaign.validate().map_err(|error| Problem::invalid(error.to_string()))?;
    let missing = deps.ledger.missing_sales(&campaign.sale_ids).await.map_err(Problem::unanswered)?;
    if !missing.is_empty() {
        let missing: Vec<&str> = missing.iter().map(SaleId::as_str).collect();
        return Err(Problem::invalid(format!("sale_ids: no such sale: {}", missing.join(", "))));
    }
    limits_fit(deps, &campaign).await?;
    match deps.ledger.put_campaign(&campaign).await.map_err(Problem::unanswered)? {
        PutCampaign::Now if seen.is_none() => Ok(json(StatusCode::CREATED, &campaign)),
        PutCampaign::Now | PutCampaign::Before => Ok(json(StatusCode::OK, &campaign)),
        PutCampaign::Other(other) => Err(Problem::new(Code::CampaignChanged).with("version", other.version)),
        PutCampaign::Unknown => Err(Problem::new(Code::UnknownCampaign)),
    }
}

/// Checks that no sale is in too many campaigns with a limit, since each of them adds a write to every order. Two
/// operators who write campaigns at the same time may get past this check; orders then have a few writes more.
async fn limits_fit(deps: &AdminDeps, campaign: &Campaign) -> Result<(), Problem> {
    if campaign.limit_per_user.is_none() {
        return Ok(());
    }
    let mut all = deps.ledger.campaigns().await.map_err(Problem::unanswered)?;
    all.retain(|other| other.id != campaign.id);
    let full = |sale: &&SaleId| all.iter().filter_map(|other| other.limit_of(sale)).count() >= MAX_LIMITS_OF_A_SALE;
    match campaign.sale_ids.iter().find(full) {
        Some(sale) => Err(Problem::invalid(format!(
            "limit_per_user: {sale} is already in {MAX_LIMITS_OF_A_SALE} campaigns with a limit, which is the most"
        ))),
        None => Ok(()),
    }
}

pub(crate) async fn list(deps: &AdminDeps) -> Reply {
    let campaigns = deps.ledger.campaigns().await.map_err(Problem::unanswered)?;
    Ok(json(StatusCode::OK, &json!({ "campaigns": campaigns })))
}
