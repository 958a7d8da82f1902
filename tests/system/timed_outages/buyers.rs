//! What buyers and their payment provider do, and what they are told.

use futures::future::OptionFuture;

use super::common::{CROWD, Heard, When, World};
use crate::prelude::*;

impl World {
    /// Sends a payment process the callback for an order that is not paid yet.
    pub(super) async fn pay(&mut self, deps: &payment::PaymentDeps, key: &str) -> Answer {
        let unpaid = self.told().find(|(name, _)| !self.paid.contains(name));
        let (name, id) = unpaid.expect("somebody has not paid yet");
        let ask = Ask::paid(&format!("pay_{name}"), &id.to_string(), 990, key);
        let answer = ask_function(&self.lab.recorder, deps, &ask).await;
        if answer.status == 200 {
            assert_eq!(answer.text("outcome"), "applied");
            self.paid.insert(name);
        }
        answer
    }

    pub(super) fn arrivals(&mut self, number: usize) -> Vec<String> {
        let from = self.arrived;
        self.arrived += number;
        (from..self.arrived).map(|number| format!("user-{number}")).collect()
    }

    /// A new buyer asks, a refused one asks again, and another one looks, all at once.
    pub(super) async fn buyers_come(&mut self) {
        let has_key = self.arrived.is_multiple_of(2);
        let new = self.arrivals(1).remove(0);
        let refused = self.refused().into_iter().next();
        let known: Vec<(String, ReservationId)> = self.told().collect();
        let looks = known.get(self.looks % known.len().max(1));
        let (asked, asked_again, looked) = tokio::join!(
            self.asking(&new, has_key),
            OptionFuture::from(refused.as_ref().map(|name| self.asking(name, true))),
            OptionFuture::from(looks.map(|(name, id)| self.look(name, id))),
        );
        self.note(new, has_key, asked);
        if let (Some(refused), Some(answer)) = (refused, asked_again) {
            self.note(refused, true, answer);
        }
        self.looks += usize::from(looked.is_some());
    }

    /// Alternates between the processes.
    fn a_process(&self) -> &reservation::ReservationDeps {
        &self.fleet.reservation[self.arrived % self.fleet.reservation.len()]
    }

    /// Whoever looks at a reservation sees it or is told to ask again. It is never unknown.
    async fn look(&self, name: &str, id: &ReservationId) {
        let look = Ask::get(format!("/v1/reservations/{id}")).by(name);
        let answer = ask_function(&self.lab.recorder, self.a_process(), &look).await;
        if answer.status == 200 {
            let status = answer.text("status");
            assert!(["queued", "pending_payment", "paid"].contains(&status), "{:?}: {answer:?}", self.when);
        } else {
            answer.problem(503, "overloaded");
        }
    }

    pub(super) async fn ask(&mut self, name: String, has_key: bool) -> Answer {
        let answer = self.asking(&name, has_key).await;
        self.note(name, has_key, answer.clone());
        answer
    }

    pub(super) async fn ask_of(&mut self, deps: &reservation::ReservationDeps) -> (String, Answer) {
        let name = self.arrivals(1).remove(0);
        let answer = ask_function(&self.lab.recorder, deps, &self.request(&name, true)).await;
        (name, answer)
    }

    fn request(&self, name: &str, has_key: bool) -> Ask {
        let ask = Ask::reserve(SALE, name).let_in_at(self.now());
        if has_key { ask.header("idempotency-key", "key-1") } else { ask }
    }

    pub(super) async fn asking(&self, name: &str, has_key: bool) -> Answer {
        ask_function(&self.lab.recorder, self.a_process(), &self.request(name, has_key)).await
    }

    pub(super) fn note(&mut self, name: String, has_key: bool, answer: Answer) {
        let Self { when, runs, steps_back, away_since, .. } = *self;
        let after_s = self.now().since_ms(away_since) / 1000;
        self.heard.push(Heard { when, after_s, name, has_key, runs, steps_back, answer });
    }

    /// Buyers with a key whose last request was refused, the longest waiting first.
    pub(super) fn refused(&self) -> Vec<String> {
        let last = |name: &str| self.heard.iter().rposition(|heard| heard.name == name);
        let heard = self.heard.iter().enumerate();
        let refused =
            heard.filter(|(at, heard)| heard.has_key && heard.answer.status == 503 && last(&heard.name) == Some(*at));
        refused.map(|(_, heard)| heard.name.clone()).collect()
    }

    /// Every reservation that a buyer knows of: promised with 202, or named with 503.
    pub(super) fn told(&self) -> impl Iterator<Item = (String, ReservationId)> {
        let told = self.heard.iter().filter_map(|heard| {
            let id = heard.answer.body["reservation_id"].as_str()?;
            Some((heard.name.clone(), id.parse().expect("an id")))
        });
        told.collect::<BTreeMap<_, _>>().into_iter()
    }

    pub(super) fn heard(&self, when: When) -> impl Iterator<Item = &Heard> {
        self.heard.iter().filter(move |heard| heard.when == when)
    }

    /// A crowd reserves units, and none of its messages is delivered yet.
    pub(super) async fn crowd(&mut self) {
        for name in self.arrivals(CROWD) {
            self.ask(name, true).await.expect(202);
        }
    }

    /// How many of the known orders were made since the part went away.
    pub(super) async fn made_since_it_went(&self) -> usize {
        let told: Vec<ReservationId> = self.told().map(|(_, id)| id).collect();
        self.orders(&told).await.iter().filter(|order| order.created_at_ms > self.away_since).count()
    }
}
