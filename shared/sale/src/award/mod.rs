//! What each unit of a round won, as a pure function of the round's seed. `docs/draws.md` specifies every byte and has
//! a worked example, so that anybody can write a verifier. `web/js/draw.js` is a second implementation; both must
//! produce the results in `award_vectors.json`. This code is frozen: published draws are verified with it for as long
//! as anybody cares. A change takes new labels (see [`commit`]), beside the old ones.

#[cfg(feature = "beacon")]
pub mod beacon;
mod bytes;
pub mod drand;
pub mod merkle;
mod plan;
mod shuffle;
mod stream;
mod table;

pub use bytes::{Bytes32, Hex, Seed, bytes32};
pub use plan::{InvalidPlan, MAX_PARTS, MAX_PRIZE_KINDS, MAX_TICKETS, MAX_TOTAL_MINOR, Plan, split_drawn, split_equal};
pub use shuffle::{ROUNDS, Shuffle, shuffle_key};
pub use stream::Stream;
pub use table::{
    BLANK, CHUNK_VALUES, Commitment, Table, TableDigest, chunk_bytes, chunk_digest, chunk_of, commit, digest,
    digest_of_chunks, prizes, prizes_table, values_of, winners,
};
