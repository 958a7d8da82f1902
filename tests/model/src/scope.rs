use crate::stored::UNITS;

/// A reservation id: its user, and how often it is requested.
#[derive(Clone, Copy, Debug)]
pub struct Request {
    pub user: u8,
    /// The first request and its repetitions with the same key.
    pub tries: u8,
}

/// The size of the model. Each bound applies to a whole run.
#[derive(Clone, Copy, Debug)]
pub struct Scope {
    pub name: &'static str,
    pub units: u8,
    pub limit: u8,
    /// The reservations.
    pub requests: &'static [Request],
    /// Deliveries of a message before it becomes a dead letter.
    pub receives: u8,
    /// Messages that are delivered twice.
    pub duplicates: u8,
    pub crashes: u8,
    pub cancels: u8,
    pub payments: u8,
    pub failovers: u8,
    /// Most writes that a failover loses.
    pub lost_writes: u8,
    pub wipes: u8,
    /// Concurrent repairs of reconciliation.
    pub reconcilers: usize,
    /// Whether reconciliation repairs what Redis lost.
    pub repairs: bool,
}

impl Scope {
    /// A quiet round without requests or failures.
    pub const QUIET: Self = Self {
        name: "quiet",
        units: UNITS as u8,
        limit: 1,
        requests: &[],
        receives: 2,
        duplicates: 0,
        crashes: 0,
        cancels: 0,
        payments: 0,
        failovers: 0,
        lost_writes: 0,
        wipes: 0,
        reconcilers: 1,
        repairs: true,
    };
}

const fn of(user: u8, tries: u8) -> Request {
    Request { user, tries }
}

/// The scopes in which the right protocol is checked.
pub const SCOPES: [Scope; 13] = [
    Scope { name: "two warmups", requests: &[of(0, 1), of(1, 1)], reconcilers: 2, repairs: false, ..Scope::QUIET },
    Scope {
        name: "one unit, two users",
        units: 1,
        requests: &[of(0, 1), of(1, 1)],
        duplicates: 1,
        crashes: 2,
        cancels: 1,
        payments: 1,
        repairs: false,
        ..Scope::QUIET
    },
    Scope {
        name: "a repeated request",
        requests: &[of(0, 2), of(1, 1)],
        duplicates: 1,
        crashes: 1,
        payments: 1,
        repairs: false,
        ..Scope::QUIET
    },
    Scope {
        name: "one user, two keys",
        requests: &[of(0, 2), of(0, 1)],
        duplicates: 1,
        crashes: 1,
        cancels: 1,
        repairs: false,
        ..Scope::QUIET
    },
    Scope {
        name: "lost writes, one unit",
        units: 1,
        requests: &[of(0, 1), of(1, 1)],
        crashes: 1,
        cancels: 1,
        payments: 1,
        failovers: 1,
        lost_writes: 3,
        ..Scope::QUIET
    },
    Scope {
        name: "lost writes, two keys",
        requests: &[of(0, 1), of(0, 1), of(1, 1)],
        failovers: 1,
        lost_writes: 3,
        ..Scope::QUIET
    },
    Scope {
        name: "lost writes, three users",
        requests: &[of(0, 1), of(1, 1), of(2, 1)],
        failovers: 1,
        lost_writes: 3,
        ..Scope::QUIET
    },
    Scope {
        name: "lost writes, limit 2",
        limit: 2,
        requests: &[of(0, 1), of(0, 1), of(1, 1)],
        failovers: 1,
        lost_writes: 3,
        ..Scope::QUIET
    },
    Scope {
        name: "lost writes, two failovers",
        units: 1,
        requests: &[of(0, 1), of(1, 1)],
        cancels: 1,
        failovers: 2,
        lost_writes: 4,
        reconcilers: 2,
        ..Scope::QUIET
    },
    Scope { name: "all lost, limit 2", limit: 2, requests: &[of(0, 1), of(0, 1), of(0, 1)], wipes: 1, ..Scope::QUIET },
    Scope { name: "all lost", requests: &[of(0, 1), of(0, 1), of(1, 1)], wipes: 1, reconcilers: 2, ..Scope::QUIET },
    Scope {
        name: "all lost, a crash",
        requests: &[of(0, 1), of(1, 1)],
        crashes: 1,
        payments: 1,
        wipes: 1,
        reconcilers: 2,
        ..Scope::QUIET
    },
    Scope {
        name: "lost writes, then all lost",
        requests: &[of(0, 1), of(1, 1)],
        failovers: 1,
        lost_writes: 2,
        wipes: 1,
        reconcilers: 2,
        ..Scope::QUIET
    },
];
