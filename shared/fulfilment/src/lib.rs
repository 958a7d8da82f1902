//! The workflows across Redis, DynamoDB and SQS.
//!
//! Every function here can die at any line and be run again, late, or concurrently. The order of the steps makes that
//! safe: the ledger's conditional write decides, and what follows it is repeated until it is done.
//!
//! What the reservation function calls is boxed, and not `async`: that function's crate would compile it again, with the
//! optimization that only refusals need.

mod apply;
mod audit;
mod block;
mod cancel;
mod draw;
mod error;
mod expire;
mod load;
mod place;
mod reconcile;
mod status;

pub use audit::{Audited, UnitCounts, UnknownLanes, audit};
pub use block::{allow, block, count_violation, reconcile_blocks};
pub use cancel::{Cancel, cancel};
pub use draw::{DRAW_AFTER_S, DrawStands, draw};
pub use error::FulfilmentError;
pub use expire::{Expire, expire};
pub use load::{Loading, WARMUP_LEAD_S, load_round};
pub use place::Fulfilment;
pub use reconcile::{
    Listing, Overdue, Repaired, SEND_AGAIN_AFTER, expire_overdue, finish_transfers, list, note_complete, repair,
    send_due,
};
pub use status::{RESTORING_MS, Status, UserReservations, list_reservations, status};
