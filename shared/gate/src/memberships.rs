use std::collections::HashSet;
use std::time::Duration;

use api::GroupClaims;
use lambda_http::Request;
use ledger::{Ledger, LedgerError};
use moka::sync::Cache;
use sale::{GroupName, UserId};

/// How long a process goes by what a list said of a user. So long a new member may not see a sale, and one who was taken out
/// may still see it.
const KEPT_FOR: Duration = Duration::from_secs(30);
/// Memberships that are remembered at once: some 200 bytes each.
const MAX_KEPT: u64 = 20_000;

/// Who is in which group, by the token's claim or a list: for whether somebody may see a sale. What a list says is remembered
/// for a moment, so that neither made-up ids nor a flood of requests for a hidden sale costs more than a reading for each user.
#[derive(Clone)]
pub struct Memberships {
    ledger: Ledger,
    claims: GroupClaims,
    kept: Cache<(UserId, GroupName), bool>,
}

impl Memberships {
    /// By the lists of `ledger` and these claims; nothing is read yet.
    pub fn new(ledger: Ledger, claims: GroupClaims) -> Self {
        let kept = Cache::builder().max_capacity(MAX_KEPT).time_to_live(KEPT_FOR).build();
        Self { ledger, claims, kept }
    }

    /// The claims that name a group.
    pub const fn claims(&self) -> &GroupClaims {
        &self.claims
    }

    /// Whether the user is in one of the groups.
    ///
    /// # Errors
    /// If DynamoDB has to be asked and does not answer.
    pub async fn is_in_one(&self, request: &Request, user: &UserId, groups: &[GroupName]) -> Result<bool, LedgerError> {
        Ok(!self.among(request, user, groups).await?.is_empty())
    }

    /// Those of the groups that the user is in. If the token names one of them, the lists are not asked for the others.
    ///
    /// # Errors
    /// If DynamoDB has to be asked and does not answer.
    pub async fn among(
        &self,
        request: &Request,
        user: &UserId,
        groups: &[GroupName],
    ) -> Result<HashSet<GroupName>, LedgerError> {
        let named = self.claims.named_by(request);
        let mut found: HashSet<GroupName> =
            groups.iter().filter(|group| named == Some(group.as_str())).cloned().collect();
        let key = |group: &GroupName| (user.clone(), group.clone());
        let mut unknown = Vec::new();
        for group in groups.iter().filter(|group| named != Some(group.as_str())) {
            match self.kept.get(&key(group)) {
                Some(true) => {
                    found.insert(group.clone());
                }
                Some(false) => {}
                None => unknown.push(group.clone()),
            }
        }
        if !unknown.is_empty() {
            let listed = self.ledger.groups_of(user, &unknown).await?;
            for group in unknown {
                let is_in = listed.contains(&group);
                self.kept.insert(key(&group), is_in);
                if is_in {
                    found.insert(group);
                }
            }
        }
        Ok(found)
    }
}
