use crate::binaries::Binaries;
use crate::rival;

pub(super) struct Effort {
    pub(super) binaries: Binaries,
    /// How often everything is measured from scratch.
    pub(super) runs: usize,
    /// Measured rounds, after one to warm up.
    pub(super) rounds: usize,
    /// Script calls in a round.
    pub(super) calls: usize,
    /// Function requests in a round.
    pub(super) requests: usize,
    /// Live reservations at the end of a round.
    pub(super) live: usize,
    pub(super) calls_at_each_size: usize,
    /// Batches of messages in a round.
    pub(super) batches: usize,
    pub(super) rival: rival::Plan,
}

pub(super) const SHORT: Effort = Effort {
    binaries: Binaries::Tested,
    runs: 1,
    rounds: 3,
    calls: 1_000,
    requests: 500,
    live: 20_000,
    calls_at_each_size: 500,
    batches: 5,
    rival: rival::Plan::new(300, 1),
};
pub(super) const FULL: Effort = Effort {
    binaries: Binaries::Shipped,
    runs: 3,
    rounds: 9,
    calls: 30_000,
    requests: 10_000,
    live: 1_000_000,
    calls_at_each_size: 2_000,
    batches: 20,
    rival: rival::Plan::new(5_000, 2),
};
