use futures::future::BoxFuture;
use sale::Claim;
use tests::terms;

use super::world::World;
use crate::ask::Ask;
use crate::lab::{Lab, SALE};

/// What exists before a run, what runs, and how it must end.
pub(super) struct Flow {
    pub(super) name: &'static str,
    /// The kinds of effects that it must have.
    pub(super) effects: &'static [&'static str],
    /// Fills an empty lab. Each reservation that it returns must end up with an order, in any state.
    pub(super) prepare: for<'a> fn(&'a Lab) -> BoxFuture<'a, Vec<Claim>>,
    pub(super) run: for<'a> fn(&'a Lab, &'a World, &'a [Claim]) -> BoxFuture<'a, ()>,
    /// The caller got no answer and asks again: a client, an operator, the payment provider, a schedule or SQS.
    pub(super) again: for<'a> fn(&'a Lab, &'a [Claim]) -> BoxFuture<'a, ()>,
    /// Checks the result, beyond what every flow is checked for.
    pub(super) end: for<'a> fn(&'a Lab, &'a [Claim]) -> BoxFuture<'a, ()>,
}

/// The caller does not ask again: the client has gone, or `heal` delivers the message.
pub(super) fn nobody<'a>(_: &'a Lab, _: &'a [Claim]) -> BoxFuture<'a, ()> {
    Box::pin(async {})
}

/// Checks nothing more.
pub(super) fn at_rest<'a>(_: &'a Lab, _: &'a [Claim]) -> BoxFuture<'a, ()> {
    Box::pin(async {})
}

/// A sale of four units, open and loaded.
pub(super) async fn open(lab: &Lab) {
    lab.publish(SALE, &terms(4, 1)).await;
    lab.load(SALE).await;
}

/// Asks again and must succeed.
pub(super) async fn repeat(lab: &Lab, ask: Ask) {
    lab.answer(&ask).await.expect(200);
}
