//! Every script against a real Valkey.

mod admit;
mod adopt;
mod amend;
mod beside_lanes;
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
mod rain_plot;
mod release;
mod reseat;
mod reserve;
mod restore;
mod sequences;
mod tally;
