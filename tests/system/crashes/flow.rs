use stock::RoundLoad;
use tests::unsold;

use super::world::World;
use crate::prelude::*;

/// What exists before a run, what runs, and how it must end.
pub(super) struct Flow {
    pub(super) name: &'static str,
    pub(super) effects: &'static [&'static str],
    /// Fills an empty lab. Each reservation that it returns must end up with an order, in any state.
    pub(super) prepare: for<'a> fn(&'a Lab) -> BoxFuture<'a, Vec<Reservation>>,
    pub(super) run: for<'a> fn(&'a Lab, &'a World, &'a [Reservation]) -> BoxFuture<'a, ()>,
    /// The caller got no answer and asks again: a client, an operator, the payment provider, a schedule or SQS. Nobody does if
    /// the client has gone, or if `heal` delivers the message.
    pub(super) again: &'static [Step],
    /// Checks the result, beyond what every flow is checked for.
    pub(super) end: &'static [Step],
}

type Step = for<'a> fn(&'a Lab, &'a [Reservation]) -> BoxFuture<'a, ()>;

/// A flow from its name, effects and steps, whose futures are boxed here. `again` and `end` may be left out.
macro_rules! flow {
    (
        $name:literal,
        $effects:expr,
        prepare = |$lab:pat_param| $prepare:expr,
        run = |$of:pat_param, $world:pat_param, $reserved:pat_param| $run:expr
        $(, again = |$asked:pat_param, $again_of:pat_param| $again:expr)?
        $(, end = |$at:pat_param, $all:pat_param| $end:expr)?
        $(,)?
    ) => {
        Flow {
            name: $name,
            effects: &$effects,
            prepare: |$lab| Box::pin($prepare),
            run: |$of, $world, $reserved| Box::pin($run),
            again: &[$(|$asked, $again_of| Box::pin($again))?],
            end: &[$(|$at, $all| Box::pin($end))?],
        }
    };
}
pub(super) use flow;

/// An open and loaded sale, in which these have orders and those reservations.
pub(super) async fn open(lab: &Lab, terms: Terms, ordered: &[&str], reserved: &[&str]) -> Vec<Reservation> {
    lab.open(SALE, &terms).await;
    let mut reservations = Vec::new();
    for name in ordered {
        reservations.push(lab.buy(name).await);
    }
    for name in reserved {
        reservations.push(lab.reserve(name).await);
    }
    reservations
}

/// Redis loses everything, and is loaded as if nothing was sold.
pub(super) async fn forget_what_was_sold(lab: &Lab) {
    lab.redis(&["FLUSHALL"]).await;
    let round = lab.round().await;
    let load = RoundLoad { version: round.version, epoch_ms: now(), ..unsold(round.terms) };
    lab.stock.round(&round.id).load(&load).await.unwrap();
}

/// Asks again, and must succeed.
pub(super) async fn repeat(lab: &Lab, ask: Ask) {
    let answer = lab.answer(&ask).await;
    assert!((200..300).contains(&answer.status), "{answer:?}");
}
