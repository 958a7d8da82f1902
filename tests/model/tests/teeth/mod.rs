use model::{Mistake, ONE_USER, Scope, TWO_USERS};

/// A mistake, the scope in which it shows, and the property that it breaks there.
pub(crate) type Tooth = (Mistake, Scope, &'static str);

const QUIET: Scope = Scope { requests: TWO_USERS, ..Scope::QUIET };
/// Redis loses nothing; every other failure happens once.
const CALM: Scope = Scope { duplicates: 1, crashes: 1, cancels: 1, payments: 1, repairs: false, ..QUIET };
const TWO_CRASHES: Scope = Scope { requests: ONE_USER, crashes: 2, repairs: false, ..QUIET };
const TWO_WARMUPS: Scope = Scope { reconcilers: 2, repairs: false, ..QUIET };
const LOST_WRITES: Scope = Scope { payments: 1, failovers: 1, lost_writes: 3, ..QUIET };
const LOST_KEY: Scope = Scope { requests: ONE_USER, failovers: 1, lost_writes: 3, ..QUIET };
const LOST_KEY_OF_TWO: Scope = Scope { limit: 2, ..LOST_KEY };
const LOST_TWICE: Scope = Scope { failovers: 2, lost_writes: 4, reconcilers: 2, ..QUIET };
const ALL_LOST: Scope = Scope { wipes: 1, reconcilers: 2, ..QUIET };
const ALL_LOST_OF_TWO: Scope = Scope { requests: ONE_USER, limit: 2, ..ALL_LOST };

const PAID: &str = "paid is final";
const ACCEPTED: &str = "a 202 has its message or its order";
const REASON: &str = "a promise fails only for a reason that is true";
const OFFERS: &str = "Redis offers no unit twice";
const ONE_PLACE: &str = "while Redis loses nothing every unit is in one place";
const REST_RESERVATIONS: &str = "at rest no reservation is without its order";
const REST_PLACE: &str = "at rest every unit is in one place";

/// Every mistake, with at least one of the properties that catch it.
pub(crate) const TEETH: [Tooth; 37] = [
    (Mistake::ReleaseEveryTime, CALM, ONE_PLACE),
    (Mistake::ReleaseFirst, CALM, ONE_PLACE),
    (Mistake::NoUnitGuard, LOST_WRITES, "no unit is in two live orders"),
    (Mistake::NoSlotGuard, LOST_KEY, "no user has more live orders than the limit"),
    (Mistake::SlotTakenIsFinal, LOST_KEY_OF_TWO, REASON),
    (Mistake::ReseatKeepsSlot, ALL_LOST_OF_TWO, REASON),
    (Mistake::ConfirmFirst, CALM, "Redis calls ordered only what the ledger has"),
    (Mistake::AcknowledgeFirst, CALM, ACCEPTED),
    (Mistake::AcceptFirst, CALM, ACCEPTED),
    (Mistake::ExpireUnasked, CALM, PAID),
    (Mistake::CancelUnasked, CALM, PAID),
    (Mistake::PayUnasked, CALM, PAID),
    (Mistake::LatePaymentIgnored, CALM, "a payment is taken or given back"),
    (Mistake::ExpireLeavesGuards, CALM, ONE_PLACE),
    (Mistake::ExpireLeavesGuards, CALM, REST_PLACE),
    (Mistake::LoadOverLiveRound, TWO_WARMUPS, ONE_PLACE),
    (Mistake::FenceOverOrder, CALM, PAID),
    (Mistake::RebuildIgnoresLedger, ALL_LOST, "a rebuilt round offers nothing that is taken"),
    (Mistake::NoOutbox, CALM, REST_RESERVATIONS),
    (Mistake::DeadLetterUnfenced, CALM, ONE_PLACE),
    (Mistake::DeadLetterUnfenced, TWO_CRASHES, "at rest a 202 is an order or a release"),
    (Mistake::DeadLetterGivesUp, TWO_CRASHES, REASON),
    (Mistake::CancelUnfenced, CALM, ONE_PLACE),
    (Mistake::ReleaseOldReservation, CALM, ONE_PLACE),
    (Mistake::ReserveEveryTime, TWO_CRASHES, ONE_PLACE),
    (Mistake::ReserveEveryTime, TWO_CRASHES, "twice is once"),
    (Mistake::ConfirmReleased, CALM, ONE_PLACE),
    (Mistake::AdoptOnlyUnknown, LOST_WRITES, "a repair that is found changes something"),
    (Mistake::RestoreNeverHandedOut, LOST_TWICE, OFFERS),
    (Mistake::RestoreNeverHandedOut, LOST_TWICE, REST_PLACE),
    (Mistake::SharedStaging, ALL_LOST, OFFERS),
    (Mistake::SharedStaging, ALL_LOST, REST_PLACE),
    (Mistake::NoOverdue, TWO_CRASHES, "at rest an unpaid order will expire"),
    (Mistake::NoReleaseOfEnded, TWO_CRASHES, REST_RESERVATIONS),
    (Mistake::NoAdopt, LOST_WRITES, REST_PLACE),
    (Mistake::NoAdopt, LOST_WRITES, "at rest Redis has what live orders have"),
    (Mistake::NoRestore, LOST_WRITES, REST_PLACE),
];
