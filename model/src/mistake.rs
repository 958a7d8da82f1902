/// A way to get the protocol wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mistake {
    /// `release` does not look whether the hold was released before.
    ReleaseEveryTime,
    /// Expiry releases before the ledger's transaction.
    ReleaseFirst,
    /// An order is placed whatever the unit guard says.
    NoUnitGuard,
    /// An order is placed whatever the slot guard says.
    NoSlotGuard,
    /// The order function confirms before it writes the order.
    ConfirmFirst,
    /// The order message is acknowledged before the order is written.
    AcknowledgeFirst,
    /// 202 is answered before the message is sent.
    AcceptFirst,
    /// Expiry does not ask for PENDING.
    ExpireUnasked,
    /// Cancellation does not ask for PENDING.
    CancelUnasked,
    /// Payment does not ask for PENDING.
    PayUnasked,
    /// A payment that comes too late is dropped.
    LatePaymentIgnored,
    /// Expiry leaves the guards of its order.
    ExpireLeavesGuards,
    /// `load` writes its keys whether the round is live or not.
    LoadOverLiveRound,
    /// A fence overwrites the order that is there.
    FenceOverOrder,
    /// A rebuilt round is made as if nobody had an order.
    RebuildIgnoresLedger,
    /// Nobody sends a held reservation again.
    NoOutbox,
    /// A dead letter is released without a fence.
    DeadLetterUnfenced,
    /// A dead letter is fenced for what may pass, without trying to place it.
    DeadLetterGivesUp,
    /// A reservation without an order is cancelled without a fence.
    CancelUnfenced,
    /// Reconciliation releases a hold because it is old.
    ReleaseOldHold,
    /// `reserve` gives the same id another unit each time.
    ReserveEveryTime,
    /// `confirm` makes a released hold ordered.
    ConfirmReleased,
    /// `adopt` does nothing for an order that Redis knows, though its unit is free as well.
    AdoptOnlyUnknown,
    /// `restore` does not look whether the unit was handed out at all.
    RestoreNeverHandedOut,
    /// `load` stages the buyers where another loading left its own.
    SharedStaging,
    /// Reconciliation does not expire overdue orders.
    NoOverdue,
    /// Reconciliation does not release holds of orders that have ended.
    NoReleaseOfEnded,
    /// Reconciliation does not tell Redis of orders that it forgot.
    NoAdopt,
    /// Reconciliation does not restore units that are in no place.
    NoRestore,
}
