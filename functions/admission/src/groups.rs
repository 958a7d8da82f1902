use api::{Code, Problem};
use gate::Visitor;
use lambda_http::Request;
use sale::{BuyerClass, GroupName, Round};

use crate::deps::AdmissionDeps;

/// How far this clock may be ahead of Redis's, which decides, in seconds: groups are looked up for that much longer.
const CLOCKS_DIFFER_S: u32 = 600;

/// What the user may do in the round, by the user's groups. Groups that the token does not name are looked up in the
/// ledger: one consistent read, and only while it can matter. Fails with 403 if only groups may buy and the user is in
/// none of them, with 503 if the ledger does not answer, since a guess could keep a member out or let a stranger in.
pub(crate) async fn class_of(
    deps: &AdmissionDeps,
    request: &Request,
    visitor: &Visitor,
    round: &Round,
) -> Result<BuyerClass, Problem> {
    let (terms, now) = (&round.terms, deps.clock.now());
    let groups_buy = &terms.gate.groups_buy;
    let early_matters = terms.groups_matter_until_ms().is_some_and(|until| now < until.plus_s(CLOCKS_DIFFER_S));
    if !early_matters && groups_buy.is_empty() {
        return Ok(BuyerClass::EVERYONE);
    }
    let class_of = |is_member: &dyn Fn(&GroupName) -> bool| {
        if early_matters { terms.class_of(is_member) } else { BuyerClass::EVERYONE }
    };
    let may_buy = |is_member: &dyn Fn(&GroupName) -> bool| groups_buy.is_empty() || groups_buy.iter().any(is_member);
    let named = deps.memberships.claims().named_by(request);
    let by_token = |group: &GroupName| named == Some(group.as_str());
    if may_buy(&by_token) && class_of(&by_token) == class_of(&|_| true) {
        return Ok(class_of(&by_token));
    }
    let early = terms.early_access.iter().map(|early| &early.group).filter(|_| early_matters);
    let mut groups: Vec<GroupName> = early.chain(groups_buy).cloned().collect();
    groups.sort_unstable();
    groups.dedup();
    let listed = Box::pin(deps.ledger.groups_of(&visitor.user, &groups)).await.map_err(Problem::unanswered)?;
    let is_member = |group: &GroupName| by_token(group) || listed.contains(group);
    if may_buy(&is_member) { Ok(class_of(&is_member)) } else { Err(Problem::new(Code::NotAMember)) }
}
