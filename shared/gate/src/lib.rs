//! The gate: the checks that a request about a sale has to pass. A function lists the checks it needs, and [`Gate::enter`]
//! runs them in that order until one fails. They are in `check/`:
//!
//! | check | kept where | costs | answer |
//! | --- | --- | --- | --- |
//! | [`Check::Exists`] | the process's snapshot | nothing; for an unknown id one read of the ledger a second per process | `unknown_sale` |
//! | [`Check::Sight`] | the request, or the process for half a minute | for a sale that not everybody may see one read of the ledger for each user | `unknown_sale` |
//! | [`Check::Pass`] | nowhere: an HMAC over user, sale, round and moment | a hash; for a forged one a write to the ledger | `bad_token` |
//! | [`Check::KillSwitch`] | the process's snapshot | nothing | `paused` |
//! | [`Check::Address`] | the process's snapshot | a comparison with each network that is blocked | `blocked` |
//! | [`Check::Line`] | nowhere: HMACs over the ticket and the watermark, which the request has | four hashes; nothing for a sale without a line | `no_ticket`, `not_your_turn` |
//! | [`Check::Rate`] | the process | nothing | `rate_limited` |
//! | [`Check::Form`] | the request | reading it | `invalid_request` and others |
//! | [`Check::SoldOut`] | the process | nothing | `sold_out` |
//! | [`Check::Keys`] | the process, from Secrets Manager | nothing | `overloaded` |
//! | [`Gate::turn`], right before the call to Redis | the process, from a lease | nothing; for a throttled sale one call to Redis a second per process and step | `rate_limited` |
//!
//! Nothing else here calls Redis, and only the snapshot, the violations and the memberships call the ledger. Blocks of
//! users are not checked here, but by the script that runs after the gate.

mod bounded;
mod check;
mod gate;
mod limiter;
mod memberships;
mod rates;
mod rebuilds;
mod sync;
mod waking_clock;

pub use check::{Check, TICKET_HEADER, WATERMARK_HEADER, address};
pub use gate::{Gate, Visitor, VisitorCounts};
pub use limiter::{Limited, Limiter};
pub use memberships::Memberships;
pub use rates::{Limits, RATES, Rate, Route};
pub use rebuilds::Rebuilds;

/// The keys that sign and verify passes, read from Secrets Manager.
pub type PassKeys = runtime::Secret<pass::KeyRing>;
