//! DynamoDB: the durable record. One typed function for each access; every write is conditional.
//!
//! Every function fails if DynamoDB does not answer. A write may or may not have been made then: repeat the call to find
//! out, which is always safe. Reads are consistent. Comments name the exceptions.
//!
//! | item | key `pk` | index attributes |
//! | --- | --- | --- |
//! | offer | `SALE#id` | `sale_list`, `closes_at_ms` while it is a draft, and once it is withdrawn |
//! | round | `ROUND#sale#round` | `sale_list`, `closes_at_ms` unless its sale is withdrawn |
//! | seed | `SEED#sale#round` | |
//! | seed of a line, and how far it may be | `LINE#sale#round` | |
//! | chunk of a table of awards | `TABLE#sale#round#chunk` | |
//! | milestones of a round | `MILESTONES#sale#round` | |
//! | traffic of a round | `TRAFFIC#sale#round` | |
//! | who loads a round into Redis | `LOADING#sale#round` | |
//! | beacon of a draw | `BEACON#sale#round` | |
//! | draw at the end of a round | `DRAW#sale#round` | |
//! | fence of its entries | `FENCE#sale#round#shard` | |
//! | loss of its round in Redis | `LOST#sale#round` | |
//! | chunk of its entries | `ENTRIES#sale#round#root#chunk` | |
//! | prize that it gave | `WINNER#sale#round#number` | |
//! | order | `ORDER#reservation_id` | `orders_of`, `created_at_ms`; `pending_shard`, `pay_by_ms` while PENDING; `live_shard`, `unit` while live; `order_shard`, `created_at_ms` |
//! | unit guard | `UNIT#sale#round#unit` | `round_shard`, `unit` |
//! | slot guard | `SLOT#sale#round#user#slot` | |
//! | block | `BLOCKED#user` | `blocked_list`, `until_ms` |
//! | violations | `VIOLATIONS#user` | |
//! | connection | `CONN#id` | `connections_of`, `connected_at_ms` |
//! | kill switches | `KILL_SWITCHES` | |
//! | blocked networks | `BLOCKED_NETWORKS`, and `NETWORKS_FOR_GATE` | |
//! | last changes of published rounds | `CHANGES` | |
//! | payment | `PAYMENT#payment_id` | `refund_shard`, `refund_due_at_ms` while a refund is due |
//! | campaign | `CAMPAIGN#id` | `campaign_list`, `campaign_id` |
//! | member of a group | `GROUP#group#user` | `member_shard`, `member` |

mod batch;
mod beacons;
mod blocks;
mod by_time;
mod calls;
mod campaigns;
mod change;
mod connections;
mod draws;
mod error;
mod groups;
mod item;
mod keys;
mod kill_switches;
mod lines;
mod lotteries;
mod milestones;
mod networks;
mod offers;
mod orders;
mod orders_by_time;
mod payments;
mod published;
mod refunds;
mod round_item;
mod rounds;
mod sales_by_state;
mod shards;
mod traffic;
mod violations;

use aws_sdk_dynamodb::Client;

pub use beacons::Beacon;
pub use blocks::{BlockReason, BlockedBy, MAX_BLOCKS, UserBlock};
pub use by_time::{Direction, Position, TimeRange};
pub use campaigns::PutCampaign;
pub use change::{Change, Fact};
pub use connections::{Connection, MAX_CONNECTIONS};
pub use draws::SeedItem;
pub use error::LedgerError;
pub use groups::{GROUP_PAGE, GroupPage};
pub use keys::{ORDERS_PAGE, ROUND_SHARDS};
pub use kill_switches::KillSwitches;
pub use lines::KeptLine;
pub use lotteries::{CHUNK_ENTRIES, ClosedDraw, Draw, DrawEntry, Loss, Winner};
pub use milestones::NotedRound;
pub use networks::{BlockedNetwork, MAX_BLOCKED_NETWORKS, NetworkBlock};
pub use offers::{Created, Deleted, Latest, UpdateOutcome, Withdrawal};
pub use orders::{OrdersPage, Placed, Taken, has_outlived_its_guards};
pub use orders_by_time::OrderIdsPage;
pub use payments::Payment;
pub use published::{Changes, ListedRound, RoundChange};
pub use refunds::{NotedPayment, Refund, Refunded, RefundsPage};
pub use rounds::Begun;
pub use sales_by_state::{ListedState, SalesPage};
pub use traffic::NotedTraffic;
pub use violations::ViolationOutcome;

#[derive(Clone)]
pub struct Ledger {
    client: Client,
    table: String,
}

impl Ledger {
    pub fn new(client: Client, table: impl Into<String>) -> Self {
        Self { client, table: table.into() }
    }
}
