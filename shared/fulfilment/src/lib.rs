//! The steps that join Redis, DynamoDB and SQS.
//!
//! Every function here can die at any line and be run again, late, or beside itself. What keeps that right is the order
//! of the steps: the ledger's conditional write decides, and whatever follows it is repeated until it is done.

mod answers;
mod audit;
mod board;
mod cancel;
mod denial;
mod expire;
mod isolation;
mod load;
mod place;
mod places;
mod reconcile;
mod refreshed;
mod sale_load;
mod settle;
mod sold_out_mark;
mod status;
mod terms;

use ledger::LedgerError;
use queue::QueueError;
use sale::{ReservationId, SaleId};
use stock::StockError;

pub use answers::Answers;
pub use audit::{Audited, audit};
pub use board::{Board, LiveSale, Snapshot};
pub use cancel::{Cancel, cancel};
pub use denial::{allow, deny, reconcile_denials, strike};
pub use expire::{Expire, expire};
pub use isolation::{Step, Turn};
pub use load::{WARMUP_LEAD_S, load_round};
pub use place::{place, place_or_fail};
pub use places::{Ordered, Places};
pub use reconcile::{Listing, Numbers, Overdue, Repaired, SEND_AGAIN_AFTER, expire_overdue, list, repair, send_due};
pub use sale_load::SaleLoad;
pub use sold_out_mark::{Moment, SoldOutMark};
pub use status::{Status, status};
pub use terms::TermsCache;

/// Why a step did not reach its end. It can be run again.
#[derive(Debug, thiserror::Error)]
pub enum FulfilmentError {
    /// Redis did not answer.
    #[error(transparent)]
    Stock(#[from] StockError),
    /// DynamoDB did not answer.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    /// SQS did not answer.
    #[error(transparent)]
    Queue(#[from] QueueError),
    /// The ledger has no such order, though a message names it.
    #[error("there is no order {0}")]
    UnknownOrder(ReservationId),
    /// The ledger has no such published sale, though a message names it.
    #[error("there is no published sale {0}")]
    UnknownSale(SaleId),
    /// Redis handed out unit after unit that other orders have.
    #[error("{0} has no unit of its own yet")]
    NoUnit(ReservationId),
    /// The ledger did not answer a moment ago, and nothing is known from before.
    #[error("nothing is known of the sales yet")]
    NothingKnown,
    /// The run took as long as its function may.
    #[error("out of time")]
    OutOfTime,
}
