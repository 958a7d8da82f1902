use std::sync::{Arc, Mutex, PoisonError};

use api::{Code, Problem, Reply, json, no_body};
use gate::{Check, Route};
use http::StatusCode;
use jiff::Timestamp;
use lambda_http::Request;
use line::{Class, LineKeys, Ticket};
use sale::{EpochMs, LineTerms, Round, RoundId, UserId};
use serde::Serialize;
use stock::{Joined, Joining};

use crate::{Deps, expires_at, line_of, tickets_from};

/// Whoever comes while the sale is stopped has a place like everybody else.
const CHECKS: &[Check] =
    &[Check::Known, Check::Sight, Check::Address, Check::Rate(Route::Ticket), Check::Form, Check::Keys];

/// How far this clock may be off Redis's. Only so far from the opening tickets are given without Redis.
const CLOCKS_DIFFER_S: u32 = 30;
/// Users whom Redis missed that a process remembers: a megabyte or two, and more than one gives tickets to while Redis is away.
const MOST_MISSED: usize = 10_000;

#[derive(Serialize)]
struct Document<'a> {
    ticket: String,
    sale_id: &'a str,
    round: u32,
    class: &'static str,
    /// The second in which a late one came.
    #[serde(skip_serializing_if = "Option::is_none")]
    came_at: Option<Timestamp>,
    opens_at: Timestamp,
    line_path: String,
}

/// Users whom this process gave tickets without Redis. Redis is told of one of them with each ticket that it gives again, so that they
/// are counted: the line is as fast as it has people.
#[derive(Debug, Clone, Default)]
pub struct Missed(Arc<Mutex<Vec<(RoundId, UserId)>>>);

impl Missed {
    /// Notes one, unless there are too many.
    fn note(&self, round: &RoundId, user: &UserId) {
        let mut missed = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if missed.len() < MOST_MISSED {
            missed.push((round.clone(), user.clone()));
        }
    }

    /// Takes one of this round.
    fn next_of(&self, round: &RoundId) -> Option<UserId> {
        let mut missed = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        missed.pop_if(|(of, _)| of == round).map(|(_, user)| user)
    }
}

/// Gives the user the ticket of the sale's line. One call of Redis, and another one for a user whom it missed. Asked again, it gives
/// the same one.
pub(crate) async fn ticket(deps: &Deps, request: &Request, sale: &str) -> Reply {
    let (visitor, ()) = deps.gate().enter(request, sale, CHECKS, no_body).await?;
    let round = &visitor.known()?.round;
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

/// When the user came. If Redis does not answer well before the opening the user is early all the same, and has the ticket to show it:
/// nobody loses a place by a fault of ours.
async fn class_of(deps: &Deps, user: &UserId, round: &Round, line: LineTerms) -> Result<Class, Problem> {
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
            if now.plus_s(CLOCKS_DIFFER_S) < opens_at
                && let Some(missed) = deps.missed.next_of(&round.id)
                && deps.stock.of(round).join_line(&Joining { user: &missed, ..joining }).await.is_err()
            {
                deps.missed.note(&round.id, &missed);
            }
            Ok(Class::Early)
        }
        Ok(Joined::Late(second)) => Ok(Class::Late(second)),
        Ok(Joined::NotOpen(at)) => {
            Err(Problem::not_open(at, now).detail("opens_at: from then on there are tickets for the sale's line"))
        }
        Ok(Joined::Closed) => Err(Problem::new(Code::Closed)),
        Err(error) => {
            let is_surely_early = now >= tickets_from.plus_s(CLOCKS_DIFFER_S) && now.plus_s(CLOCKS_DIFFER_S) < opens_at;
            if !is_surely_early {
                return Err(Problem::unanswered(error));
            }
            let error = &error as &dyn std::error::Error;
            tracing::warn!(error, sale_id = %round.id.sale, "a ticket that Redis does not remember");
            deps.missed.note(&round.id, user);
            Ok(Class::Early)
        }
    }
}
