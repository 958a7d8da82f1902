//! Helpers that the tests on real services share.

mod cut_proxy;
mod dump;
mod fault_proxy;
mod faulty_aws;
mod recorder;
mod resp;
mod round;
mod seen;
mod slow_proxy;
mod tls_front;

pub use cut_proxy::{CutProxy, Reach};
pub use dump::{Dump, dump, undump};
pub use fault_proxy::{Fault, Point, When};
pub use faulty_aws::{Conduct, FaultyAws, Service};
pub use local::server::Server;
pub use local::upstream::Upstream;
pub use recorder::{Held, Mutants, Queues, Recorded, Recorder, Run, trace_path};
pub use round::{
    TestRound, fresh_id, fresh_reservation, held, packed_at, redis_at, round, sell_returned, set_cooldown_until, terms,
    unsold, until_cooldown_ends, user,
};
pub use seen::{Calm, Effect};
pub use slow_proxy::SlowProxy;
pub use tls_front::{Authority, TlsFront};
