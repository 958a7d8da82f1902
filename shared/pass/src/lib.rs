//! Admission to a sale: challenges, passes and the line. Nothing here uses a network or a clock.

mod challenge;
mod glyphs;
#[cfg(feature = "jwt")]
pub mod jwt;
mod keys;
pub mod line;
mod pass;
mod picture;

pub use challenge::{Asked, MAX_ANSWER_LENGTH, Sum, asks_nothing, challenge_id, is_work, work};
pub use keys::{InvalidKeyRing, KeyRing, MAX_KEY_LENGTH, MAX_KEYS, MIN_KEY_LENGTH};
pub use pass::{BadToken, PASS_LIFE_S, Pass};
pub use picture::MAX_PICTURE_BYTES;
