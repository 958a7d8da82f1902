use std::time::Duration;

use fulfilment::SEND_AGAIN_AFTER;
use ledger::Ledger;
use messaging::queue::OrderQueue;
use runtime::Clock;
use sale::MAX_THROTTLE_REQUESTS_PER_S;
use stock::Stock;

/// The time limit of a run: a few seconds less than Lambda's 55 s, for the summary. The next run does the rest.
pub const RUN_TIMEOUT: Duration = Duration::from_secs(50);

context::deps! {
    ReconciliationDeps(context) {
        pub stock: Stock = context.stock()?,
        pub ledger: Ledger = context.ledger()?,
        pub orders: OrderQueue = context.order_queue()?,
        /// How long a reservation waits for its order before its message is sent again.
        pub send_again_after: Duration = SEND_AGAIN_AFTER,
        /// The rate that a busy sale is throttled to, in requests a second; `None` if operators decide.
        pub throttle_busy_to: Option<u32> = context.number("THROTTLE_BUSY_SALES_TO", 1..=MAX_THROTTLE_REQUESTS_PER_S)?,
        pub clock: Clock = context.clock(),
        pub run_timeout: Duration = RUN_TIMEOUT,
    }
}
