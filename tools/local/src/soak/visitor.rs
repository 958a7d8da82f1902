//! Visitors who want a unit: they come at an even rate, from the beginning to the end of a run, and try, and pay, cancel
//! or let the payment window pass. Some only attempt what must not get them anything.

use std::sync::Arc;
use std::time::{Duration, Instant};

use hyper::Method;
use load::{Request, Response};
use rand::RngExt;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use sale::{EpochMs, RoundId, RoundNumber, UserId};
use tokio::task::JoinSet;

use super::board::OnSale;
use super::program::dice;
use super::run::Run;
use super::system::Side;
use super::tally::MISBEHAVE;
use crate::deployment::sealed;
use crate::identity::Bearer;
use crate::recorded;

/// One visitor in this many misbehaves.
const MISBEHAVES: u32 = 15;
/// How long visitors may stay after the end.
const LAST_LEAVE: Duration = Duration::from_secs(180);
/// Passes are valid for five minutes.
const LONG_AGO_MS: i64 = 20 * 60 * 1000;
/// One visitor in this many does the work at the gate.
const THROUGH_THE_GATE: u32 = 12;
/// One visitor in this many clicks twice, one repeats the request later, and one payment in this many is reported twice.
const TWICE: u32 = 10;
const AGAIN: u32 = 8;
const PAID_TWICE: u32 = 6;
/// How often a visitor who gets an error tries.
const TRIES: u32 = 5;
/// How often a visitor polls a reservation, and for how long at most: an empty Redis is filled within a minute.
const POLL_EVERY: Duration = Duration::from_secs(1);
const PATIENCE: Duration = Duration::from_secs(150);
/// How long people take to pay.
const SHORTEST_THOUGHT_S: f64 = 0.2;
const LONGEST_THOUGHT_S: f64 = 4.0;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Habit {
    Pays,
    Cancels,
    Forgets,
}

pub(super) async fn come(run: &Arc<Run>) {
    let (lasts_s, every_s) = (run.program.lasts_s(), 1.0 / run.program.visitors_per_s);
    let mut visits = JoinSet::new();
    for n in 0..(lasts_s / every_s) as usize {
        tokio::time::sleep_until(run.at(n as f64 * every_s)).await;
        let run = Arc::clone(run);
        visits.spawn(async move { visit(&run, n).await });
        while visits.try_join_next().is_some() {}
    }
    let all = async { while visits.join_next().await.is_some() {} };
    // Those who have not left are dropped with the set; their last requests may take effect, and are recorded so.
    let _ = tokio::time::timeout(LAST_LEAVE, all).await;
}

async fn visit(run: &Run, n: usize) {
    // Each visitor has dice of their own, so their luck does not depend on how fast others are served.
    let mut dice = dice(run.program.seed, 1 + n as u64);
    let Some(on_sale) = run.board.live(run.now_s()).choose(&mut dice).cloned() else { return };
    // While there are two sides, half of the visitors come through each.
    let sides = run.system.sides();
    let Some(side) = sides.choose(&mut dice).cloned() else { return };
    drop(sides);
    run.tally.lock().visitors += 1;
    let misbehaves = dice.random_ratio(1, MISBEHAVES);
    let people = if misbehaves { &run.mischievous } else { &run.people };
    let person = &people[dice.random_range(0..people.len())];
    let visit = Visit { run, side, n, person, on_sale };
    if misbehaves {
        visit.misbehave(&mut dice).await;
    } else {
        visit.buy(&mut dice).await;
    }
}

/// The code of a problem, or "no answer".
fn in_a_word(error: &anyhow::Error) -> String {
    let text = error.to_string();
    if text.chars().all(|c| c.is_ascii_lowercase() || c == '_') { text } else { "no answer".to_owned() }
}

struct Visit<'a> {
    run: &'a Run,
    side: Arc<Side>,
    n: usize,
    person: &'a Bearer,
    on_sale: OnSale,
}

