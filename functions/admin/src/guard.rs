//! Denies users and networks, and stops sales at once. Stops and denied networks are in the ledger, which every process
//! reads every few seconds. Denials of users are also in Redis, which sees every request.

use api::{Problem, Reply, caller, json, json_body, no_body};
use http::StatusCode;
use jiff::Timestamp;
use lambda_http::Request;
use ledger::{Denial, DeniedBy, DeniedWhy, MAX_DENIED_NETWORKS, NetworkDenial, Switches};
use percent_encoding::percent_decode_str;
use sale::{EpochMs, Network, RoundNumber, SaleId, UserId};
use serde::{Deserialize, Deserializer, Serialize};

use crate::deps::AdminDeps;
use crate::lookup::sale_of;
use crate::steer::{Steering, steer_round};

/// The longest denial in seconds, so that a typo in the year does not deny somebody for ever.
const MAX_DENIED_S: u32 = 10 * 366 * 24 * 60 * 60;

/// The largest length of a note on a denied network, in characters.
const MAX_NOTE_LENGTH: usize = 120;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NewDenial {
    user: Option<UserId>,
    address: Option<String>,
    network: Option<String>,
    until: Timestamp,
    note: Option<String>,
}

/// Whom a denial concerns.
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

/// A denied user as an operator sees it.
#[derive(Serialize)]
struct DenialDocument {
    user: UserId,
    until: Timestamp,
    reason: DeniedWhy,
    by: DeniedBy,
}

/// A denied address or network as an operator sees it.
#[derive(Serialize)]
struct NetworkDocument {
    #[serde(skip_serializing_if = "Option::is_none")]
    address: Option<Network>,
    #[serde(skip_serializing_if = "Option::is_none")]
    network: Option<Network>,
    until: Timestamp,
    reason: DeniedWhy,
    by: DeniedBy,
    operator: UserId,
    at: Timestamp,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
}

#[derive(Serialize)]
struct DenialsDocument {
    denied: Vec<DenialDocument>,
    denied_networks: Vec<NetworkDocument>,
}

#[derive(Serialize)]
struct SwitchesDocument {
    stopped: bool,
    stopped_sales: Vec<SaleId>,
}

