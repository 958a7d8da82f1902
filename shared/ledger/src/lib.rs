//! DynamoDB: the durable record. One typed function for each access; every write is conditional.
//!
//! | item | key `pk` | index attributes |
//! | --- | --- | --- |
//! | sale | `SALE#id` | `sale_list`, `closes_at_ms` while published |
//! | order | `ORDER#reservation_id` | `orders_of`, `created_at_ms`; `pending_shard`, `pay_by_ms` while PENDING; `live_shard`, `unit` while live |
//! | unit guard | `UNIT#sale#round#unit` | `round_shard`, `unit` |
//! | round that is over | `ROUND#sale#round` | |
//! | slot guard | `SLOT#sale#round#user#slot` | |
//! | denial | `DENIED#user` | `denied_list`, `until_ms` |
//! | strikes | `STRIKES#user` | |
//! | connection | `CONN#id` | `connections_of`, `connected_at_ms` |
//! | switches | `SWITCHES` | |
//! | payment | `PAYMENT#payment_id` | |
//! | campaign | `CAMPAIGN#id` | `campaign_list`, `campaign_id` |

mod batch;
mod campaigns;
mod change;
mod conflict;
mod connections;
mod denials;
mod error;
mod guards;
mod item;
mod keys;
mod live_orders;
mod orders;
mod overdue;
mod payments;
mod rounds;
mod sales;
mod shards;
mod strikes;
mod switches;

use aws_sdk_dynamodb::Client;

pub use campaigns::PutCampaign;
pub use change::Change;
pub use connections::{Connection, MAX_CONNECTIONS};
pub use denials::{Denial, DeniedBy, DeniedWhy, MAX_DENIALS};
pub use error::LedgerError;
pub use keys::{ORDERS_PAGE, ROUND_SHARDS};
pub use orders::{OrdersPage, Placed, Taken};
pub use payments::Payment;
pub use sales::{Amend, Created, MAX_REQUESTS, Published, SteeringRequest};
pub use strikes::{Strike, Struck};
pub use switches::Switches;

/// The ledger, in one table.
#[derive(Clone)]
pub struct Ledger {
    client: Client,
    table: String,
}

impl Ledger {
    /// A handle on `table`.
    pub fn new(client: Client, table: impl Into<String>) -> Self {
        Self { client, table: table.into() }
    }
}
