//! The line in front of a sale that expects more people than can be served at once. Nothing here talks to a network or keeps
//! time. `docs/line.md` specifies every byte, so that anybody can verify a place; `vectors.json` holds all implementations to
//! the same results.
//!
//! Who is in line has a [`Ticket`], which says when the user came: before the opening, or in which second after it. The
//! [`Place`] of a user follows from the round's seed alone, which was committed to before anybody came. [`Front`] says how far
//! the line has moved, and [`advance`] moves it.

mod advance;
mod document;
mod front;
mod keys;
mod order;
mod range;
mod ticket;

pub use advance::{
    Advance, Flow, InvalidProgress, LOOK_AGAIN_MS, Late, OVERBOOKED, Progress, TURN_S, advance, ceiling, stand,
};
pub use document::{Admitted, LineDocument, LineState, People, Units};
pub use front::{Front, WHOLE_PPB};
pub use keys::{LineKey, LineKeys};
pub use order::{Order, Place, commit};
pub use range::{PEOPLE_ERROR_PERCENT, Range, rank_of_early, wait_s};
pub use ticket::{Class, InvalidTicket, Ticket};
