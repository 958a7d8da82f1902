use crate::job::Job;
use crate::{Mistake, Scope};

#[derive(Clone, Copy, Debug)]
pub struct Protocol {
    pub scope: Scope,
    pub mistake: Option<Mistake>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// A client asks for a reservation, for the first time or again.
    Request(u8),
    /// The same, and the function dies between Redis and SQS.
    RequestAndCrash(u8),
    Cancel(u8),
    /// The same, and the function dies after the ledger's write.
    CancelAndCrash(u8),
    /// A payment arrives.
    Pay(u8),
    Step(Job),
    /// A job takes its next step, and its function dies at once.
    StepAndCrash(Job),
    /// A message is received, and its function dies before doing anything.
    Miss(Job),
    /// A message is delivered twice, possibly while its function is running.
    Duplicate(Job),
    /// The outbox sends a reservation again.
    Resend(u8),
    /// An order's expiry message was lost: reconciliation expires it.
    Overdue(u8),
    /// Reconciliation starts a repair.
    Repair(Job),
    /// The replica gets no more writes.
    ReplicaStops,
    /// Redis fails over to the replica.
    Failover,
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
