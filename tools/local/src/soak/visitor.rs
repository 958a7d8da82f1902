//! A visitor who wants a unit: comes, tries, and pays, cancels or lets the payment window pass.

use std::sync::Arc;
use std::time::{Duration, Instant};

use hyper::Method;
use load::{Failure, Request, Response};

use super::board::OnSale;
use super::dice::Dice;
use super::run::Run;
use super::system::Side;
use crate::deployment::sealed;
use crate::identity::Bearer;
use crate::recorded;

/// One visitor in this many does the work at the gate.
const THROUGH_THE_GATE: usize = 12;
/// One visitor in this many clicks twice, one repeats the request later, and one payment in this many is reported twice.
const TWICE: usize = 10;
const AGAIN: usize = 8;
const PAID_TWICE: usize = 6;
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

/// The code of a problem, or "no answer".
fn in_a_word(error: &anyhow::Error) -> String {
    let text = error.to_string();
    if text.chars().all(|c| c.is_ascii_lowercase() || c == '_') { text } else { "no answer".to_owned() }
}

pub(super) struct Visit<'a> {
    pub(super) run: &'a Run,
    pub(super) side: Arc<Side>,
    pub(super) n: usize,
    pub(super) person: &'a Bearer,
    pub(super) on_sale: OnSale,
}

impl Visit<'_> {
    /// Sends a request, records it and counts the answer. None if there was none.
    async fn send(&self, step: &'static str, request: &Request) -> Option<Response> {
        let Self { run, side, person, on_sale, .. } = self;
        let user = person.user.as_str();
        self.counted(step, recorded::send(&side.load, &run.recorder, self.n, user, &on_sale.round, request)).await
    }

    /// The same without recording it: in the history, its order would have no request.
    pub(super) async fn send_unrecorded(&self, step: &'static str, request: &Request) -> Option<Response> {
        self.counted(step, self.side.load.send(self.n, request)).await
    }

    async fn counted(
        &self,
        step: &'static str,
        asking: impl Future<Output = Result<Response, Failure>>,
    ) -> Option<Response> {
        let Self { run, side, .. } = self;
        let was_calm = run.system.is_calm();
        let heard = asking.await;
        let answer = match &heard {
            Ok(response) => response.answer(),
            Err(failure) => failure.into(),
        };
        run.tally.heard(step, side.name, &answer, was_calm && run.system.is_calm());
        heard.ok()
    }

    /// From the gate to the end of the reservation, if there is one.
    pub(super) async fn buy(&self, dice: &mut Dice) {
        let sale = self.on_sale.round.sale.as_str();
        let pass = if dice.one_in(THROUGH_THE_GATE) {
            // The gate may fail while processes die. Then this visitor leaves.
            match self.side.api.enter(&self.person.text, sale).await {
                Ok(pass) => pass,
                Err(error) => return self.run.tally.ended(&format!("no pass: {}", in_a_word(&error))),
            }
        } else {
            sealed(&self.run.ring, &self.on_sale.round, &self.person.user, runtime::Clock::system().now())
        };
        let Ok(request) = Request::reserve(sale, &pass) else { return };
        let request = request.token(&self.person.token).key(&format!("visit-{}", self.n));
        let id = if dice.one_in(TWICE) {
            let (first, second) = tokio::join!(self.reserve(&request), self.reserve(&request));
            first.or(second)
        } else {
            self.reserve(&request).await
        };
        let Some(id) = id else { return };
        self.run.tally.counts().reserved += 1;
        let habit = match dice.below(10) {
            0..6 => Habit::Pays,
            6..8 => Habit::Cancels,
            _ => Habit::Forgets,
        };
        let end = self.follow(&id, habit, dice).await;
        self.run.tally.ended(end.as_deref().unwrap_or("visitor left before the end"));
        if dice.one_in(AGAIN) {
            self.reserve(&request).await;
        }
    }

    /// Tries for a unit until the answer is final. Returns the reservation, if there is one.
    async fn reserve(&self, request: &Request) -> Option<String> {
        for tried in 1..=TRIES {
            if self.run.system.sides().len() > 1 {
                *self.run.tally.counts().side_by_side.entry(self.side.name).or_default() += 1;
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
    async fn follow(&self, id: &str, habit: Habit, dice: &mut Dice) -> Option<String> {
        let deadline = Instant::now() + PATIENCE;
        let mut thought = Some(Duration::from_secs_f64(dice.between(SHORTEST_THOUGHT_S, LONGEST_THOUGHT_S)));
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
    async fn pay(&self, id: &str, dice: &mut Dice) {
        let Self { run, side, on_sale, .. } = self;
        for _ in 0..=usize::from(dice.one_in(PAID_TWICE)) {
            if let Ok(outcome) = recorded::pay(&side.api, &run.recorder, &run.payment_key, &on_sale.round, id).await {
                let mut counts = run.tally.counts();
                *counts.answers.entry("pay").or_default().entry(outcome).or_default() += 1;
            }
        }
    }
}
