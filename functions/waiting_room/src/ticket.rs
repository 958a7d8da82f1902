use api::{Code, Problem, Reply, json, no_body};
use gate::{Check, Route};
use http::StatusCode;
use jiff::Timestamp;
use lambda_http::Request;
use pass::line::{Class, LineKeys, Ticket};
use sale::{EpochMs, LineTerms, Round, UserId};
use serde::Serialize;
use stock::{Joined, Joining};

use crate::deps::WaitingRoomDeps;
use crate::of_round::{expires_at, line_of, tickets_from};

/// Without the check of the kill switches: users who come while the sale is stopped get their place too.
const CHECKS: &[Check] =
    &[Check::Exists, Check::Sight, Check::Address, Check::Rate(Route::Ticket), Check::Form, Check::Keys];

/// How far this clock may differ from Redis's, in seconds. Closer to the opening, no tickets are given without Redis.
const CLOCKS_DIFFER_S: u32 = 30;

#[derive(Serialize)]
struct Document<'a> {
    ticket: String,
    sale_id: &'a str,
    round: u32,
    class: &'static str,
    /// The second in which a late user came.
    #[serde(skip_serializing_if = "Option::is_none")]
    came_at: Option<Timestamp>,
    opens_at: Timestamp,
    line_path: String,
}

/// Gives the user a ticket for the sale's line, always the same. One call to Redis, and one for a user whom it missed.
pub(crate) async fn ticket(deps: &WaitingRoomDeps, request: &Request, sale: &str) -> Reply {
    let (visitor, ()) = deps.gate().enter(request, sale, CHECKS, no_body).await?;
    let round = &visitor.sale()?.round;
    let class = class_of(deps, &visitor.user, round, line_of(round)?).await?;
    let ticket = Ticket { round: round.id.number, user: visitor.user.clone(), class };
    let came_at = match class {
        Class::Early => None,
        Class::Late(second) => Some(EpochMs(i64::try_from(second).unwrap_or(i64::MAX).saturating_mul(1000)).into()),
    };
    let document = Document {
        ticket: ticket.seal(&LineKeys::of(visitor.keys()?), &round.id.sale),
        sale_id: round.id.sale.as_str(),
        round: round.id.number.0,
        class: if came_at.is_none() { "early" } else { "late" },
        came_at,
        opens_at: round.terms.opens_at_ms.into(),
        line_path: format!("/v1/sales/{}/line", round.id.sale),
    };
    Ok(json(StatusCode::CREATED, &document))
}

/// When the user came: early if Redis does not answer well before the opening, so that no outage costs a place.
async fn class_of(deps: &WaitingRoomDeps, user: &UserId, round: &Round, line: LineTerms) -> Result<Class, Problem> {
    let (tickets_from, opens_at) = (tickets_from(round, line), round.terms.opens_at_ms);
    let joining = Joining {
        user,
        tickets_from,
        opens_at,
        closes_at: round.terms.closes_at_ms,
        expires_at: expires_at(round),
        expected: round.terms.expected_audience,
    };
    let joined = deps.stock.of(round).join_line(&joining).await;
    // A call without an answer may have taken a while.
    let now = deps.clock.now();
    match joined {
        Ok(Joined::Early) => {
            if now.plus_s(CLOCKS_DIFFER_S) < opens_at {
                let join = async |user: &_| deps.stock.of(round).join_line(&Joining { user, ..joining }).await.is_ok();
                deps.missed.tell_one(&round.id, join).await;
            } else if now >= opens_at.plus_s(CLOCKS_DIFFER_S) {
                deps.missed.forget(&round.id);
            }
            Ok(Class::Early)
        }
        Ok(Joined::Late(second)) => {
            deps.missed.forget(&round.id);
            Ok(Class::Late(second))
        }
        Ok(Joined::NotOpen(at)) => {
            Err(Problem::not_open(at, now).detail("opens_at: when tickets for the sale's line are first given out"))
        }
        Ok(Joined::Closed) => {
            deps.missed.forget(&round.id);
            Err(Problem::new(Code::Closed))
        }
        Err(error) => {
            let is_surely_early = now >= tickets_from.plus_s(CLOCKS_DIFFER_S) && now.plus_s(CLOCKS_DIFFER_S) < opens_at;
            if !is_surely_early {
                return Err(Problem::unanswered(error));
            }
            let error = &error as &dyn std::error::Error;
            tracing::warn!(error, sale_id = %round.id.sale, "gave a ticket without Redis");
            deps.missed.note(&round.id, user);
            Ok(Class::Early)
        }
    }
}
