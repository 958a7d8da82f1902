// The fields of the packed string `sale:{tag}`, in order, big endian: one list for the scripts, for `Counters` and for
// lua/README.md. A new field is appended: what is missing of a shorter string, which the version before wrote, counts as 0.
// Once that version is gone, what follows `since` may move up. The plan of a round's drops is text that follows at offset
// `PLAN_AT`: a string with a plan is so long that `@has` is true of every field.
sale_fields! {
    version_before {
        /// The next unit that was never handed out.
        next_unit: u32,
        /// The last unit.
        last_unit: u32,
        /// Units in the `free` set.
        returned: u32,
        /// Counts what the `free` set gave and took, so that who read a round in pages can tell whether it held still.
        moves: u32,
        /// When a unit was handed out last; at first, when the keys were loaded. A repair that adds a user to `buyers` sets
        /// a later moment, so the names in it are the same as long as this is, once nothing is free.
        last_won_at_ms: EpochMs,
        /// Most live reservations of a user.
        per_user_limit: u8,
        /// Whether an operator paused it.
        paused: bool,
        /// The first moment at which it can be bought.
        opens_at_ms: EpochMs,
        /// The first moment at which it can no longer be bought.
        closes_at_ms: EpochMs,
        /// When these keys were loaded.
        epoch_ms: EpochMs,
        /// When they expire.
        expires_at_ms: EpochMs,
        /// The version of the sale whose terms are in force.
        version: u32,
    }
    since {
        /// The first moment at which what came back to a round without free units is sold.
        sellable_at_ms: EpochMs,
        /// Reservations of a user that may end unpaid; 0 for any number.
        unpaid_limit: u8,
        /// When the next units of its plan become available; 0 if none do, or it has no plan.
        next_drop_ms: EpochMs,
        /// The first moment at which units that are set aside for a group are everyone's; 0 if none ever were.
        set_aside_until_ms: EpochMs,
        /// Units that only the group gets before that moment.
        set_aside: u32,
    }
}
