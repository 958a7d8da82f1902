//! Blocks users and networks, and stops sales at once. Kill switches and blocked networks are in the ledger, which
//! every process reads every few seconds. Blocks of users are also in Redis, which sees every request.

use api::{Problem, Reply, caller, json, json_body, no_body};
use http::StatusCode;
use jiff::Timestamp;
use lambda_http::{Body, Request, Response};
use ledger::{BlockReason, BlockedBy, KillSwitches, MAX_BLOCKED_NETWORKS, NetworkBlock, UserBlock};
use percent_encoding::percent_decode_str;
use sale::{EpochMs, Network, RoundNumber, SaleId, UserId};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::deps::AdminDeps;
use crate::lookup::sale_of;
use crate::update::{SaleUpdate, update_round};

/// The longest block in seconds, so that a typo in the year does not block somebody for ever.
const MAX_BLOCKED_S: u32 = 10 * 366 * 24 * 60 * 60;

/// The largest length of a note on a blocked network, in characters.
const MAX_NOTE_LENGTH: usize = 120;

#[serde_with::apply(Option => #[serde(default, deserialize_with = "api::present")])]
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewBlock {
    user: Option<UserId>,
    address: Option<String>,
    network: Option<String>,
    until: Timestamp,
    note: Option<String>,
}

enum Subject {
    User(UserId),
    Network(Network),
}

impl Subject {
    fn of(user: Option<UserId>, address: Option<&str>, network: Option<&str>) -> Result<Self, Problem> {
        let parsed = |field: &str, text: &str| {
            text.parse::<Network>().map_err(|error| Problem::invalid(format!("{field}: {error}")))
        };
        match (user, address, network) {
            (Some(user), None, None) => Ok(Self::User(user)),
            (None, Some(address), None) => {
                let network = parsed("address", address)?;
                // A network with a single address is written as an address.
                if address.contains('/') || !network.is_address() {
                    return Err(Problem::invalid("address: one IPv4 or IPv6 address; use network for a network"));
                }
                Ok(Self::Network(network))
            }
            (None, None, Some(network)) => Ok(Self::Network(parsed("network", network)?)),
            _ => Err(Problem::invalid("user, address or network: exactly one of them")),
        }
    }
}

#[derive(Serialize)]
struct UserBlockDocument {
    user: UserId,
    until: Timestamp,
    reason: BlockReason,
    by: BlockedBy,
}

#[serde_with::skip_serializing_none]
#[derive(Serialize)]
struct NetworkDocument {
    address: Option<Network>,
    network: Option<Network>,
    until: Timestamp,
    reason: BlockReason,
    by: BlockedBy,
    operator: UserId,
    at: Timestamp,
    note: Option<String>,
}

/// What to stop or start: everything, or one sale.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Which {
    /// Null is refused: it means neither a sale nor everything.
    #[serde(default, deserialize_with = "api::present")]
    sale_id: Option<SaleId>,
}

