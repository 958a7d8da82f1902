/// How long a unit that comes back to a round in which nothing is free stays unsold, for the scripts as well. What a process
/// remembers of a round that is sold out is forgotten by then.
pub const HOLD_BACK_MS: u32 = 1500;
