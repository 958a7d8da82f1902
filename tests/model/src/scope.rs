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
    pub requests: &'static [Request],
    pub receives: u8,   // Deliveries of a message before it becomes a dead letter.
    pub duplicates: u8, // Messages that are delivered twice.
    pub crashes: u8,
    pub cancels: u8,
    pub payments: u8,
    pub failovers: u8,
    pub lost_writes: u8, // Most writes that a failover loses.
    pub wipes: u8,
    pub reconcilers: usize, // Concurrent repairs of reconciliation.
    pub repairs: bool,      // Whether reconciliation repairs what Redis lost.
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

/// Redis loses nothing.
const CALM: Scope = Scope { repairs: false, ..Scope::QUIET };
const ONE_UNIT: Scope = Scope { units: 1, requests: TWO_USERS, cancels: 1, ..Scope::QUIET };
const LOST_WRITES: Scope = Scope { failovers: 1, lost_writes: 3, ..Scope::QUIET };
const ALL_LOST: Scope = Scope { wipes: 1, reconcilers: 2, ..Scope::QUIET };
pub const TWO_USERS: &[Request] = &[of(0, 1), of(1, 1)];
const ONE_REPEATS: &[Request] = &[of(0, 2), of(1, 1)];
pub const ONE_USER: &[Request] = &[of(0, 2), of(0, 1)];
const TWO_KEYS: &[Request] = &[of(0, 1), of(0, 1), of(1, 1)];
const THREE_USERS: &[Request] = &[of(0, 1), of(1, 1), of(2, 1)];
const THREE_KEYS: &[Request] = &[of(0, 1), of(0, 1), of(0, 1)];

/// The scopes in which the right protocol is checked.
pub const SCOPES: [Scope; 13] = [
    Scope { name: "two warmups", requests: TWO_USERS, reconcilers: 2, ..CALM },
    Scope { name: "one unit, two users", duplicates: 1, crashes: 2, payments: 1, repairs: false, ..ONE_UNIT },
    Scope { name: "a repeated request", requests: ONE_REPEATS, duplicates: 1, crashes: 1, payments: 1, ..CALM },
    Scope { name: "one user, two keys", requests: ONE_USER, duplicates: 1, crashes: 1, cancels: 1, ..CALM },
    Scope { name: "lost writes, one unit", crashes: 1, payments: 1, failovers: 1, lost_writes: 3, ..ONE_UNIT },
    Scope { name: "lost writes, two keys", requests: TWO_KEYS, ..LOST_WRITES },
    Scope { name: "lost writes, three users", requests: THREE_USERS, ..LOST_WRITES },
    Scope { name: "lost writes, limit 2", limit: 2, requests: TWO_KEYS, ..LOST_WRITES },
    Scope { name: "lost writes, two failovers", failovers: 2, lost_writes: 4, reconcilers: 2, ..ONE_UNIT },
    Scope { name: "all lost, limit 2", limit: 2, requests: THREE_KEYS, reconcilers: 1, ..ALL_LOST },
    Scope { name: "all lost", requests: TWO_KEYS, ..ALL_LOST },
    Scope { name: "all lost, a crash", requests: TWO_USERS, crashes: 1, payments: 1, ..ALL_LOST },
    Scope { name: "lost writes, then all lost", requests: TWO_USERS, failovers: 1, lost_writes: 2, ..ALL_LOST },
];