/// What to stop or start: everything, or one sale.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Which {
    /// Null is refused: it means neither a sale nor everything.
    #[serde(default, deserialize_with = "present")]
    sale_id: Option<SaleId>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Allowed {
    user: Option<UserId>,
    address: Option<String>,
    network: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Isolate {
    round: RoundNumber,
    /// Null lifts the limit; the field must be present.
    #[serde(deserialize_with = "Option::deserialize")]
    requests_per_s: Option<u32>,
}

fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<SaleId>, D::Error> {
    SaleId::deserialize(deserializer).map(Some)
}

impl DenialDocument {
    fn of(denial: Denial) -> Self {
        let Denial { user, until_ms, reason, by } = denial;
        Self { user, until: until_ms.into(), reason, by }
    }
}

impl NetworkDocument {
    fn of(denial: NetworkDenial) -> Self {
        let NetworkDenial { network, until_ms, note, by, at_ms } = denial;
        let (address, network) = if network.is_address() { (Some(network), None) } else { (None, Some(network)) };
        let (reason, until, at) = (DeniedWhy::Asked, until_ms.into(), at_ms.into());
        Self { address, network, until, reason, by: DeniedBy::Operators, operator: by, at, note }
    }
}

impl SwitchesDocument {
    fn of(Switches { stopped, stopped_sales, .. }: Switches) -> Self {
        Self { stopped, stopped_sales: stopped_sales.into_iter().collect() }
    }
}

/// Lists the users and networks that are denied now.
pub(crate) async fn denied(deps: &AdminDeps) -> Reply {
    let now = deps.clock.now();
    let read = futures::try_join!(deps.ledger.denied(now), deps.ledger.denied_networks(now));
    let (denied, mut networks) = read.map_err(Problem::unanswered)?;
    networks.sort_by_key(|denial| (std::cmp::Reverse(denial.until_ms), denial.network));
    let document = DenialsDocument {
        denied: denied.into_iter().map(DenialDocument::of).collect(),
        denied_networks: networks.into_iter().map(NetworkDocument::of).collect(),
    };
    Ok(json(StatusCode::OK, &document))
}

/// Denies a user, an address or a network until a given time. Repeating it changes nothing; another time replaces the
/// first.
pub(crate) async fn deny(deps: &AdminDeps, request: &Request) -> Reply {
    let NewDenial { user, address, network, until, note } = json_body(request)?;
    let subject = Subject::of(user, address.as_deref(), network.as_deref())?;
    let (until_ms, now) = (EpochMs::from(until), deps.clock.now());
    if until_ms <= now || until_ms > now.plus_s(MAX_DENIED_S) {
        return Err(Problem::invalid("until: in the future, and at most ten years from now"));
    }
    let user = match subject {
        Subject::User(_) if note.is_some() => return Err(Problem::invalid("note: only with an address or a network")),
        Subject::User(user) => user,
        Subject::Network(network) => return deny_network(deps, request, network, until_ms, note).await,
    };
    let denial = Denial { user, until_ms, reason: DeniedWhy::Asked, by: DeniedBy::Operators };
    let denial = fulfilment::deny(&deps.stock, &deps.ledger, &denial, now).await.map_err(Problem::unanswered)?;
    tracing::warn!(operator = %caller(request)?.user, user = %denial.user, until = %denial.until_ms, "denied");
    Ok(json(StatusCode::OK, &DenialDocument::of(denial)))
}

async fn deny_network(
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
    let denial = NetworkDenial { network, until_ms, note, by: caller(request)?.user, at_ms: now };
    if !deps.ledger.deny_network(&denial, now).await.map_err(Problem::unanswered)? {
        let full = format!("network: {MAX_DENIED_NETWORKS} are denied, which is the most; allow one first");
        return Err(Problem::invalid(full));
    }
    tracing::warn!(operator = %denial.by, %network, until = %until_ms, "denied");
    Ok(json(StatusCode::OK, &NetworkDocument::of(denial)))
}

/// Allows a user again, denied or not.
pub(crate) async fn allow(deps: &AdminDeps, request: &Request, user: &[&str]) -> Reply {
    no_body(request)?;
    let user = user_in(user)?;
    let_in(deps, request, &user).await
}

/// Allows the user, address or network that the body names. Not every id fits into a path, and gateways differ in how
/// they treat an escaped slash.
pub(crate) async fn allow_named(deps: &AdminDeps, request: &Request) -> Reply {
    let Allowed { user, address, network } = json_body(request)?;
    match Subject::of(user, address.as_deref(), network.as_deref())? {
        Subject::User(user) => let_in(deps, request, &user).await,
        Subject::Network(network) => {
            deps.ledger.allow_network(network, deps.clock.now()).await.map_err(Problem::unanswered)?;
            tracing::warn!(operator = %caller(request)?.user, %network, "allowed");
            denied(deps).await
        }
    }
}

async fn let_in(deps: &AdminDeps, request: &Request, user: &UserId) -> Reply {
    fulfilment::allow(&deps.stock, &deps.ledger, user, deps.clock.now()).await.map_err(Problem::unanswered)?;
    tracing::warn!(operator = %caller(request)?.user, %user, "allowed");
    denied(deps).await
}

/// The user id at the end of a path. The gateway has decoded it once, including `%2F` to a slash. Without a gateway
/// nobody has, so escapes are decoded here. An id that itself looks like an escape must be escaped twice.
fn user_in(path: &[&str]) -> Result<UserId, Problem> {
    let text = path.join("/");
    let user = percent_decode_str(&text).decode_utf8().ok().and_then(|text| text.parse().ok());
    user.ok_or_else(|| Problem::invalid("the path does not end with a user's id"))
}

/// Lists what is stopped now.
pub(crate) async fn switches(deps: &AdminDeps) -> Reply {
    Ok(json(StatusCode::OK, &SwitchesDocument::of(deps.ledger.switches().await.map_err(Problem::unanswered)?)))
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
    match sale_id {
        Some(sale) => Ok(Some(sale_of(deps, sale.as_str()).await?.offer.id)),
        None => Ok(None),
    }
}

fn switched(request: &Request, what: &str, sale: Option<&SaleId>, switches: Switches) -> Reply {
    let sale = sale.map_or("everything", SaleId::as_str);
    tracing::warn!(operator = %caller(request)?.user, sale, "{what}");
    Ok(json(StatusCode::OK, &SwitchesDocument::of(switches)))
}

/// Limits the requests a second of a sale, to protect the others.
pub(crate) async fn isolate(deps: &AdminDeps, request: &Request, sale: &str) -> Reply {
    let Isolate { round, requests_per_s } = json_body(request)?;
    let limit = requests_per_s.map_or_else(|| "none".to_owned(), |rate| rate.to_string());
    let steering = Steering::new(deps, request, sale, round, "isolate", limit)?;
    steer_round(deps, &steering, |round, _| round.isolate(requests_per_s)).await
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
