//! Keeping users out, and stopping at once. Stops are in the ledger, which every process reads every few seconds. Denials are
//! in Redis as well, which every request meets.

use api::{Problem, Reply, caller, json, json_body, no_body};
use http::StatusCode;
use jiff::Timestamp;
use lambda_http::Request;
use ledger::{Denial, DeniedBy, DeniedWhy, Switches};
use percent_encoding::percent_decode_str;
use sale::{EpochMs, RoundNumber, SaleId, UserId};
use serde::{Deserialize, Deserializer, Serialize};

use crate::steer::{Steering, steer_round};
use crate::{Deps, sale_of};

/// Longest denial: a mistake in the year must not be one for ever.
const MAX_DENIED_S: u32 = 10 * 366 * 24 * 60 * 60;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NewDenial {
    user: UserId,
    until: Timestamp,
}

/// A denial as an operator sees it.
#[derive(Serialize)]
struct DenialDocument {
    user: UserId,
    until: Timestamp,
    reason: DeniedWhy,
    by: DeniedBy,
}

#[derive(Serialize)]
struct DenialsDocument {
    denied: Vec<DenialDocument>,
}

#[derive(Serialize)]
struct SwitchesDocument {
    stopped: bool,
    stopped_sales: Vec<SaleId>,
}

/// What is to be stopped or started: everything, or one sale.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Which {
    /// Null is no sale and not everything.
    #[serde(default, deserialize_with = "present")]
    sale_id: Option<SaleId>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Allowed {
    user: UserId,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Isolate {
    round: RoundNumber,
    /// Null lifts it, which leaving it out does not.
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

impl SwitchesDocument {
    fn of(Switches { stopped, stopped_sales }: Switches) -> Self {
        Self { stopped, stopped_sales: stopped_sales.into_iter().collect() }
    }
}

/// Everybody who is denied now.
pub(crate) async fn denied(deps: &Deps) -> Reply {
    let denied = deps.ledger.denied(deps.clock.now()).await.map_err(Problem::unanswered)?;
    Ok(json(StatusCode::OK, &DenialsDocument { denied: denied.into_iter().map(DenialDocument::of).collect() }))
}

/// Denies a user until a moment. The same again is the same denial; another moment replaces it.
pub(crate) async fn deny(deps: &Deps, request: &Request) -> Reply {
    let NewDenial { user, until } = json_body(request)?;
    let (until_ms, now) = (EpochMs::from(until), deps.clock.now());
    if until_ms <= now || until_ms > now.plus_s(MAX_DENIED_S) {
        return Err(Problem::invalid("until: later than now, by ten years at most"));
    }
    let denial = Denial { user, until_ms, reason: DeniedWhy::Asked, by: DeniedBy::Operators };
    let denial = fulfilment::deny(&deps.stock, &deps.ledger, &denial, now).await.map_err(Problem::unanswered)?;
    tracing::warn!(operator = %caller(request)?.user, user = %denial.user, until = %denial.until_ms, "denied");
    Ok(json(StatusCode::OK, &DenialDocument::of(denial)))
}

/// Lets a user in again, denied or not.
pub(crate) async fn allow(deps: &Deps, request: &Request, user: &[&str]) -> Reply {
    no_body(request)?;
    let user = user_in(user)?;
    let_in(deps, request, &user).await
}

/// Likewise, for the user that the body names: not every id can stand in a path, and gateways differ in what they make of
/// an escaped slash.
pub(crate) async fn allow_named(deps: &Deps, request: &Request) -> Reply {
    let Allowed { user } = json_body(request)?;
    let_in(deps, request, &user).await
}

async fn let_in(deps: &Deps, request: &Request, user: &UserId) -> Reply {
    fulfilment::allow(&deps.stock, &deps.ledger, user, deps.clock.now()).await.map_err(Problem::unanswered)?;
    tracing::warn!(operator = %caller(request)?.user, %user, "allowed");
    denied(deps).await
}

/// The user that the end of a path names. The gateway has decoded it once, `%2F` to a slash too; without a gateway nobody
/// has, so escapes are decoded here. An id that looks like an escape itself is escaped twice.
fn user_in(path: &[&str]) -> Result<UserId, Problem> {
    let text = path.join("/");
    let user = percent_decode_str(&text).decode_utf8().ok().and_then(|text| text.parse().ok());
    user.ok_or_else(|| Problem::invalid("the path does not end with a user's id"))
}

/// What is stopped now.
pub(crate) async fn switches(deps: &Deps) -> Reply {
    Ok(json(StatusCode::OK, &SwitchesDocument::of(deps.ledger.switches().await.map_err(Problem::unanswered)?)))
}

/// Stops everything or one sale: nobody is let in and nobody reserves until it is started again.
pub(crate) async fn stop(deps: &Deps, request: &Request) -> Reply {
    let sale = which(deps, request).await?;
    switched(request, "stopped", sale.as_ref(), deps.ledger.stop(sale.as_ref()).await.map_err(Problem::unanswered)?)
}

/// Undoes a stop of the same: starting everything leaves alone what was stopped by itself.
pub(crate) async fn start(deps: &Deps, request: &Request) -> Reply {
    let sale = which(deps, request).await?;
    switched(request, "started", sale.as_ref(), deps.ledger.start(sale.as_ref()).await.map_err(Problem::unanswered)?)
}

/// The sale that a body names, which has to exist: a stop that misses its sale must not look like one.
async fn which(deps: &Deps, request: &Request) -> Result<Option<SaleId>, Problem> {
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

/// Lets a sale have no more than so many requests a second, so that the others have what they need.
pub(crate) async fn isolate(deps: &Deps, request: &Request, sale: &str) -> Reply {
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
