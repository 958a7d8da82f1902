/// The cooldown: how long a unit that comes back to a sold-out round is not sold, in milliseconds; the scripts use it
/// too. By then no process still remembers that the round is sold out.
pub const COOLDOWN_MS: u32 = 1500;
