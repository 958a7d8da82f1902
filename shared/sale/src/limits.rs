/// The largest number of units in a round: what the design was measured with.
pub const MAX_TOTAL: u32 = 10_000_000;
/// The highest price in minor units: exact in every JSON reader (2^53), with room for sums.
pub const MAX_PRICE_MINOR: u64 = 1_000_000_000_000;
pub const MAX_SALE_DURATION_S: u32 = 31 * 24 * 60 * 60;
pub const MAX_TITLE_LENGTH: usize = 200;
