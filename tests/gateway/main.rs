//! The gateway of this machine beside the emulator's, in front of a function that tells what it got; and what its pool of
//! processes does when a function dies, hangs or fails.

mod api;
mod compare;
mod pool;
mod refusing;
mod requests;
mod time;
