use reconciliation::ReconciliationDeps;
use sale::audit::Audit;

use crate::prelude::*;

/// Runs after which the system must be at rest: far more than it needs.
const RUNS: usize = 20;

/// Delivers order messages and runs reconciliation until neither has anything left to do. No payment window passes.
pub(crate) async fn heal(lab: &Lab) {
    lab.until_nobody_loads().await;
    let (mut quiet, mut last) = (0, None);
    for _ in 0..RUNS {
        let summary = lab.reconcile().await;
        if summary.failed > 0 {
            // Something timed out. The next run continues.
            (quiet, last) = (0, Some(summary));
            continue;
        }
        let delivered = deliver_orders(lab).await;
        let done = summary.sent + summary.adopted + summary.released + summary.restored + summary.rebuilt + delivered;
        quiet = if done == 0 { quiet + 1 } else { 0 };
        // Twice, because one run may move something that only the next one looks at.
        if quiet == 2 {
            return;
        }
    }
    panic!("reconciliation does not end; last failure: {last:?}");
}

/// Delivers the waiting messages to the order function and returns how many. One that fails goes back to the queue at
/// once, for the next run.
async fn deliver_orders(lab: &Lab) -> usize {
    let (mut delivered, mut put_back) = (0, false);
    while !put_back && lab.depth("orders").await[0] > 0 {
        for message in lab.receive("orders").await {
            let batch = events::batch([message.body().unwrap()]);
            let failed = order::handle(&lab.order(), batch).await.batch_item_failures;
            delivered += 1;
            if failed.is_empty() {
                lab.delete("orders", &message).await;
            } else {
                lab.show_again("orders", &message).await;
                put_back = true;
            }
        }
    }
    delivered
}

/// The reservation that a buyer was promised. Any other answer must be one that a buyer may get.
pub(crate) fn won(answer: &Answer) -> Option<ReservationId> {
    match answer.status {
        202 => return Some(answer.text("reservation_id").parse().unwrap()),
        409 => drop(answer.clone().problem(409, "sold_out")),
        _ => drop(answer.clone().problem(503, "overloaded")),
    }
    None
}

/// After healing, every unit of a sale's latest round is in one place, every promise is in the ledger, and nobody is over
/// the limit of one. Returns the audit, and how many of the promised orders are live.
pub(crate) async fn is_whole(lab: &Lab, sale: &str, total: u32, promised: &BTreeSet<ReservationId>) -> (Audit, usize) {
    let published = rounds::latest_round(&lab.ledger, &round(sale, 1).sale).await;
    let audited = lab.audited(&published).await;
    let audit = audited.audit;
    assert!(audited.in_redis && audit.is_clean() && audit.held == 0, "{sale}: {audit:?}");
    assert_eq!(audit.total, total);
    let promised: Vec<ReservationId> = promised.iter().cloned().collect();
    let mut orders = Vec::new();
    for chunk in promised.chunks(50) {
        orders.extend(lab.ledger.orders(chunk).await.unwrap());
    }
    assert_eq!(orders.len(), promised.len(), "{sale}: every 202 has an order");
    let guards = lab.ledger.guards(&published.id).await.unwrap();
    assert_eq!(guards.len(), audit.ordered as usize);
    let users: BTreeSet<_> = guards.iter().map(|guard| &guard.user).collect();
    let units: BTreeSet<_> = guards.iter().map(|guard| guard.unit).collect();
    assert_eq!((users.len(), units.len()), (guards.len(), guards.len()), "{sale}: one unit for each user");
    (audit, orders.iter().filter(|order| order.state.is_live()).count())
}

/// Reconciliation that sends the message of every held reservation again at once.
pub(crate) fn sending_at_once(process: &Context) -> Result<ReconciliationDeps, ContextError> {
    Ok(ReconciliationDeps { send_again_after: Duration::ZERO, ..ReconciliationDeps::new(process)? })
}

impl Lab {
    /// Waits until the loaders of rounds are done, or their times over if they died.
    pub(crate) async fn until_nobody_loads(&self) {
        for round in self.ledger.published_rounds(now()).await.unwrap() {
            while !self.ledger.let_load(&round.id, Uuid::new_v4(), now(), EpochMs(0)).await.unwrap() {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        }
    }

    pub(crate) fn reconciliation(&self) -> ReconciliationDeps {
        sending_at_once(&self.another_process()).unwrap()
    }

    pub(crate) async fn reconcile(&self) -> reconciliation::ReconciliationSummary {
        reconciliation::handle(&self.reconciliation()).await.unwrap()
    }

    /// Reconciles with a clock that is this far ahead.
    pub(crate) async fn reconcile_in(&self, ahead_ms: i64) -> reconciliation::ReconciliationSummary {
        let clock = Clock::ahead_by_ms(ahead_ms);
        let deps = ReconciliationDeps { clock, ..self.reconciliation() };
        Box::pin(reconciliation::handle(&deps)).await.unwrap()
    }

    /// Delivers the messages that expire these orders, to a function whose clock is this far ahead.
    pub(crate) async fn expire(&self, reservations: &[&Reservation], ahead_s: i64) {
        let expired = expiry::handle(&self.expiry_in(ahead_s), expiry_batch(reservations.iter().copied())).await;
        assert!(expired.batch_item_failures.is_empty());
    }
}