impl Visit<'_> {
    /// Sends a request, records it and counts the answer. None if there was none. What misbehaving visitors send is not
    /// recorded: in the history, their orders would have no request.
    async fn send(&self, step: &'static str, request: &Request) -> Option<Response> {
        let Self { run, side, n, person, on_sale } = self;
        let was_calm = run.system.is_calm();
        let heard = if step == MISBEHAVE {
            side.load.send(*n, request).await
        } else {
            recorded::send(&side.load, &run.recorder, *n, person.user.as_str(), &on_sale.round, request).await
        };
        let answer = match &heard {
            Ok(response) => response.answer(),
            Err(failure) => failure.into(),
        };
        run.tally.lock().heard(step, side.name, &answer, was_calm && run.system.is_calm());
        heard.ok()
    }

    /// From the gate to the end of the reservation, if there is one.
    async fn buy(&self, dice: &mut StdRng) {
        let sale = self.on_sale.round.sale.as_str();
        let pass = if dice.random_ratio(1, THROUGH_THE_GATE) {
            // The gate may fail while processes die. Then this visitor leaves.
            match self.side.api.enter(&self.person.text, sale).await {
                Ok(pass) => pass,
                Err(error) => return self.run.tally.lock().ended(&format!("no pass: {}", in_a_word(&error))),
            }
        } else {
            sealed(&self.run.ring, &self.on_sale.round, &self.person.user, runtime::Clock::system().now())
        };
        let Ok(request) = Request::reserve(sale, &pass) else { return };
        let request = request.token(&self.person.token).key(&format!("visit-{}", self.n));
        let id = if dice.random_ratio(1, TWICE) {
            let (first, second) = tokio::join!(self.reserve(&request), self.reserve(&request));
            first.or(second)
        } else {
            self.reserve(&request).await
        };
        let Some(id) = id else { return };
        self.run.tally.lock().reserved += 1;
        let habit = match dice.random_range(0..10) {
            0..6 => Habit::Pays,
            6..8 => Habit::Cancels,
            _ => Habit::Forgets,
        };
        let end = self.follow(&id, habit, dice).await;
        self.run.tally.lock().ended(end.as_deref().unwrap_or("visitor left before the end"));
        if dice.random_ratio(1, AGAIN) {
            self.reserve(&request).await;
        }
    }

    /// Tries for a unit until the answer is final. Returns the reservation, if there is one.
    async fn reserve(&self, request: &Request) -> Option<String> {
        for tried in 1..=TRIES {
            if self.run.system.sides().len() > 1 {
                *self.run.tally.lock().side_by_side.entry(self.side.name).or_default() += 1;
            }
            match self.send("reserve", request).await {
                Some(answer) if answer.status == 202 => return answer.text("reservation_id"),
                Some(answer) if answer.status < 500 => return None,
                _ => tokio::time::sleep(Duration::from_secs(1) * tried).await,
            }
        }
        None
    }

    async fn about(&self, step: &'static str, method: Method, id: &str) -> Option<Response> {
        self.send(step, &Request::reservation(method, id).ok()?.token(&self.person.token)).await
    }

    /// Polls a reservation until it has ended. Returns its last status.
    async fn follow(&self, id: &str, habit: Habit, dice: &mut StdRng) -> Option<String> {
        let deadline = Instant::now() + PATIENCE;
        let mut thought = Some(Duration::from_secs_f64(dice.random_range(SHORTEST_THOUGHT_S..LONGEST_THOUGHT_S)));
        while Instant::now() < deadline {
            let status = self.about("poll", Method::GET, id).await.and_then(|answer| answer.text("status"));
            match status.as_deref() {
                Some("pending_payment") => {
                    if let Some(thought) = thought.take() {
                        tokio::time::sleep(thought).await;
                    }
                    match habit {
                        Habit::Pays => self.pay(id, dice).await,
                        Habit::Cancels => drop(self.about("cancel", Method::DELETE, id).await),
                        Habit::Forgets => {}
                    }
                }
                Some("paid" | "cancelled" | "expired" | "failed") => return status,
                // Queued, or unknown right now.
                _ => {}
            }
            tokio::time::sleep(POLL_EVERY).await;
        }
        None
    }

    /// Reports a payment, always the same one. If that fails, it is reported again after the next poll.
    async fn pay(&self, id: &str, dice: &mut StdRng) {
        let Self { run, side, on_sale, .. } = self;
        for _ in 0..=usize::from(dice.random_ratio(1, PAID_TWICE)) {
            if let Ok(outcome) = recorded::pay(&side.api, &run.recorder, &run.payment_key, &on_sale.round, id).await {
                let mut counts = run.tally.lock();
                *counts.answers.entry("pay").or_default().entry(outcome).or_default() += 1;
            }
        }
    }

    async fn misbehave(&self, dice: &mut StdRng) {
        let Self { run, person, on_sale, .. } = self;
        let (round, sale) = (&on_sale.round, on_sale.round.sale.as_str());
        let other = &run.people[dice.random_range(0..run.people.len())];
        let now = runtime::Clock::system().now();
        let seal = |round: &RoundId, user: &UserId, issued_at_ms| sealed(&run.ring, round, user, issued_at_ms);
        let good = seal(round, &person.user, now);
        let reserve = |pass: &str| Request::reserve(sale, pass).ok().map(|request| request.token(&person.token));
        let next = RoundId { sale: round.sale.clone(), number: RoundNumber(round.number.0 + 1_000) };
        let nobodys = format!("{round}.{}", uuid::Uuid::now_v7().as_simple());
        let (what, request) = match dice.random_range(0..8) {
            0 => ("an invalid pass", reserve("no-pass-at-all")),
            1 => ("somebody else's pass", reserve(&seal(round, &other.user, now))),
            2 => ("an expired pass", reserve(&seal(round, &person.user, EpochMs(now.0 - LONG_AGO_MS)))),
            3 => ("a pass for another round", reserve(&seal(&next, &person.user, now))),
            4 => ("no token", Request::reserve(sale, &good).ok()),
            5 => ("a key that is too long", reserve(&good).map(|request| request.key(&"k".repeat(5_000)))),
            6 => {
                let request = Request::reservation(Method::DELETE, &nobodys).ok();
                ("a reservation that is nobody's", request.map(|request| request.token(&person.token)))
            }
            _ => {
                let payment = self.side.api.pay("a key that is not the provider's", &nobodys, "pay-forged").await;
                if let Ok(outcome) = payment {
                    run.tally.lock().got_away_with.push(format!("a payment with a forged signature: {outcome}"));
                }
                return;
            }
        };
        let Some(request) = request else { return };
        match self.send(MISBEHAVE, &request).await.map(|Response { status, .. }| status) {
            Some(200..300) => run.tally.lock().got_away_with.push(what.to_owned()),
            // 429 refuses whatever is asked.
            Some(status @ 400..500) if status != 429 => run.tally.lock().refused += 1,
            _ => {}
        }
    }
}
