//! A model of the protocol of `docs/protocol.md`, for the model checker `stateright`.
//!
//! README.md says what is modelled, what is not, and how to read a counterexample.

#![allow(missing_docs, reason = "private to the workspace")]

mod cycles;
mod draw;
mod job;
mod lanes;
mod mistake;
mod modelled;
mod properties;
mod protocol;
mod reads;
mod reconcile;
mod scope;
mod scripts;
mod state;
mod steps;
mod stored;
pub mod trace;
mod writes;

pub use cycles::{Run, longest_run};
pub use draw::{DrawMistake, DrawProtocol};
pub use lanes::{Bounds, LaneMistake, LaneProtocol};
pub use mistake::Mistake;
pub use modelled::{Action, Protocol};
pub use reads::{ReadsMistake, ReadsProtocol};
pub use scope::{ONE_USER, SCOPES, Scope, TWO_USERS};
pub use stored::{
    Guards, IDS, Ledger, Order, OrderState, Redis, Reservation, ReservationState, SLOTS, Seat, UNITS, USERS,
};
