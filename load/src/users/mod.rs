//! Users of a sale: most try to buy a unit, some misbehave.

mod credentials;
mod honest;
mod mischief;

use std::time::Instant;

use sale::SaleId;
use tokio::sync::Semaphore;

use crate::answer::Failure;
use crate::client::Client;
use crate::request::{Request, Response};
use crate::run::Visit;

pub use credentials::{Credentials, NoCredentials};
pub use mischief::Mischief;

/// The users of a sale. User n has the n-th credentials, starting over if there are fewer.
pub struct Crowd {
    client: Client,
    sale: SaleId,
    credentials: Vec<Credentials>,
    /// The fraction that misbehaves.
    bad: f64,
    /// The work at the gate is meant for the users' own devices. Here it must leave the client something to run on.
    workers: Semaphore,
}

impl Crowd {
    /// Users of a sale, a fraction of whom misbehaves.
    ///
    /// # Errors
    /// If there are no credentials.
    pub fn new(client: Client, sale: SaleId, credentials: Vec<Credentials>, bad: f64) -> Result<Self, NoCredentials> {
        if credentials.is_empty() {
            return Err(NoCredentials);
        }
        let workers = Semaphore::new(workers());
        Ok(Self { client, sale, credentials, bad, workers })
    }

    /// What a user does, from arrival to the end.
    pub async fn visit(&self, visit: &Visit) {
        match mischief::of(visit.n, self.bad) {
            Some(mischief) => Box::pin(self.misbehave(visit, mischief)).await,
            None => drop(self.buy(visit).await),
        }
    }

    /// How many of the first `users` go through the gate. Users whose pass is refused also do, but that cannot be known
    /// in advance.
    pub fn through_the_gate(&self, users: usize) -> usize {
        (0..users).filter(|n| self.needs_the_gate(*n)).count()
    }

    /// Stops everybody from sending, including requests that wait for a connection.
    pub fn hold_back(&self) {
        self.client.hold_back();
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

/// How many challenges are worked on concurrently.
pub fn workers() -> usize {
    std::thread::available_parallelism().map_or(1, |cores| cores.get().saturating_sub(1).max(1))
}
