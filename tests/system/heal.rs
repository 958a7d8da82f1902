use crate::prelude::*;

/// Runs after which the system must be at rest: far more than it needs.
const RUNS: usize = 20;

/// Delivers order messages and runs reconciliation until neither has anything left to do. No payment window passes.
pub(crate) async fn heal(lab: &Lab) {
    lab.until_nobody_loads().await;
    let (mut quiet, mut last) = (0, None);
    for _ in 0..RUNS {
        let summary = reconciliation::handle(&lab.reconciliation()).await.unwrap();
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
    while !put_back && depth(&lab.sqs, lab.queue("orders")).await[0] > 0 {
        for message in receive(&lab.sqs, lab.queue("orders")).await {
            let batch = events::batch([message.body.clone().unwrap()]);
            let failed = order::handle(&lab.order(), batch).await.batch_item_failures;
            let receipt = message.receipt_handle.unwrap();
            delivered += 1;
            if failed.is_empty() {
                lab.sqs.delete_message().queue_url(lab.queue("orders")).receipt_handle(receipt).send().await.unwrap();
            } else {
                let back = lab.sqs.change_message_visibility().queue_url(lab.queue("orders")).receipt_handle(receipt);
                back.visibility_timeout(0).send().await.unwrap();
                put_back = true;
            }
        }
    }
    delivered
}

impl Lab {
    /// Waits until the loaders of rounds are done, or their times over if they died.
    pub(crate) async fn until_nobody_loads(&self) {
        let now = || runtime::Clock::system().now();
        for round in self.ledger.published_rounds(now()).await.unwrap() {
            while !self.ledger.let_load(&round.id, Uuid::new_v4(), now(), EpochMs(0)).await.unwrap() {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        }
    }

    /// Reconciliation that sends the message of every held reservation again at once.
    pub(crate) fn reconciliation(&self) -> reconciliation::ReconciliationDeps {
        let deps = reconciliation::ReconciliationDeps::new(&self.another_process()).unwrap();
        reconciliation::ReconciliationDeps { send_again_after: Duration::ZERO, ..deps }
    }
}
