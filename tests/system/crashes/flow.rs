use futures::future::BoxFuture;
use sale::Claim;
use tests::terms;

use super::world::World;
use crate::ask::Ask;
use crate::lab::{Lab, SALE};

/// What is there before a run, what is run, and how it must end.
pub(super) struct Flow {
    pub(super) name: &'static str,
    /// Kinds of effects that it must have.
    pub(super) effects: &'static [&'static str],
    /// Fills an empty lab. The reservations that it returns must come to an order, whatever state that is in.
    pub(super) prepare: for<'a> fn(&'a Lab) -> BoxFuture<'a, Vec<Claim>>,
    pub(super) run: for<'a> fn(&'a Lab, &'a World, &'a [Claim]) -> BoxFuture<'a, ()>,
    /// Whoever asked and heard nothing asks again: a client, an operator, the payment provider, a schedule, SQS.
    pub(super) again: for<'a> fn(&'a Lab, &'a [Claim]) -> BoxFuture<'a, ()>,
    /// What must be so then, beside what every flow must leave behind.
    pub(super) end: for<'a> fn(&'a Lab, &'a [Claim]) -> BoxFuture<'a, ()>,
}

/// Nobody asks again: the client has gone, or heal delivers the message.
pub(super) fn nobody<'a>(_: &'a Lab, _: &'a [Claim]) -> BoxFuture<'a, ()> {
    Box::pin(async {})
}

/// Nothing but what every flow must leave behind.
pub(super) fn at_rest<'a>(_: &'a Lab, _: &'a [Claim]) -> BoxFuture<'a, ()> {
    Box::pin(async {})
}

/// A sale of four units, open and loaded.
pub(super) async fn open(lab: &Lab) {
    lab.publish(SALE, &terms(4, 1)).await;
    lab.load(SALE).await;
}

/// Asks again, and is answered this time.
pub(super) async fn repeat(lab: &Lab, ask: Ask) {
    lab.answer(&ask).await.expect(200);
}
