use serde::{Deserialize, Serialize};

use crate::{DoorTerms, EpochMs, InvalidDoor, Price, Recurrence, RoundId, RoundNumber, SaleId};

/// Most units in a round: what the design was measured with.
pub const MAX_TOTAL: u32 = 10_000_000;
/// Most purchases of one user in a round. A user's record in Redis has one entry for each.
pub const MAX_PER_USER_LIMIT: u8 = 20;
/// Highest price in minor units: still exact in every JSON reader (2^53) with room to add up.
pub const MAX_PRICE_MINOR: u64 = 1_000_000_000_000;
/// Longest title in characters.
pub const MAX_TITLE_LENGTH: usize = 200;
/// Shortest payment window. Below it an order could expire before its buyer has heard of it.
pub const MIN_PAYMENT_WINDOW_S: u32 = 5;
/// Longest payment window.
pub const MAX_PAYMENT_WINDOW_S: u32 = 24 * 60 * 60;
/// Most requests a second of an isolated sale: beyond it, isolating it changes nothing.
pub const MAX_ISOLATED_REQUESTS_PER_S: u32 = 100_000;
/// Longest time from opening to closing.
pub const MAX_SALE_DURATION_S: u32 = 31 * 24 * 60 * 60;

/// What a sale offers. Fixed once the sale is published.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Terms {
    /// What is sold, for people.
    pub title: String,
    /// The first moment at which it can be bought.
    pub opens_at_ms: EpochMs,
    /// The first moment at which it can no longer be bought.
    pub closes_at_ms: EpochMs,
    /// Units in a round, numbered from 1.
    pub total: u32,
    /// Most live orders of one user in a round.
    pub per_user_limit: u8,
    /// Price of one unit.
    #[serde(flatten)]
    pub price: Price,
    /// How long an order waits for its payment.
    pub payment_window_s: u32,
    /// Who is kept away from it.
    #[serde(default)]
    pub door: DoorTerms,
}

/// Terms that cannot be sold by.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidTerms {
    /// The title is empty or too long, or has control characters.
    #[error("title must have 1 to {MAX_TITLE_LENGTH} characters and no control characters")]
    Title,
    /// The window is empty, turned round or too long.
    #[error("closes_at must be after opens_at and at most {} days later", MAX_SALE_DURATION_S / 86_400)]
    Window,
    /// No units or too many.
    #[error("total must be 1 to {MAX_TOTAL}")]
    Total,
    /// Limit out of range.
    #[error("per_user_limit must be 1 to {MAX_PER_USER_LIMIT}")]
    PerUserLimit,
    /// Price out of range.
    #[error("price_minor must be 0 to {MAX_PRICE_MINOR}")]
    Price,
    /// Payment window out of range.
    #[error("payment_window_s must be {MIN_PAYMENT_WINDOW_S} to {MAX_PAYMENT_WINDOW_S}")]
    PaymentWindow,
    /// The door cannot be kept.
    #[error(transparent)]
    Door(#[from] InvalidDoor),
}

impl Terms {
    /// Checks every bound.
    ///
    /// # Errors
    /// The first bound that does not hold.
    pub fn validate(&self) -> Result<(), InvalidTerms> {
        let longest_ms = u64::from(MAX_SALE_DURATION_S) * 1000;
        let title_length = self.title.chars().count();
        if !(1..=MAX_TITLE_LENGTH).contains(&title_length) || self.title.chars().any(char::is_control) {
            Err(InvalidTerms::Title)
        } else if !(1..=longest_ms).contains(&self.closes_at_ms.since_ms(self.opens_at_ms)) || self.opens_at_ms.0 < 0 {
            Err(InvalidTerms::Window)
        } else if !(1..=MAX_TOTAL).contains(&self.total) {
            Err(InvalidTerms::Total)
        } else if !(1..=MAX_PER_USER_LIMIT).contains(&self.per_user_limit) {
            Err(InvalidTerms::PerUserLimit)
        } else if self.price.price_minor > MAX_PRICE_MINOR {
            Err(InvalidTerms::Price)
        } else if !(MIN_PAYMENT_WINDOW_S..=MAX_PAYMENT_WINDOW_S).contains(&self.payment_window_s) {
            Err(InvalidTerms::PaymentWindow)
        } else {
            Ok(self.door.validate()?)
        }
    }
}

