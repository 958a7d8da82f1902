//! The line in front of a sale that expects more people than can be served at once. Nothing here uses a network or a
//! clock. `docs/line.md` specifies every byte, so that anybody can verify a place; all implementations must produce the
//! results in `line_vectors.json`.
//!
//! A user in line has a [`Ticket`], which says when the user came: before the opening, or in which second after it. The
//! [`Place`] of a user follows only from the round's seed, which was committed to before anybody came. [`Watermark`]
//! says how far the line has moved, and [`advance`] moves it.

mod advance;
mod document;
mod keys;
mod order;
mod range;
mod ticket;
mod watermark;

pub use advance::{
    Advance, Flow, InvalidProgress, Late, OVERBOOKED, POLL_AGAIN_MS, Progress, TURN_S, advance, ceiling, stand,
};
pub use document::{Admitted, LineDocument, LineState, People, Units};
pub use keys::{LineKey, LineKeys};
pub use order::{LineOrder, Place, WHOLE_PPB, commit};
pub use range::{PEOPLE_ERROR_PERCENT, Range, rank_of_early, wait_s};
pub use ticket::{Class, InvalidTicket, Ticket};
pub use watermark::Watermark;
