use crate::job::Job;
use crate::stored::{IDS, Ledger, Redis};

/// A replica: its copy of Redis, and how many writes it has missed since.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Replica {
    pub redis: Redis,
    pub behind: u8,
}

/// How many of the scope's requests and failures may still happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Left {
    pub tries: [u8; IDS], // Requests for each reservation id.
    pub duplicates: u8,   // Messages that are delivered twice, or again while they are being handled.
    pub crashes: u8,      // Crashes, and deliveries that reach no function.
    pub cancels: u8,
    pub payments: u8,
    pub failovers: u8,
    pub wipes: u8,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Ghost {
    pub accepted: [bool; IDS], // Reservations that were answered with 202.
    pub paid: [bool; IDS],
    pub charged: [bool; IDS],
    pub untrue: [bool; IDS], // Reservations for which a function found a reason to fail that was not true then.
    pub offered_taken: bool, // A rebuilt round offered a unit that was guarded before and after the rebuild.
}

/// The whole state: Redis, the ledger, what is under way, and what may still happen.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct State {
    pub redis: Redis,
    pub replica: Option<Replica>,
    pub ledger: Ledger,
    /// Messages and running functions, sorted so that equal states compare equal.
    pub jobs: Vec<Job>,
    pub left: Left,
    pub ghost: Ghost,
}

impl State {
    /// Sends a message. If the queue already has it, this is a duplicate, which is counted elsewhere.
    pub(crate) fn send(&mut self, message: Job) {
        if !self.jobs.contains(&message) {
            self.jobs.push(message);
        }
    }
}
