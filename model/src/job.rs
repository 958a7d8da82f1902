use std::fmt;

use crate::state::{Guards, OrderState, Seat};

/// Whose work it is: a message of a queue with the function that handles it, or a function that nothing repeats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Who {
    /// The reservation function, on a request: lost if it crashes.
    Reservation,
    /// A message of the order queue.
    Order,
    /// A message of the order queue's dead letters.
    DeadLetter,
    /// A message of the expiry queue.
    Expiry,
    /// A request to cancel: lost if it crashes.
    Cancel,
    /// Reconciliation: lost if it crashes, and reads again what is to be done.
    Reconciliation,
}

impl Who {
    /// Whether it is a message: it comes back if its function crashes.
    pub fn is_message(self) -> bool {
        matches!(self, Self::Order | Self::DeadLetter | Self::Expiry)
    }
}

/// How far a job is: its next effect. One effect is one script, one conditional write or one send.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Next {
    /// Nothing is done: a message waits, a function starts.
    Start,
    /// Writes the order and its guards.
    Place(Seat),
    /// Asks Redis for another unit.
    Reseat(Seat),
    /// Writes that it never will be an order.
    Fence(Seat, OrderState),
    /// Cancels the order that its fence met.
    Cancel,
    /// Does in Redis what this state of the order asks for.
    Settle(OrderState),
    /// Tells Redis of the order, which it did not know, and goes on as after settling.
    AdoptThenGo(OrderState),
    /// Sends the message that will expire it.
    SendExpiry,
    /// Ends it in the ledger, after the release (a mistake).
    EndAfterRelease,
    /// Gives a hold back whose order has ended; this unit is another order's.
    Release(Option<u8>),
    /// Tells Redis of an order that it does not have so.
    Adopt,
    /// Puts a unit back that is in no place.
    Restore,
    /// Makes the round's keys from this reading of the guards.
    Load(Guards),
    /// Opens a round whose buyers are staged (a mistake).
    Open(Guards),
}

/// A message, or a function under way.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Job {
    /// Whose work.
    pub who: Who,
    /// What the message or the request says.
    pub seat: Seat,
    /// Deliveries that failed.
    pub failed: u8,
    /// How far it is.
    pub next: Next,
}

impl Job {
    /// Work that has not begun.
    pub fn new(who: Who, seat: Seat) -> Self {
        Self { who, seat, failed: 0, next: Next::Start }
    }

    /// The same work, before this effect.
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

/// What became of a job's step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum After {
    /// It is finished.
    Done,
    /// It goes on.
    Goes(Next),
    /// It gives up; a message comes back.
    Failed,
}
