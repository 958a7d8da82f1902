use api::{Code, Problem};
use sale::{EpochMs, RoundId, Sale};

/// What is said of a round that Redis does not have: it is not loaded yet, is over, or is lost and will be back. `sale` is
/// what the snapshot has of it. Whoever asks knows that it was published, so a snapshot that does not have it, or not as far
/// as this round, is older than that, and nobody may hear that it does not exist.
pub fn not_in_redis(round: &RoundId, sale: Option<&Sale>, now: EpochMs) -> Problem {
    match sale {
        Some(sale) if round.number < sale.round => Problem::new(Code::Closed),
        Some(sale) if round.number > sale.round => Problem::restoring(),
        Some(sale) if now >= sale.terms.closes_at_ms => Problem::new(Code::Closed),
        Some(sale) if now < sale.terms.opens_at_ms => Problem::not_open(sale.terms.opens_at_ms, now),
        _ => Problem::restoring(),
    }
}
