//! Public information: campaigns, sales, and roughly what is left of them. Also what only members may see.

mod briefly;
mod caching;
mod deps;
mod document;
mod draw;
mod draw_state;
mod members;
mod read_limit;
mod shelf;
mod sync;

use api::{Code, Problem, respond, segments};
use context::{Serving, serve};
use futures::future::join_all;
use lambda_http::{Body, Request, Response};
use sale::{CampaignId, RoundId, SaleId};

pub use crate::caching::SHARED_S;
use crate::caching::{found, not_found};
pub use crate::deps::CatalogDeps;
use crate::document::{CampaignDocument, CampaignsDocument, Card, SaleDocument, SalesDocument};
pub use crate::draw_state::DRAW_REVEAL_AFTER_S;
pub use crate::shelf::Shelf;

pub fn run() -> Serving {
    serve(CatalogDeps::new, |deps, request| async move { handle(&deps, request).await })
}

/// Answers one request. Without authentication everybody gets the same answer, which caches may keep, unlike members'.
pub async fn handle(deps: &CatalogDeps, request: Request) -> Response<Body> {
    match (request.method().as_str(), segments(&request).as_slice()) {
        ("GET", ["v1", "members", "sales"]) => return respond(members::sales(deps, &request).await),
        ("GET", ["v1", "members", "sales", sale]) => return respond(members::sale(deps, &request, sale).await),
        _ => {}
    }
    match answer(deps, &request).await {
        Ok(response) => response,
        Err(problem) if matches!(problem.code(), Code::UnknownCampaign | Code::UnknownSale) => not_found(problem),
        Err(problem) => problem.into_response(),
    }
}

async fn answer(deps: &CatalogDeps, request: &Request) -> Result<Response<Body>, Problem> {
    match (request.method().as_str(), segments(request).as_slice()) {
        ("GET", ["v1", "campaigns"]) => campaigns(deps, request).await,
        ("GET", ["v1", "campaigns", campaign]) => get_campaign(deps, request, campaign).await,
        ("GET", ["v1", "sales"]) => sales(deps, request).await,
        ("GET", ["v1", "sales", sale]) => get_sale(deps, request, sale).await,
        ("GET", ["v1", "sales", sale, "rounds", round, "draw"]) => {
            draw::get_draw(deps, request, &RoundId { sale: sale.parse()?, number: round.parse()? }).await
        }
        ("GET", ["v1", "sales", sale, "rounds", round, "draw", "entries", chunk]) => {
            draw::entries(deps, request, &RoundId { sale: sale.parse()?, number: round.parse()? }, chunk).await
        }
        _ => Err(Problem::new(Code::UnknownRoute)),
    }
}

async fn sales(deps: &CatalogDeps, request: &Request) -> Result<Response<Body>, Problem> {
    let listed = deps.shelf.listed().await.map_err(Problem::unanswered)?;
    let now = deps.clock.now();
    let cards = listed.front(now).into_iter().map(|round| Card::read(&deps.shelf, &listed, round, now));
    let document = SalesDocument { sales: join_all(cards).await, campaigns: CampaignsDocument::of(&listed) };
    Ok(found(request, deps.clock.now(), &document))
}

async fn campaigns(deps: &CatalogDeps, request: &Request) -> Result<Response<Body>, Problem> {
    let listed = deps.shelf.listed().await.map_err(Problem::unanswered)?;
    Ok(found(request, deps.clock.now(), &CampaignsDocument::of(&listed)))
}

async fn get_campaign(deps: &CatalogDeps, request: &Request, campaign: &str) -> Result<Response<Body>, Problem> {
    let id: CampaignId = campaign.parse()?;
    let listed = deps.shelf.listed().await.map_err(Problem::unanswered)?;
    let campaign = listed.campaign(&id).ok_or_else(|| Problem::new(Code::UnknownCampaign))?;
    let now = deps.clock.now();
    let cards = listed.rounds_of(campaign).map(|round| Card::read(&deps.shelf, &listed, round, now));
    let (title, sales) = (campaign.title.clone(), join_all(cards).await);
    let document = CampaignDocument { campaign_id: id, title, sales };
    Ok(found(request, deps.clock.now(), &document))
}

async fn get_sale(deps: &CatalogDeps, request: &Request, sale: &str) -> Result<Response<Body>, Problem> {
    let id: SaleId = sale.parse()?;
    let listed = deps.shelf.listed().await.map_err(Problem::unanswered)?;
    let round = listed.rounds.get(&id).ok_or_else(|| Problem::new(Code::UnknownSale))?;
    let document = SaleDocument::of(round, deps.shelf.status_of(&listed, round, deps.clock.now()).await);
    Ok(found(request, deps.clock.now(), &document))
}
