//! Attempts that must not get anything.

use hyper::Method;
use load::{Request, Response};
use sale::{EpochMs, RoundId, RoundNumber, UserId};

use super::dice::Dice;
use super::run::Run;
use super::tally::MISBEHAVE;
use super::visitor::Visit;
use crate::deployment::sealed;

/// Passes are valid for five minutes.
const LONG_AGO_MS: i64 = 20 * 60 * 1000;

/// One attempt. Notes whether it is refused: none may succeed.
pub(super) async fn try_something(visit: &Visit<'_>, dice: &mut Dice) {
    let Visit { run, person, on_sale, .. } = visit;
    let (round, sale) = (&on_sale.round, on_sale.round.sale.as_str());
    let other = &run.people[dice.below(run.people.len())];
    let now = runtime::Clock::system().now();
    let seal = |round: &RoundId, user: &UserId, issued_at_ms| sealed(&run.ring, round, user, issued_at_ms);
    let good = seal(round, &person.user, now);
    let reserve = |pass: &str| Request::reserve(sale, pass).ok().map(|request| request.token(&person.token));
    let next = RoundId { sale: round.sale.clone(), number: RoundNumber(round.number.0 + 1_000) };
    let (what, request) = match dice.below(8) {
        0 => ("an invalid pass", reserve("no-pass-at-all")),
        1 => ("somebody else's pass", reserve(&seal(round, &other.user, now))),
        2 => ("an expired pass", reserve(&seal(round, &person.user, EpochMs(now.0 - LONG_AGO_MS)))),
        3 => ("a pass for another round", reserve(&seal(&next, &person.user, now))),
        4 => ("no token", Request::reserve(sale, &good).ok()),
        5 => ("a key that is too long", reserve(&good).map(|request| request.key(&"k".repeat(5_000)))),
        6 => {
            let id = format!("{round}.{}", uuid::Uuid::now_v7().as_simple());
            let request = Request::reservation(Method::DELETE, &id).ok();
            ("a reservation that is nobody's", request.map(|request| request.token(&person.token)))
        }
        _ => {
            let id = format!("{round}.{}", uuid::Uuid::now_v7().as_simple());
            return forged_payment(visit, &id).await;
        }
    };
    let Some(request) = request else { return };
    match visit.send_unrecorded(MISBEHAVE, &request).await.map(|Response { status, .. }| status) {
        Some(200..300) => run.tally.counts().got_away_with.push(what.to_owned()),
        // 429 refuses whatever is asked.
        Some(status @ 400..500) if status != 429 => run.tally.counts().refused += 1,
        _ => {}
    }
}

async fn forged_payment(visit: &Visit<'_>, id: &str) {
    let Run { tally, .. } = visit.run;
    if let Ok(outcome) = visit.side.api.pay("a key that is not the provider's", id, "pay-forged").await {
        tally.counts().got_away_with.push(format!("a payment with a forged signature: {outcome}"));
    }
}
