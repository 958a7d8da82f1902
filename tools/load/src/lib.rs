//! A load generator for any deployment of the HTTP API.
//!
//! Requests are sent by the clock, whatever happened to earlier ones, and the latency of each counts from when it was
//! due. A server that stalls therefore shows its stall in the figures, as its users would feel it ([`pacing`]).
//!
//! [`run()`] sends a prepared list of requests. [`visits`] lets every user do several things in turn, and [`users`] has
//! users who do everything from a challenge to a reservation, and others who misbehave.

pub mod answer;
pub mod client;
pub mod curve;
mod files;
pub mod measure;
pub mod outcome;
pub mod pacing;
pub mod page;
pub mod plan;
pub mod plot;
pub mod progress;
pub mod report;
pub mod request;
mod results;
mod run;
pub mod target;
pub mod users;

pub use answer::{Answer, Failure};
pub use client::{CONNECTIONS, Client};
pub use curve::Curve;
pub use outcome::{Outcome, Stopped};
pub use plan::Plan;
pub use progress::ProgressLine;
pub use report::Report;
pub use request::{Request, Response, Token, solved};
pub use run::{Visit, run, visits, visits_until};
pub use target::Target;
pub use users::has_line;
