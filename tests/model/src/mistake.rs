/// A way to get the protocol wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mistake {
    ReleaseEveryTime,      // `release` does not check whether the reservation was released before.
    ReleaseFirst,          // Expiry releases before the ledger's transaction.
    NoUnitGuard,           // An order is placed whatever the unit guard says.
    NoSlotGuard,           // An order is placed whatever the slot guard says.
    SlotTakenIsFinal,      // A slot that is another order's fails the reservation, whatever other slots are free.
    ReseatKeepsSlot,       // `reseat` finds no other slot, and says that nothing is left.
    ConfirmFirst,          // The order function confirms before it writes the order.
    AcknowledgeFirst,      // The order message is acknowledged before the order is written.
    AcceptFirst,           // 202 is answered before the message is sent.
    ExpireUnasked,         // Expiry does not require PENDING.
    CancelUnasked,         // Cancellation does not require PENDING.
    PayUnasked,            // Payment does not require PENDING.
    LatePaymentIgnored,    // A payment that comes too late is dropped.
    ExpireLeavesGuards,    // Expiry deletes no guards.
    LoadOverLiveRound,     // `load` writes its keys whether the round is live or not.
    FenceOverOrder,        // A fence overwrites an existing order.
    RebuildIgnoresLedger,  // A round is rebuilt as if there were no orders.
    NoOutbox,              // Held reservations are never sent again.
    DeadLetterUnfenced,    // A dead letter is released without a fence.
    DeadLetterGivesUp,     // A dead letter is fenced after a temporary error, without trying to place it.
    CancelUnfenced,        // A reservation without an order is cancelled without a fence.
    ReleaseOldReservation, // Reconciliation releases a reservation just because it is old.
    ReserveEveryTime,      // `reserve` gives the same id a new unit each time.
    ConfirmReleased,       // `confirm` turns a released reservation into an ordered one.
    AdoptOnlyUnknown,      // `adopt` does nothing for an order that Redis knows, even if its unit is free as well.
    RestoreNeverHandedOut, // `restore` does not check whether the unit was ever handed out.
    SharedStaging,         // `load` stages the buyers where another load left its own.
    NoOverdue,             // Reconciliation does not expire overdue orders.
    NoReleaseOfEnded,      // Reconciliation does not release reservations of orders that have ended.
    NoAdopt,               // Reconciliation does not tell Redis of orders that it forgot.
    NoRestore,             // Reconciliation does not restore units that are in no place.
}
