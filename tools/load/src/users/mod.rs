//! Users of a sale: most try to buy a unit, some misbehave.

mod credentials;
mod honest;
mod mischief;

use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use sale::SaleId;
use serde_json::Value;

use crate::answer::Failure;
use crate::client::Client;
use crate::request::{Request, Response};
use crate::run::Visit;

pub use credentials::Credentials;
pub use honest::{LONGEST_WAIT, TRIES};

/// Whether users who do not wait in line get nothing: the sale, as everybody sees it, has a line and is not over.
pub fn has_line(sale: &Value) -> bool {
    sale["line"].is_object() && sale["state"] != "closed"
}

/// The API accepts an answer for two minutes. Computing one takes a slow machine a good part of the other.
const CHALLENGE_LASTS: Duration = Duration::from_secs(60);

/// The users of a sale. User n has the n-th credentials, starting over if there are fewer.
pub struct Crowd {
    client: Client,
    sale: SaleId,
    credentials: Vec<Credentials>,
    bad: f64,
    /// How long after it was given out a challenge is still worth the work.
    challenge_lasts: Duration,
}

impl Crowd {
    pub fn new(client: Client, sale: SaleId, credentials: Vec<Credentials>, bad: f64) -> Result<Self> {
        ensure!(!credentials.is_empty(), "there are no tokens");
        Ok(Self { client, sale, credentials, bad, challenge_lasts: CHALLENGE_LASTS })
    }

    pub async fn visit(&self, visit: &Visit) {
        match self.mischief_of(visit.n) {
            Some(mischief) => Box::pin(self.misbehave(visit, mischief)).await,
            None => drop(self.buy(visit).await),
        }
    }

    /// How many of the first `users` go through the gate, besides those whose pass will be refused.
    pub fn through_the_gate(&self, users: usize) -> usize {
        (0..users).filter(|n| self.needs_the_gate(*n)).count()
    }

    /// Stops everybody from sending, including requests that wait for a connection.
    pub fn hold_back(&self) {
        self.client.hold_back();
    }

    /// How many of the first `users` have no pass, and misbehave without it: none unless hardly anybody has a pass.
    pub fn past_the_gate(&self, users: usize) -> usize {
        (0..users).filter(|n| !self.has_pass(*n) && !self.needs_the_gate(*n)).count()
    }

    fn has_pass(&self, n: usize) -> bool {
        self.credentials_of(n).pass.is_some()
    }

    fn credentials_of(&self, n: usize) -> &Credentials {
        &self.credentials[n % self.credentials.len()]
    }

    async fn send(
        &self,
        visit: &Visit,
        step: &'static str,
        due: Instant,
        request: &Request,
    ) -> Result<Response, Failure> {
        visit.send(step, due, self.client.send(visit.n, request)).await
    }
}
