use proptest::collection::vec;
use proptest::prelude::*;

/// Most operations of one sequence.
const LONGEST: usize = 80;
/// Few, so that they interfere.
pub(super) const USERS: u8 = 4;

/// An event in a sale. What it names is counted back from the latest: a sequence may lose its beginning.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Operation {
    // A user asks for a unit. Its message may not reach the queue.
    Reserve { user: u8, sent: bool },
    // A request is sent again under its own id.
    Repeat { request: u8 },
    // An order message arrives, for the first time or again. The process may die before this call of Redis.
    Deliver { message: u8, dies_at: Option<usize> },
    // Time passes until returned units are on sale again.
    Wait,
    Cancel { request: u8, dies_at: Option<usize> },
    // The payment window of an order is over.
    Expire { order: u8, dies_at: Option<usize> },
    Pay { order: u8 },
    Apply { order: u8 },
    // Another user tries to confirm and to release a reservation.
    Meddle { request: u8, user: u8 },
    // The sale changes in the ledger, and Redis may learn of it.
    Update { change: Change, heard: bool },
    // Redis learns of a version of the sale, which may be old or known already.
    Amend { version: u8 },
    // The round is loaded, whether or not it is live.
    Load,
    NextRound,
    // The messages of held reservations are sent again.
    Due { most: usize },
    // Discrepancies between Redis and the ledger are listed and repaired.
    Reconcile,
    // A process that read an order while it was live applies it as it was read now.
    ApplyLate { order: u8 },
    // A process that found a unit taken and no other left gives up after the unit's order has ended, so the unit is lost.
    GiveUpLate { request: u8 },
    // A second process that found the unit of the same message taken goes on.
    GoOn,
    // The replica catches up with the primary.
    Replicate,
    // The primary dies and the replica takes over.
    Failover,
    LoseAll,
    ReadLedger,
    LoadAsRead,
    List,
    // The listed discrepancies are repaired, perhaps again.
    Repair,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Change {
    Resume,
    Pause,
    Restock(u32),
    Close,
    OpenLater,
    OpenNow,
}

#[derive(Debug, Clone)]
pub(super) struct Script {
    pub(super) total: u32,
    pub(super) per_user_limit: u8,
    /// Whether held reservations are due long after they were made instead of at once.
    pub(super) patient: bool,
    pub(super) operations: Vec<Operation>,
}

/// Sequences in which Redis loses nothing.
pub(super) fn calm() -> impl Strategy<Value = Script> {
    script(prop_oneof![9 => any_sale(), 1 => any_update()].boxed())
}

/// Sequences in which Redis loses its last writes or everything, and processes act on old readings.
pub(super) fn with_losses() -> impl Strategy<Value = Script> {
    script(prop_oneof![24 => any_sale(), 1 => any_update(), 9 => any_loss()].boxed())
}

fn script(operation: BoxedStrategy<Operation>) -> impl Strategy<Value = Script> {
    (2..=8u32, 1..=3u8, any::<bool>(), vec(operation, 1..=LONGEST))
        .prop_map(|(total, per_user_limit, patient, operations)| Script { total, per_user_limit, patient, operations })
}

fn any_sale() -> impl Strategy<Value = Operation> {
    use Operation::*;
    // Mostly one of the latest.
    let recent = || prop_oneof![3 => 0..3u8, 1 => 0..12u8];
    let dies_at = || prop_oneof![4 => Just(None), 1 => (0..3usize).prop_map(Some)];
    prop_oneof![
        12 => (0..USERS, prop::bool::weighted(0.8)).prop_map(|(user, sent)| Reserve { user, sent }),
        3 => recent().prop_map(|request| Repeat { request }),
        14 => (recent(), dies_at()).prop_map(|(message, dies_at)| Deliver { message, dies_at }),
        4 => (recent(), dies_at()).prop_map(|(request, dies_at)| Cancel { request, dies_at }),
        4 => (recent(), dies_at()).prop_map(|(order, dies_at)| Expire { order, dies_at }),
        2 => recent().prop_map(|order| Pay { order }),
        3 => recent().prop_map(|order| Apply { order }),
        1 => (recent(), 0..USERS).prop_map(|(request, user)| Meddle { request, user }),
        2 => (1..6usize).prop_map(|most| Due { most }),
        1 => Just(Reconcile),
        6 => Just(Wait),
    ]
}

fn any_update() -> impl Strategy<Value = Operation> {
    use Operation::*;
    prop_oneof![
        3 => (any_change(), prop::bool::weighted(0.7)).prop_map(|(change, heard)| Update { change, heard }),
        2 => (0..4u8).prop_map(|version| Amend { version }),
        1 => Just(Load),
        1 => Just(NextRound),
    ]
}

fn any_change() -> impl Strategy<Value = Change> {
    prop_oneof![
        4 => Just(Change::Resume),
        1 => Just(Change::Pause),
        2 => (1..3u32).prop_map(Change::Restock),
        1 => Just(Change::Close),
        1 => Just(Change::OpenLater),
        4 => Just(Change::OpenNow),
    ]
}

fn any_loss() -> impl Strategy<Value = Operation> {
    use Operation::*;
    prop_oneof![
        2 => (0..6u8).prop_map(|order| ApplyLate { order }),
        3 => (0..6u8).prop_map(|request| GiveUpLate { request }),
        5 => Just(GoOn),
        4 => Just(Replicate),
        8 => Just(Failover),
        1 => Just(LoseAll),
        4 => Just(Load),
        1 => Just(ReadLedger),
        3 => Just(LoadAsRead),
        3 => Just(List),
        3 => Just(Repair),
        2 => Just(Reconcile),
    ]
}