/// Whether a sale can be bought from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SaleState {
    /// Seen by operators only.
    Draft,
    /// Loaded into Redis before it opens.
    Published,
}

/// One item offered for a window of time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sale {
    /// Names it.
    pub id: SaleId,
    /// Draft or published.
    pub state: SaleState,
    /// The current round.
    pub round: RoundNumber,
    /// Counts the writes of the sale: each one is conditional on the version that it read.
    pub version: u32,
    /// Whether an operator paused it.
    #[serde(default)]
    pub paused: bool,
    /// Requests a second that it is let have, as long as operators keep it from the load of the others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub isolated_requests_per_s: Option<u32>,
    /// Whether it comes again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recurrence: Option<Recurrence>,
    /// Keys of the requests that changed it last, so that a repeated one changes nothing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub requests: Vec<String>,
    /// What it offers in this round.
    #[serde(flatten)]
    pub terms: Terms,
    /// What a sale that comes again offers, if this round was changed while it ran.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub regular_terms: Option<Terms>,
}

impl Sale {
    /// Names the current round.
    pub fn round_id(&self) -> RoundId {
        RoundId { sale: self.id.clone(), number: self.round }
    }

    /// The terms to be changed for this round alone.
    pub fn terms_of_this_round(&mut self) -> &mut Terms {
        if self.recurrence.is_some() && self.regular_terms.is_none() {
            self.regular_terms = Some(self.terms.clone());
        }
        &mut self.terms
    }

