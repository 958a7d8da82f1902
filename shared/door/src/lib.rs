//! The door of a sale: who may try to reserve, and how often anybody may ask for anything.
//!
//! Nothing here talks to a network or keeps time of its own, but for [`Limiter`], which counts in this process.

mod challenge;
mod glyphs;
mod keys;
mod limiter;
mod pass;
mod picture;
mod rate;

pub use challenge::{MAX_ANSWER_LENGTH, Sum, WORK_BITS, is_work, work};
pub use keys::{InvalidKeyRing, KeyRing, MAX_KEY_LENGTH, MAX_KEYS, MIN_KEY_LENGTH};
pub use limiter::{Limited, Limiter};
pub use pass::{BadToken, Grant, PASS_LIFE_S, Pass};
pub use picture::MAX_PICTURE_BYTES;
pub use rate::{Limits, RATES, Rate, Route};
