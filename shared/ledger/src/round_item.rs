use sale::Round;

use crate::calls::Replacement;
use crate::item::{Item, item_with, number, text};
use crate::{LedgerError, keys};

/// Replaces `read` by `round`. Marking a round as loaded does not change its version, so if it was not loaded when it
/// was read, it still must not be.
pub(crate) fn in_place_of(read: &Round, round: &Round) -> Result<Replacement, LedgerError> {
    let condition = match read.loaded_at_ms {
        Some(_) => "version = :version",
        None => "version = :version AND attribute_not_exists(loaded_at_ms)",
    };
    Ok(Replacement { item: round_item(round)?, condition, version: read.version })
}

pub(crate) fn round_item(round: &Round) -> Result<Item, LedgerError> {
    let keys = [
        ("pk", text(keys::round(&round.id))),
        ("sale_list", text(keys::published_list(&round.id.sale))),
        // From the terms, for the index.
        ("first_opens_at_ms", number(round.terms.first_opens_at_ms().0)),
        // Not with the terms, since one lane is written too.
        ("lanes", number(round.terms.lanes)),
    ];
    item_with(round, keys)
}

#[cfg(test)]
mod tests {
    use sale::award::Commitment;
    use sale::award::drand::DrandRound;
    use serde_json::{Value, json};

    use super::*;
    use crate::item::{from_item, to_item};

    fn item(stored: &Value) -> Item {
        to_item(stored).unwrap()
    }

    /// The round of an item with these attributes besides the usual ones. It is written as it was stored.
    fn round_of(attributes: Value) -> Result<Round, LedgerError> {
        let mut stored = json!({
            "sale_list": "published#3", "first_opens_at_ms": 1_795_510_800_000_i64, "paused": false, "lanes": 1,
            "title": "A lamp", "opens_at_ms": 1_795_510_800_000_i64, "closes_at_ms": 1_795_514_400_000_i64,
            "total": 100, "per_user_limit": 1, "price_minor": 990, "currency": "EUR", "payment_window_s": 900,
            "door": { "violations": 10, "violation_window_s": 600, "blocked_for_s": 3600, "unpaid_limit": 3 },
        });
        let Value::Object(attributes) = attributes else { panic!("{attributes}") };
        stored.as_object_mut().unwrap().extend(attributes);
        let round = from_item(item(&stored))?;
        assert_eq!(round_item(&round).unwrap(), item(&stored));
        Ok(round)
    }

    #[test]
    fn stored_rounds_stay_readable_and_are_written_the_same() {
        let round = round_of(json!({
            "pk": "ROUND#lamp#2", "sale": "lamp", "round": 2, "version": 3,
            "loaded_at_ms": 1_795_510_200_000_i64, "paused": true, "throttle_requests_per_s": 50,
            "log": [{ "key": "k", "action": "restock", "parameters": "20", "by": "olga", "at_ms": 1_795_510_800_123_i64 }],
            "door": {
                "violations": 10, "violation_window_s": 600, "blocked_for_s": 3600, "unpaid_limit": 3,
                "planned_requests_per_s": 40,
            },
        }));
        let round = round.unwrap();
        assert_eq!((round.id.to_string(), round.version, round.paused), ("lamp.2".to_owned(), 3, true));
        let round = round_of(json!({
            "pk": "ROUND#lamp#1", "sale": "lamp", "round": 1, "version": 2,
            "loaded_at_ms": 1_795_510_200_000_i64, "lanes": 8, "dealt": 10_000, "total": 10_100,
        }));
        let round = round.unwrap();
        assert_eq!((round.terms.lanes, round.dealt), (8, Some(10_000)));
    }

    #[test]
    fn stored_rounds_with_awards_stay_readable_and_are_written_the_same() {
        let stored = json!({
            "pk": "ROUND#packet#2", "sale_list": "published#1", "sale": "packet", "round": 2, "version": 1,
            "commitment": "0707070707070707070707070707070707070707070707070707070707070707", "price_minor": 0,
            "allocation": { "kind": "split", "total_minor": 10_000, "min_minor": 1, "parts": "drawn" },
            "settlement": "free",
        });
        assert_eq!(round_of(stored.clone()).unwrap().commitment, Some(Commitment([7; 32])));
        let mut with_beacon = stored.clone();
        with_beacon["allocation"]["beacon"] = true.into();
        with_beacon["drand_round"] = 34_235_811.into();
        assert_eq!(round_of(with_beacon).unwrap().drand_round, Some(DrandRound(34_235_811)));
        let mut wrong = stored;
        wrong["commitment"] = "07".into();
        assert!(round_of(wrong).is_err());
    }
}
