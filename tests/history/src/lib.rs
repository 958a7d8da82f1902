//! Records what clients of a sale asked and heard, and checks whether a correct sale can have answered so.
//!
//! A [`Recorder`] notes each request with the moments just before it was sent and just after its answer came. [`check`]
//! then looks for answers that contradict each other or the final state of the ledger. It knows nothing of how the
//! system works inside, and shares no code with it.
//!
//! The checks are sound: each rejects only what no correct system can have answered. So they rely on what is *certain*
//! and let pass what merely looks odd. `tests/model/README.md` lists what is checked and what is not.

mod check;
mod http;
mod record;
mod recorder;

pub use check::{Judged, MOST_SHOWN, Report, Rule, Violation, check};
pub use http::Request;
pub use record::{
    Answer, Buyers, Clocks, History, LedgerReading, Name, Operation, Order, PaymentOutcome, Question, Redis, Refusal,
    Round, Status, Supply,
};
pub use recorder::{Asking, Recorder};
