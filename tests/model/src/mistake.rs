/// A way to get the protocol wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mistake {
    /// `release` does not check whether the reservation was released before.
    ReleaseEveryTime,
    /// Expiry releases before the ledger's transaction.
    ReleaseFirst,
    /// An order is placed whatever the unit guard says.
    NoUnitGuard,
    /// An order is placed whatever the slot guard says.
    NoSlotGuard,
    /// A slot that is another order's fails the reservation, whatever other slots are free.
    SlotTakenIsFinal,
    /// `reseat` finds no other slot, and says that nothing is left.
    ReseatKeepsSlot,
    /// The order function confirms before it writes the order.
    ConfirmFirst,
    /// The order message is acknowledged before the order is written.
    AcknowledgeFirst,
    /// 202 is answered before the message is sent.
    AcceptFirst,
    /// Expiry does not require PENDING.
    ExpireUnasked,
    /// Cancellation does not require PENDING.
    CancelUnasked,
    /// Payment does not require PENDING.
    PayUnasked,
    /// A payment that comes too late is dropped.
    LatePaymentIgnored,
    ExpireLeavesGuards,
    /// `load` writes its keys whether the round is live or not.
    LoadOverLiveRound,
    /// A fence overwrites an existing order.
    FenceOverOrder,
    /// A round is rebuilt as if there were no orders.
    RebuildIgnoresLedger,
    /// Held reservations are never sent again.
    NoOutbox,
    /// A dead letter is released without a fence.
    DeadLetterUnfenced,
    /// A dead letter is fenced after a temporary error, without trying to place it.
    DeadLetterGivesUp,
    /// A reservation without an order is cancelled without a fence.
    CancelUnfenced,
    /// Reconciliation releases a reservation just because it is old.
    ReleaseOldReservation,
    /// `reserve` gives the same id a new unit each time.
    ReserveEveryTime,
    /// `confirm` turns a released reservation into an ordered one.
    ConfirmReleased,
    /// `adopt` does nothing for an order that Redis knows, even if its unit is free as well.
    AdoptOnlyUnknown,
    /// `restore` does not check whether the unit was ever handed out.
    RestoreNeverHandedOut,
    /// `load` stages the buyers where another load left its own.
    SharedStaging,
    /// Reconciliation does not expire overdue orders.
    NoOverdue,
    /// Reconciliation does not release reservations of orders that have ended.
    NoReleaseOfEnded,
    /// Reconciliation does not tell Redis of orders that it forgot.
    NoAdopt,
    /// Reconciliation does not restore units that are in no place.
    NoRestore,
}
