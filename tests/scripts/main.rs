//! Every script against a real Valkey.

mod admit;
mod adopt;
mod block;
mod cluster;
mod concurrency;
mod contract;
mod due;
mod early_access;
mod lanes;
mod lease;
mod line;
mod load;
mod prelude;
mod rain;
mod release;
mod reseat;
mod reserve;
mod restore;
mod sequences;
mod tally;
