//! Every script against a real Valkey.

mod concurrency;
mod contract;
mod load;
mod release;
mod reseat;
mod reserve;
