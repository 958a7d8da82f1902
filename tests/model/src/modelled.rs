use crate::job::Job;
use crate::{Mistake, Scope};

#[derive(Clone, Copy, Debug)]
pub struct Protocol {
    pub scope: Scope,
    pub mistake: Option<Mistake>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    Request(u8),         // A client asks for a reservation, for the first time or again.
    RequestAndCrash(u8), // The same, and the function dies between Redis and SQS.
    Cancel(u8),
    CancelAndCrash(u8), // The same, and the function dies after the ledger's write.
    Pay(u8),            // A payment arrives.
    Step(Job),
    StepAndCrash(Job), // A job takes its next step, and its function dies at once.
    Miss(Job),         // A message is received, and its function dies before doing anything.
    Duplicate(Job),    // A message is delivered twice, possibly while its function is running.
    Resend(u8),        // The outbox sends a reservation again.
    Overdue(u8),       // An order's expiry message was lost: reconciliation expires it.
    Repair(Job),       // Reconciliation starts a repair.
    ReplicaStops,      // The replica gets no more writes.
    Failover,          // Redis fails over to the replica.
    Wipe,
}

impl Protocol {
    pub fn right(scope: Scope) -> Self {
        Self { scope, mistake: None }
    }

    pub(crate) fn makes(&self, mistake: Mistake) -> bool {
        self.mistake == Some(mistake)
    }

    pub(crate) fn user(&self, id: u8) -> usize {
        self.scope.requests.get(usize::from(id)).map_or(usize::MAX, |request| usize::from(request.user))
    }
}
