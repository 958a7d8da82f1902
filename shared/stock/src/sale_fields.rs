// The fields of the packed string `sale:{tag}`, in order, big endian: one list for the scripts and for `Counters`. A
// plan of drops is text at offset `PLAN_AT`: after the fields, with room for more.
pub(crate) const PLAN_AT: usize = 128;

sale_fields! {
    /// The next unit that was never handed out.
    next_unit: u32,
    /// The last unit.
    last_unit: u32,
    /// Units in the `free` set.
    returned: u32,
    /// The number of changes of the `free` set, so that a reader of several pages can tell whether anything moved.
    moves: u32,
    /// When a unit was last handed out, or when the keys were loaded. A repair that adds a user to `buyers` also
    /// raises it, so while nothing is free and it stays the same, the users in `buyers` do too.
    last_won_at_ms: EpochMs,
    /// The most live reservations of a user.
    per_user_limit: u8,
    /// Whether an operator paused it.
    paused: bool,
    /// When buying starts.
    opens_at_ms: EpochMs,
    /// When buying ends.
    closes_at_ms: EpochMs,
    /// When these keys were loaded.
    epoch_ms: EpochMs,
    /// When they expire.
    expires_at_ms: EpochMs,
    /// The version of the sale whose terms are in force.
    version: u32,
    /// When the cooldown of units that came back to a sold-out round ends.
    cooldown_until_ms: EpochMs,
    /// How many reservations of a user may end unpaid.
    unpaid_limit: u8,
    /// When the next units of its plan become available; 0 if there are none, or no plan.
    next_drop_ms: EpochMs,
    /// When the units of a group's quota become everyone's; 0 if there is no quota.
    quota_until_ms: EpochMs,
    /// What is left of the quota: only the group can get these units until then.
    quota: u32,
}
