//! Groups: lists of users who may buy before everyone else.

use api::{Problem, Reply, caller, json, json_body_up_to};
use http::StatusCode;
use lambda_http::{Request, RequestExt};
use sale::{GroupName, InvalidId, MAX_USER_ID_LENGTH, UserId};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::deps::AdminDeps;

/// The largest number of users in a request: 40 writes to the ledger, several at a time, in well under a second.
const MAX_USERS: usize = 1_000;
/// The largest body in bytes: that many of the longest ids, quoted and escaped, and what surrounds them.
const MAX_USERS_BYTES: usize = MAX_USERS * 2 * (MAX_USER_ID_LENGTH + 4) + 1024;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Users {
    users: Vec<UserId>,
}

#[derive(Serialize)]
struct PageDocument {
    group: GroupName,
    users: Vec<UserId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<UserId>,
}

/// Adds users to a group. A group exists once it has a user.
pub(crate) async fn add(deps: &AdminDeps, request: &Request, group: &str) -> Reply {
    let (group, users) = (group.parse::<GroupName>()?, users(request)?);
    deps.ledger.add_to_group(&group, &users).await.map_err(Problem::unanswered)?;
    written(request, group, users.len(), "added to a group")
}

/// Removes users from a group. Passes that they already have stay valid until they expire.
pub(crate) async fn remove(deps: &AdminDeps, request: &Request, group: &str) -> Reply {
    let (group, users) = (group.parse::<GroupName>()?, users(request)?);
    deps.ledger.remove_from_group(&group, &users).await.map_err(Problem::unanswered)?;
    written(request, group, users.len(), "removed from a group")
}

pub(crate) async fn page(deps: &AdminDeps, request: &Request, group: &str) -> Reply {
    let group: GroupName = group.parse()?;
    let query = request.query_string_parameters_ref();
    let after = query.and_then(|query| query.first("cursor")).map(cursor).transpose()?;
    let page = deps.ledger.group_page(&group, after.as_ref()).await.map_err(Problem::unanswered)?;
    Ok(json(StatusCode::OK, &PageDocument { group, users: page.users, next_cursor: page.more_after }))
}

/// The result of a request, with the number of users it named.
fn written(request: &Request, group: GroupName, users: usize, what: &str) -> Reply {
    tracing::warn!(operator = %caller(request)?.user, %group, users, "{what}");
    Ok(json(StatusCode::OK, &json!({ "group": group, "users": users })))
}

fn users(request: &Request) -> Result<Vec<UserId>, Problem> {
    let Users { users } = json_body_up_to(request, MAX_USERS_BYTES)?;
    if !(1..=MAX_USERS).contains(&users.len()) {
        return Err(Problem::invalid(format!("users: 1 to {MAX_USERS}")));
    }
    Ok(users)
}

fn cursor(text: &str) -> Result<UserId, Problem> {
    text.parse().map_err(|_: InvalidId| Problem::invalid("cursor: take it from an earlier page's next_cursor"))
}
