//! Compares our local gateway with the emulator's, in front of a function that echoes its event; and tests how its process
//! pool handles a function that dies, hangs or fails.

mod api;
mod compare;
mod pool;
mod refusing;
mod requests;
mod time;
