//! Compares our local gateway with the emulator's, and tests how its pool handles functions that die, hang or fail.

mod api;
mod compare;
mod pool;
mod refusing;
mod requests;
mod time;
