use std::fmt;

use crate::stored::{Guards, OrderState, Seat};

/// The kind of a job: a queue's message with the function that handles it, or a function that is not retried.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Who {
    Reservation, // A request for a reservation: lost if the function crashes.
    Order,
    DeadLetter, // A message of the order queue's dead letters.
    Expiry,
    Cancel,         // A request to cancel: lost if the function crashes.
    Reconciliation, // Reconciliation: lost if it crashes, but the next run reads again what is to be done.
}

impl Who {
    /// Whether it is a message, which comes back if its function crashes.
    pub fn is_message(self) -> bool {
        matches!(self, Self::Order | Self::DeadLetter | Self::Expiry)
    }
}

/// Which guards were another order's when the ledger refused one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Refusal {
    pub unit: bool,
    pub slot: bool,
}

/// A job's next effect. One effect is one script, one conditional write or one send.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Next {
    Start, // Nothing is done yet: the message waits, or the function starts.
    Place(Seat),
    Reseat(Seat, Refusal),   // Asks Redis for another unit or slot.
    Fence(Seat, OrderState), // Writes that it will never be an order.
    Cancel,
    Apply(OrderState),       // Brings Redis in line with this state of the order.
    AdoptThenGo(OrderState), // Tells Redis of an order that it did not know, then continues as after applying it.
    SendExpiry,
    EndAfterRelease,     // Ends the order in the ledger after the release (a mistake).
    Release(Option<u8>), // Gives back a reservation whose order has ended, except this unit if it is another order's.
    Adopt,               // Tells Redis of an order that it lacks or has differently.
    Restore,             // Puts back a unit that is in no place.
    Load(Guards),        // Creates the round's keys from this reading of the guards.
    Open(Guards),        // Opens a round with staged buyers (a mistake).
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Job {
    pub who: Who,
    /// The seat in the message or request.
    pub seat: Seat,
    pub failed: u8,
    pub next: Next,
}

impl Job {
    pub fn new(who: Who, seat: Seat) -> Self {
        Self { who, seat, failed: 0, next: Next::Start }
    }

    pub fn at(self, next: Next) -> Self {
        Self { next, ..self }
    }
}

impl fmt::Debug for Job {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} [{:?}", self.who, self.seat)?;
        if self.failed > 0 {
            write!(f, ", failed {}", self.failed)?;
        }
        write!(f, "] {:?}", self.next)
    }
}

/// The outcome of a job's step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum After {
    Done,
    Goes(Next),
    Failed, // The job gives up; a message comes back.
}
