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

#[cfg(test)]
mod tests {
    use sale::{DoorTerms, Price, RoundNumber, SaleState, Terms};

    use super::*;

    #[test]
    fn a_round_is_over_or_to_come_or_comes_back() {
        let terms = Terms {
            title: "A lamp".into(),
            opens_at_ms: EpochMs(10_000),
            closes_at_ms: EpochMs(20_000),
            total: 1,
            per_user_limit: 1,
            price: Price { price_minor: 990, currency: "EUR".parse().unwrap() },
            payment_window_s: 900,
            door: DoorTerms::default(),
        };
        let sale = Sale {
            id: "lamp".parse().unwrap(),
            state: SaleState::Published,
            round: RoundNumber(2),
            version: 1,
            paused: false,
            isolated_requests_per_s: None,
            recurrence: None,
            requests: Vec::new(),
            terms,
            regular_terms: None,
        };
        let said = |number, sale, at_ms| {
            let round = RoundId { sale: "lamp".parse().unwrap(), number: RoundNumber(number) };
            not_in_redis(&round, sale, EpochMs(at_ms)).code()
        };
        for (number, at_ms, code) in [
            (1, 5_000, Code::Closed),
            (2, 9_999, Code::NotOpen),
            (2, 10_000, Code::Overloaded),
            (2, 19_999, Code::Overloaded),
            (2, 20_000, Code::Closed),
            (3, 25_000, Code::Overloaded),
        ] {
            assert_eq!(said(number, Some(&sale), at_ms), code, "round {number} at {at_ms}");
        }
        assert_eq!(said(1, None, 5_000), Code::Overloaded);
    }
}
