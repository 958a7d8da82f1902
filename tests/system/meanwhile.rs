//! Makes something happen while a request is on its way to DynamoDB.

use std::ops::Deref;

use tokio::runtime::Handle;
use tokio::task::block_in_place;

use crate::hooks::before_send;
use crate::prelude::*;

/// A ledger with which something must have happened by the time that it is dropped.
pub(crate) struct Meanwhile {
    ledger: Ledger,
    happened: Arc<AtomicBool>,
}

impl Lab {
    /// A ledger on the lab's table. `event` happens once, after the first request of this kind is built and before it is
    /// sent. Needs a multi-threaded runtime.
    ///
    /// `target` is the end of the request's target, such as `PutItem`, or a part of its body.
    pub(crate) fn meanwhile<F: Future<Output = ()>>(
        &self,
        target: &'static str,
        event: impl FnOnce(Ledger) -> F + Send + 'static,
    ) -> Meanwhile {
        let happened = Arc::<AtomicBool>::default();
        let (ledger, event, done) = (self.ledger.clone(), Mutex::new(Some(event)), Arc::clone(&happened));
        let hook = before_send(move |context| {
            let request = context.request();
            let is_target = request.headers().get("x-amz-target").unwrap_or_default().ends_with(target)
                || String::from_utf8_lossy(request.body().bytes().unwrap_or_default()).contains(target);
            if is_target && let Some(event) = event.lock().unwrap().take() {
                block_in_place(|| Handle::current().block_on(event(ledger.clone())));
                done.store(true, Ordering::Relaxed);
            }
            Ok(())
        });
        let config = self.dynamodb.config().to_builder().interceptor(hook);
        Meanwhile { ledger: Ledger::new(DynamoDb::from_conf(config.build()), &self.table), happened }
    }
}

impl Deref for Meanwhile {
    type Target = Ledger;

    fn deref(&self) -> &Ledger {
        &self.ledger
    }
}

impl Drop for Meanwhile {
    fn drop(&mut self) {
        assert!(std::thread::panicking() || self.happened.load(Ordering::Relaxed), "nothing happened meanwhile");
    }
}
