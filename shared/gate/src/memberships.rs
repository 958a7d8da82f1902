use std::collections::HashSet;
use std::time::Duration;

use api::GroupClaims;
use lambda_http::Request;
use ledger::{Ledger, LedgerError};
use process::KeptEach;
use runtime::Clock;
use sale::{GroupName, UserId};

/// How long a process remembers what a list says about a user. For that long a new member may not see a sale, and a
/// removed one may still see it.
const KEPT_FOR: Duration = Duration::from_secs(30);
/// The largest number of memberships remembered, at some 200 bytes each.
const MAX_KEPT: u64 = 20_000;

/// Decides who is in which group, by the token's claim or a list, and so who may see a sale. Results from lists are
/// remembered for a short time, so a flood of requests for a hidden sale costs one read for each user and half a minute,
/// or a few if they come at once.
#[derive(Clone)]
pub struct Memberships {
    ledger: Ledger,
    claims: GroupClaims,
    kept: KeptEach<(UserId, GroupName), bool>,
}

impl Memberships {
    /// `claims` are the names of the claims that name a group, separated by commas; the usual ones without them.
    pub fn new(ledger: Ledger, claims: Option<String>, clock: Clock) -> Self {
        Self { ledger, claims: GroupClaims::or_usual(claims), kept: KeptEach::new(MAX_KEPT, KEPT_FOR, clock) }
    }

    pub const fn claims(&self) -> &GroupClaims {
        &self.claims
    }

    /// Whether the user is in one of the groups. Fails if DynamoDB must be read and does not answer.
    pub async fn is_in_one(&self, request: &Request, user: &UserId, groups: &[GroupName]) -> Result<bool, LedgerError> {
        Ok(!self.among(request, user, groups).await?.is_empty())
    }

    /// The given groups that the user is in. Fails if DynamoDB must be read and does not answer.
    pub async fn among(
        &self,
        request: &Request,
        user: &UserId,
        groups: &[GroupName],
    ) -> Result<HashSet<GroupName>, LedgerError> {
        let named = self.claims.named_by(request);
        let key = |group: &GroupName| (user.clone(), group.clone());
        let (mut found, mut unknown) = (HashSet::new(), Vec::new());
        for group in groups {
            let known = if named == Some(group.as_str()) { Some(true) } else { self.kept.get(&key(group)) };
            match known {
                Some(true) => {
                    found.insert(group.clone());
                }
                Some(false) => {}
                None => unknown.push(group.clone()),
            }
        }
        if !unknown.is_empty() {
            let began = self.kept.now();
            let listed = self.ledger.groups_of(user, &unknown).await?;
            unknown.iter().for_each(|group| self.kept.keep(&key(group), began, listed.contains(group)));
            found.extend(listed);
        }
        Ok(found)
    }
}
