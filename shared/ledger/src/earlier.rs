//! The item of the previous version, which stored a sale and its running round as one. It stays readable, and the first
//! write of this version converts it to an offer and a round.

use sale::{EpochMs, Log, LogEntry, Offer, Recurrence, Round, RoundId, RoundNumber, SaleId, SaleState, Terms};
use serde::Deserialize;

/// The actions that operators had then.
const ACTIONS: [&str; 6] = ["pause", "resume", "close", "restock", "isolate", END_RECURRENCE];
/// The only one of these that concerns the offer.
const END_RECURRENCE: &str = "end_recurrence";

/// A sale as the previous version stored it.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct EarlierSale {
    id: SaleId,
    state: SaleState,
    round: RoundNumber,
    version: u32,
    #[serde(default)]
    paused: bool,
    #[serde(default)]
    isolated_requests_per_s: Option<u32>,
    #[serde(default)]
    recurrence: Option<Recurrence>,
    /// Each is `KEY ACTION ROUND PARAMETERS`, or `ACTION-KEY` from a still earlier version.
    #[serde(default)]
    requests: Vec<String>,
    #[serde(flatten)]
    terms: Terms,
    /// The terms of future rounds, if the running one was changed.
    #[serde(default)]
    regular_terms: Option<Terms>,
}

impl EarlierSale {
    /// The offer in it.
    pub(crate) fn offer(&self) -> Offer {
        let Self { id, state, version, recurrence, .. } = self.clone();
        let terms = self.regular_terms.as_ref().unwrap_or(&self.terms).clone();
        let log = self.log(|entry, _| entry.action == END_RECURRENCE);
        Offer { id, state, version, latest_round: self.round, terms, recurrence, log }
    }

    /// Its running round, if it is published. It may be loaded; the time of that was not recorded.
    pub(crate) fn round(&self) -> Option<Round> {
        let Self { id, version, paused, isolated_requests_per_s, terms, .. } = self.clone();
        (self.state == SaleState::Published).then(|| Round {
            id: RoundId { sale: id, number: self.round },
            version,
            loaded_at_ms: Some(EpochMs(0)),
            terms,
            paused,
            isolated_requests_per_s,
            dealt: None,
            commitment: None,
            drand_round: None,
            log: self.log(|entry, round| entry.action != END_RECURRENCE && round.is_none_or(|of| of == self.round)),
        })
    }

    fn log(&self, is_of_it: impl Fn(&LogEntry, Option<RoundNumber>) -> bool) -> Log {
        let entries = self.requests.iter().filter_map(|request| entry(request));
        entries.filter(|(entry, round)| is_of_it(entry, *round)).map(|(entry, _)| entry).collect()
    }
}

/// The log entry of a request, and its round if known. `None` for what a schedule did.
fn entry(request: &str) -> Option<(LogEntry, Option<RoundNumber>)> {
    let entry = |key: &str, action: &str, parameters: &str| {
        let (key, action, parameters) = (key.to_owned(), action.to_owned(), parameters.to_owned());
        LogEntry { key, action, parameters, by: None, at_ms: None }
    };
    let Some((key, rest)) = request.split_once(' ') else {
        let of_key = |action| Some((action, request.strip_prefix(action)?.strip_prefix('-')?));
        let (action, key) = ACTIONS.into_iter().find_map(of_key)?;
        return Some((entry(key, action, ""), None));
    };
    let (action, rest) = rest.split_once(' ')?;
    let (round, parameters) = rest.split_once(' ')?;
    // An offer's entry names the round, since the offer has many.
    let parameters = if action == END_RECURRENCE { round } else { parameters };
    Some((entry(key, action, parameters), Some(round.parse().ok()?)))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_sale_of_the_version_before_is_an_offer_and_a_round() {
        let regular = json!({
            "title": "A lamp", "opens_at_ms": 1000, "closes_at_ms": 9000, "total": 5, "per_user_limit": 1,
            "price_minor": 990, "currency": "EUR", "payment_window_s": 900,
        });
        let mut stored = regular.clone();
        stored.as_object_mut().unwrap().extend([
            ("pk".to_owned(), json!("SALE#lamp")),
            ("sale_list".to_owned(), json!("published")),
            ("id".to_owned(), json!("lamp")),
            ("state".to_owned(), json!("published")),
            ("round".to_owned(), json!(2)),
            ("version".to_owned(), json!(7)),
            ("paused".to_owned(), json!(true)),
            ("isolated_requests_per_s".to_owned(), json!(30)),
            ("recurrence".to_owned(), json!({ "every": "day", "time_zone": "Etc/UTC" })),
            ("total".to_owned(), json!(12)),
            ("regular_terms".to_owned(), regular),
            (
                "requests".to_owned(),
                json!([
                    "restock-old",
                    "yesterday restock 1 3",
                    "round-2",
                    "more restock 2 7",
                    "p pause 2 ",
                    "e end_recurrence 2 "
                ]),
            ),
        ]);
        let sale: EarlierSale =
            serde_dynamo::from_item(serde_dynamo::to_item::<_, serde_dynamo::Item>(stored).unwrap()).unwrap();
        let (offer, round) = (sale.offer(), sale.round().unwrap());
        assert_eq!((offer.state, offer.version, offer.latest_round), (SaleState::Published, 7, RoundNumber(2)));
        assert_eq!((offer.terms.total, round.terms.total), (5, 12));
        assert_eq!((round.id.to_string(), round.version, round.paused), ("lamp.2".to_owned(), 7, true));
        assert_eq!((round.isolated_requests_per_s, round.loaded_at_ms.is_some()), (Some(30), true));
        let told = |log: &Log| {
            let told = |entry: &LogEntry| format!("{} {} {}", entry.key, entry.action, entry.parameters);
            log.entries().iter().map(told).collect::<Vec<_>>()
        };
        assert_eq!(told(&offer.log), ["e end_recurrence 2"]);
        assert_eq!(told(&round.log), ["old restock ", "more restock 7", "p pause "]);
    }
}