    /// Begins the next round, on the regular terms, in the first window that is not over at `now`. False, and nothing is
    /// changed, if there is none.
    pub fn begin_next_round(&mut self, now: EpochMs) -> bool {
        let regular = self.regular_terms.as_ref().unwrap_or(&self.terms);
        let window = |recurrence: &Recurrence| recurrence.next_window(regular.opens_at_ms, regular.closes_at_ms, now);
        let Some((opens_at_ms, closes_at_ms)) = self.recurrence.as_ref().and_then(window) else { return false };
        self.terms = Terms { opens_at_ms, closes_at_ms, ..regular.clone() };
        self.regular_terms = None;
        self.round = RoundNumber(self.round.0 + 1);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn terms() -> Terms {
        Terms {
            title: "A lamp".into(),
            opens_at_ms: EpochMs(1_000_000),
            closes_at_ms: EpochMs(2_000_000),
            total: 100,
            per_user_limit: 1,
            price: Price { price_minor: 990, currency: "EUR".parse().unwrap() },
            payment_window_s: 900,
            door: DoorTerms::default(),
        }
    }

    fn verdict(change: impl FnOnce(&mut Terms)) -> Result<(), InvalidTerms> {
        let mut terms = terms();
        change(&mut terms);
        terms.validate()
    }

    #[test]
    fn a_change_of_one_round_is_not_one_of_the_next() {
        let hour_ms = 3_600_000;
        let terms = Terms { opens_at_ms: EpochMs(hour_ms), closes_at_ms: EpochMs(3 * hour_ms), ..terms() };
        let mut sale = Sale {
            id: "lamp".parse().unwrap(),
            state: SaleState::Published,
            round: RoundNumber(1),
            version: 1,
            paused: false,
            isolated_requests_per_s: None,
            recurrence: Some(Recurrence::daily("Etc/UTC").unwrap()),
            requests: Vec::new(),
            terms: terms.clone(),
            regular_terms: None,
        };
        sale.terms_of_this_round().total += 20;
        sale.terms_of_this_round().closes_at_ms = EpochMs(2 * hour_ms);
        assert_eq!((sale.terms.total, sale.terms.closes_at_ms), (120, EpochMs(2 * hour_ms)));
        assert!(sale.begin_next_round(EpochMs(4 * hour_ms)));
        let (opens_at_ms, closes_at_ms) = (EpochMs(25 * hour_ms), EpochMs(27 * hour_ms));
        assert_eq!((sale.round, &sale.terms), (RoundNumber(2), &Terms { opens_at_ms, closes_at_ms, ..terms }));
        assert_eq!(sale.regular_terms, None);
        sale.recurrence = None;
        assert!(!sale.begin_next_round(EpochMs(30 * hour_ms)));
        assert_eq!(sale.round, RoundNumber(2));
    }

    #[test]
    fn bounds_are_inclusive() {
        let day_ms = 86_400_000;
        assert_eq!(terms().validate(), Ok(()));
        assert_eq!(verdict(|t| t.total = MAX_TOTAL), Ok(()));
        assert_eq!(verdict(|t| t.per_user_limit = MAX_PER_USER_LIMIT), Ok(()));
        assert_eq!(verdict(|t| t.payment_window_s = MAX_PAYMENT_WINDOW_S), Ok(()));
        assert_eq!(verdict(|t| t.payment_window_s = MIN_PAYMENT_WINDOW_S), Ok(()));
        assert_eq!(verdict(|t| t.price.price_minor = 0), Ok(()));
        assert_eq!(verdict(|t| t.closes_at_ms = EpochMs(1_000_000 + 31 * day_ms)), Ok(()));
        assert_eq!(verdict(|t| t.title = "ü".repeat(MAX_TITLE_LENGTH)), Ok(()));
    }

    #[test]
    fn outside_the_bounds_is_refused() {
        let day_ms = 86_400_000;
        assert_eq!(verdict(|t| t.title.clear()), Err(InvalidTerms::Title));
        assert_eq!(verdict(|t| t.title = "a\nb".into()), Err(InvalidTerms::Title));
        assert_eq!(verdict(|t| t.title = "x".repeat(MAX_TITLE_LENGTH + 1)), Err(InvalidTerms::Title));
        assert_eq!(verdict(|t| t.closes_at_ms = t.opens_at_ms), Err(InvalidTerms::Window));
        assert_eq!(verdict(|t| t.closes_at_ms = EpochMs(0)), Err(InvalidTerms::Window));
        assert_eq!(verdict(|t| t.closes_at_ms = EpochMs(1_000_001 + 31 * day_ms)), Err(InvalidTerms::Window));
        assert_eq!(verdict(|t| t.opens_at_ms = EpochMs(-1)), Err(InvalidTerms::Window));
        assert_eq!(verdict(|t| t.total = 0), Err(InvalidTerms::Total));
        assert_eq!(verdict(|t| t.total = MAX_TOTAL + 1), Err(InvalidTerms::Total));
        assert_eq!(verdict(|t| t.per_user_limit = 0), Err(InvalidTerms::PerUserLimit));
        assert_eq!(verdict(|t| t.per_user_limit = MAX_PER_USER_LIMIT + 1), Err(InvalidTerms::PerUserLimit));
        assert_eq!(verdict(|t| t.price.price_minor = MAX_PRICE_MINOR + 1), Err(InvalidTerms::Price));
        assert_eq!(verdict(|t| t.payment_window_s = MIN_PAYMENT_WINDOW_S - 1), Err(InvalidTerms::PaymentWindow));
        assert_eq!(verdict(|t| t.payment_window_s = MAX_PAYMENT_WINDOW_S + 1), Err(InvalidTerms::PaymentWindow));
        assert_eq!(verdict(|t| t.door.strikes = 0), Err(InvalidTerms::Door(InvalidDoor::Strikes)));
    }
}
