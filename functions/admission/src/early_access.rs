use api::Problem;
use gate::{Route, Visitor};
use lambda_http::Request;
use sale::{BuyerClass, EpochMs, GroupName, Round};

use crate::Deps;

/// How far this clock may be ahead of Redis's, which alone decides: for so long after groups have ceased to matter they are
/// still looked up.
const CLOCKS_DIFFER_S: u32 = 600;

/// What the user may do earlier than everyone else in the round. Groups that the token does not name are looked up in the
/// ledger: one consistent read, and only while it can matter.
///
/// # Errors
/// 503 if the ledger does not answer, since a guess would keep a member out or let a stranger in. 429 for a user or an address
/// that asks too often.
pub(crate) async fn class_of(
    deps: &Deps,
    request: &Request,
    visitor: &Visitor,
    round: &Round,
) -> Result<BuyerClass, Problem> {
    let (terms, now) = (&round.terms, deps.clock.now());
    if terms.groups_matter_until_ms().is_none_or(|until| is_past(until, now)) {
        return Ok(BuyerClass::EVERYONE);
    }
    let named = deps.groups.named_by(request);
    let by_token = terms.class_of(|group| named == Some(group.as_str()));
    if by_token == terms.class_of(|_| true) {
        return Ok(by_token);
    }
    // Redis counts the request only with the script that comes later.
    deps.gate().limit(request, Route::Token, &visitor.user)?;
    let groups: Vec<GroupName> = terms.early_access.iter().map(|early| early.group.clone()).collect();
    let listed = Box::pin(deps.ledger.groups_of(&visitor.user, &groups)).await.map_err(Problem::unanswered)?;
    Ok(terms.class_of(|group| named == Some(group.as_str()) || listed.contains(group)))
}

fn is_past(until: EpochMs, now: EpochMs) -> bool {
    now >= until.plus_s(CLOCKS_DIFFER_S)
}
