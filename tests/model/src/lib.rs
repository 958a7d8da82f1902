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
pub use draw::{DrawAction, DrawMistake, DrawProtocol, DrawRun, DrawState, Entry, Time};
pub use job::{Job, Next, Refusal, Who};
pub use lanes::{
    Caller, Finisher, Lane, LaneAction, LaneMistake, LaneProtocol, LaneState, Loader, Reading, Transfer, TransferId,
};
pub use mistake::Mistake;
pub use modelled::{Action, Protocol};
pub use reads::{Audit, Items, Placing, ReadsAction, ReadsMistake, ReadsProtocol, ReadsState};
pub use scope::{ONE_USER, Request, SCOPES, Scope, TWO_USERS};
pub use state::{Ghost, Left, Replica, State};
pub use stored::{
    Guards, IDS, Ledger, Order, OrderState, Redis, Reservation, ReservationState, Returned, SLOTS, Seat, UNITS, USERS,
};
