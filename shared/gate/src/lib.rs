//! Who may ask a sale for something. A function lists the checks that a request has to pass; here they are made, in that
//! order, and whoever fails one hears why. A check is a file in `check/`:
//!
//! | check | kept where | costs | answer |
//! | --- | --- | --- | --- |
//! | [`Check::Known`] | the process's snapshot | nothing; for an unknown id a read of the ledger, one a second of a process | `unknown_sale` |
//! | [`Check::Pass`] | nowhere: an HMAC over user, sale, round and moment | a hash; for a forged one a write to the ledger | `bad_token` |
//! | [`Check::Stop`] | the process's snapshot | nothing | `paused` |
//! | [`Check::Rate`] | the process | nothing | `rate_limited` |
//! | [`Check::Form`] | the request | reading it | `invalid_request` and others |
//! | [`Check::SoldOut`] | the process | nothing | `sold_out` |
//! | [`Check::Keys`] | the process, from Secrets Manager | nothing | `overloaded` |
//! | [`Check::Turn`] | the process, from a lease | nothing; if the sale is isolated, a call of Redis a second for each process and step | `rate_limited` |
//!
//! Nothing else here asks Redis, and nothing asks the ledger but the snapshot and the strikes. Who is denied is known to the
//! script that comes after the checks.

mod check;
mod gate;
mod limiter;
mod not_in_redis;
mod pass_keys;
mod rates;

pub use check::{Check, address};
pub use gate::{Gate, Visitor, VisitorCounts};
pub use limiter::{Limited, Limiter};
pub use not_in_redis::not_in_redis;
pub use pass_keys::PassKeys;
pub use rates::{Limits, RATES, Rate, Route};
