//! Sales that only members of certain groups may see. Answers depend on the caller, so no cache may keep them.

use api::{Code, Problem, Reply, caller};
use gate::Route;
use lambda_http::Request;
use sale::{GroupName, Round, SaleId, UserId};
use serde_json::json;

use crate::caching::told;
use crate::deps::CatalogDeps;
use crate::document::{Card, SaleDocument};

/// How many groups a request looks the caller up in, at most: one batch of DynamoDB.
const MAX_GROUPS: usize = 100;

/// Lists the sales that the caller may see as a member, the first to open first.
pub(crate) async fn sales(deps: &CatalogDeps, request: &Request) -> Reply {
    let user = counted(deps, request)?;
    let listed = deps.shelf.listed().await.map_err(Problem::unanswered)?;
    let mut rounds: Vec<&Round> = listed.hidden.values().collect();
    rounds.sort_by_key(|round| (round.terms.opens_at_ms, &round.id.sale));
    let mut groups: Vec<GroupName> = rounds.iter().flat_map(|round| &round.terms.gate.groups_see).cloned().collect();
    groups.sort_unstable();
    groups.dedup();
    if groups.len() > MAX_GROUPS {
        tracing::error!(MAX_GROUPS, "too many groups for one lookup: some members do not see their sales in the list");
        groups.truncate(MAX_GROUPS);
    }
    let is_in = deps.memberships.among(request, &user, &groups).await.map_err(Problem::unanswered)?;
    rounds.retain(|round| round.terms.gate.groups_see.iter().any(|group| is_in.contains(group)));
    let now = deps.clock.now();
    let sales =
        futures::future::join_all(rounds.into_iter().map(|round| Card::read(&deps.shelf, &listed, round, now))).await;
    Ok(told(now, &json!({ "sales": sales })))
}

/// The card of a sale that everybody, or one of the caller's groups, may see.
pub(crate) async fn sale(deps: &CatalogDeps, request: &Request, sale: &str) -> Reply {
    let user = counted(deps, request)?;
    let id: SaleId = sale.parse()?;
    let listed = deps.shelf.listed().await.map_err(Problem::unanswered)?;
    let unknown = || Problem::new(Code::UnknownSale);
    let round = match (listed.rounds.get(&id), listed.hidden.get(&id)) {
        (Some(round), _) => round,
        (None, Some(round)) => {
            let may = deps.memberships.is_in_one(request, &user, &round.terms.gate.groups_see).await;
            if !may.map_err(Problem::unanswered)? {
                return Err(unknown());
            }
            round
        }
        (None, None) => return Err(unknown()),
    };
    let status = deps.shelf.status_of(&listed, round, deps.clock.now()).await;
    Ok(told(deps.clock.now(), &SaleDocument::of(round, status)))
}

/// The caller, if within the rate limits.
fn counted(deps: &CatalogDeps, request: &Request) -> Result<UserId, Problem> {
    let user = caller(request)?.user;
    let limited = deps.limiter.check_user(Route::Members, &user);
    limited.map_err(|limited| Route::Members.refusal(true, limited.retry_after.as_millis() as u64))?;
    Ok(user)
}