#[serde_with::apply(Option => #[serde(default, deserialize_with = "api::present")])]
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Allowed {
    user: Option<UserId>,
    address: Option<String>,
    network: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SaleThrottle {
    round: RoundNumber,
    /// Null lifts the limit; the field must be present.
    #[serde(deserialize_with = "Option::deserialize")]
    requests_per_s: Option<u32>,
}

impl UserBlockDocument {
    fn of(block: UserBlock) -> Self {
        let UserBlock { user, until_ms, reason, by } = block;
        Self { user, until: until_ms.into(), reason, by }
    }
}

impl NetworkDocument {
    fn of(block: NetworkBlock) -> Self {
        let NetworkBlock { network, until_ms, note, by, at_ms } = block;
        let (address, network) = if network.is_address() { (Some(network), None) } else { (None, Some(network)) };
        let (reason, until, at) = (BlockReason::Asked, until_ms.into(), at_ms.into());
        Self { address, network, until, reason, by: BlockedBy::Operators, operator: by, at, note }
    }
}

pub(crate) async fn blocked(deps: &AdminDeps) -> Reply {
    let now = deps.clock.now();
    let read = futures::try_join!(deps.ledger.blocked(now), deps.ledger.blocked_networks(now));
    let (blocked, mut networks) = read.map_err(Problem::unanswered)?;
    networks.sort_by_key(|block| (std::cmp::Reverse(block.until_ms), block.network));
    let blocked: Vec<_> = blocked.into_iter().map(UserBlockDocument::of).collect();
    let networks: Vec<_> = networks.into_iter().map(NetworkDocument::of).collect();
    Ok(json(StatusCode::OK, &json!({ "blocked": blocked, "blocked_networks": networks })))
}

/// Blocks a user, an address or a network until a time. Repeating it changes nothing; another time replaces the first.
pub(crate) async fn block(deps: &AdminDeps, request: &Request) -> Reply {
    let NewBlock { user, address, network, until, note } = json_body(request)?;
    let subject = Subject::of(user, address.as_deref(), network.as_deref())?;
    let (until_ms, now) = (EpochMs::from(until), deps.clock.now());
    if until_ms <= now || until_ms > now.plus_s(MAX_BLOCKED_S) {
        return Err(Problem::invalid("until: in the future, and at most ten years from now"));
    }
    let user = match subject {
        Subject::User(_) if note.is_some() => return Err(Problem::invalid("note: only with an address or a network")),
        Subject::User(user) => user,
        Subject::Network(network) => return block_network(deps, request, network, until_ms, note).await,
    };
    let block = UserBlock { user, until_ms, reason: BlockReason::Asked, by: BlockedBy::Operators };
    let block = fulfilment::block(&deps.stock, &deps.ledger, &block, now).await.map_err(Problem::unanswered)?;
    tracing::warn!(operator = %caller(request)?.user, user = %block.user, until = %block.until_ms, "blocked");
    Ok(json(StatusCode::OK, &UserBlockDocument::of(block)))
}

async fn block_network(
    deps: &AdminDeps,
    request: &Request,
    network: Network,
    until_ms: EpochMs,
    note: Option<String>,
) -> Reply {
    let is_good =
        |note: &String| (1..=MAX_NOTE_LENGTH).contains(&note.chars().count()) && !note.chars().any(char::is_control);
    if !note.as_ref().is_none_or(is_good) {
        return Err(Problem::invalid(format!("note: 1 to {MAX_NOTE_LENGTH} characters without control characters")));
    }
    let now = deps.clock.now();
    let block = NetworkBlock { network, until_ms, note, by: caller(request)?.user, at_ms: now };
    if !deps.ledger.block_network(&block, now).await.map_err(Problem::unanswered)? {
        let full = format!("network: {MAX_BLOCKED_NETWORKS} are blocked, which is the most; allow one first");
        return Err(Problem::invalid(full));
    }
    tracing::warn!(operator = %block.by, %network, until = %until_ms, "blocked");
    Ok(json(StatusCode::OK, &NetworkDocument::of(block)))
}

pub(crate) async fn allow(deps: &AdminDeps, request: &Request, user: &[&str]) -> Reply {
    no_body(request)?;
    let_in(deps, request, &user_in(user)?).await
}

/// Allows whom or what the body names. Not every id fits into a path: gateways treat an escaped slash differently.
pub(crate) async fn allow_named(deps: &AdminDeps, request: &Request) -> Reply {
    let Allowed { user, address, network } = json_body(request)?;
    match Subject::of(user, address.as_deref(), network.as_deref())? {
        Subject::User(user) => let_in(deps, request, &user).await,
        Subject::Network(network) => {
            deps.ledger.allow_network(network, deps.clock.now()).await.map_err(Problem::unanswered)?;
            tracing::warn!(operator = %caller(request)?.user, %network, "allowed");
            blocked(deps).await
        }
    }
}

async fn let_in(deps: &AdminDeps, request: &Request, user: &UserId) -> Reply {
    fulfilment::allow(&deps.stock, &deps.ledger, user, deps.clock.now()).await.map_err(Problem::unanswered)?;
    tracing::warn!(operator = %caller(request)?.user, %user, "allowed");
    blocked(deps).await
}

/// The user id at the end of a path. The gateway has decoded it once, including `%2F` to a slash. Without a gateway
/// nobody has, so escapes are decoded here. An id that itself looks like an escape must be escaped twice.
fn user_in(path: &[&str]) -> Result<UserId, Problem> {
    let text = path.join("/");
    let user = percent_decode_str(&text).decode_utf8().ok().and_then(|text| text.parse().ok());
    user.ok_or_else(|| Problem::invalid("the path does not end with a user's id"))
}

pub(crate) async fn kill_switches(deps: &AdminDeps) -> Reply {
    Ok(shown(&deps.ledger.kill_switches().await.map_err(Problem::unanswered)?))
}

fn shown(KillSwitches { stopped, stopped_sales, .. }: &KillSwitches) -> Response<Body> {
    json(StatusCode::OK, &json!({ "stopped": stopped, "stopped_sales": stopped_sales }))
}

/// Stops everything or one sale: nobody is admitted and nobody can reserve until it is started again.
pub(crate) async fn stop(deps: &AdminDeps, request: &Request) -> Reply {
    let sale = which(deps, request).await?;
    switched(request, "stopped", sale.as_ref(), deps.ledger.stop(sale.as_ref()).await.map_err(Problem::unanswered)?)
}

/// Undoes a stop. Starting everything does not start sales that were stopped individually.
pub(crate) async fn start(deps: &AdminDeps, request: &Request) -> Reply {
    let sale = which(deps, request).await?;
    switched(request, "started", sale.as_ref(), deps.ledger.start(sale.as_ref()).await.map_err(Problem::unanswered)?)
}

/// The sale that a body names. It must exist, so that a stop with a misspelled id does not seem to succeed.
async fn which(deps: &AdminDeps, request: &Request) -> Result<Option<SaleId>, Problem> {
    let Which { sale_id } = json_body(request)?;
    let Some(sale) = sale_id else { return Ok(None) };
    Ok(Some(sale_of(deps, sale.as_str()).await?.offer.id))
}

fn switched(request: &Request, what: &str, sale: Option<&SaleId>, kill_switches: KillSwitches) -> Reply {
    let sale = sale.map_or("everything", SaleId::as_str);
    tracing::warn!(operator = %caller(request)?.user, sale, "{what}");
    Ok(shown(&kill_switches))
}

/// Limits the requests a second of a sale, to protect the others.
pub(crate) async fn throttle(deps: &AdminDeps, request: &Request, sale: &str) -> Reply {
    let SaleThrottle { round, requests_per_s } = json_body(request)?;
    let limit = requests_per_s.map_or_else(|| "none".to_owned(), |rate| rate.to_string());
    let update = SaleUpdate::new(deps, request, sale, round, "throttle", limit)?;
    update_round(deps, &update, |round, _| round.throttle(requests_per_s)).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_are_named_with_and_without_a_gateway() {
        for (path, user) in [
            (&["alice"][..], "alice"),
            (&["a%7Cb"], "a|b"),
            (&["a|b"], "a|b"),
            (&["https:", "", "id", "7"], "https://id/7"),
            (&["https%3A%2F%2Fid%2F7"], "https://id/7"),
            (&["a%2541"], "a%41"),
        ] {
            assert_eq!(user_in(path).unwrap().as_str(), user);
        }
        for path in [&[""][..], &["a b"], &["a%20b"], &["%FF"], &["%00"]] {
            assert!(user_in(path).is_err(), "{path:?}");
        }
    }
}
