//! Offers and rounds of a ledger, bypassing the operators' routes.

use ledger::{Created, UpdateOutcome};

use crate::prelude::*;

const DAY_MS: i64 = 24 * 60 * 60 * 1000;

pub(crate) fn request(key: &str) -> LogEntry {
    let (key, action, parameters) = (key.to_owned(), "test".to_owned(), String::new());
    LogEntry { key, action, parameters, by: None, at_ms: EpochMs(0) }
}

pub(crate) async fn draft(ledger: &Ledger, sale: &str, terms: &Terms, recurrence: Option<&Recurrence>) -> Created {
    let offer = Offer::draft(sale.parse().unwrap(), terms.clone(), recurrence.cloned());
    ledger.create_offer(&offer).await.unwrap()
}

pub(crate) async fn publish(ledger: &Ledger, sale: &str) {
    ledger.publish(&sale.parse().unwrap(), &request("")).await.unwrap().expect("the sale is there");
}

pub(crate) async fn publish_daily(ledger: &Ledger, sale: &str, terms: &Terms) {
    draft(ledger, sale, terms, Some(&Recurrence::daily("Etc/UTC").unwrap())).await;
    publish(ledger, sale).await;
}

/// Places an order. Nothing may be in its way.
pub(crate) async fn place(ledger: &Ledger, order: Order) -> Order {
    match ledger.place_within(order, &[], false).await.unwrap() {
        Placed::Order(order) => order,
        other => panic!("{other:?}"),
    }
}

pub(crate) async fn latest_round(ledger: &Ledger, sale: &SaleId) -> Round {
    ledger.latest(sale).await.unwrap().and_then(|latest| latest.round).expect("the ledger has it")
}

/// Changes a round regardless of the rules.
pub(crate) async fn change(ledger: &Ledger, id: &RoundId, change: impl Fn(&mut Round)) {
    let request = request(&Uuid::now_v7().to_string());
    let changed = ledger.update_round(id, &request, |mut round, _| {
        change(&mut round);
        Ok(round)
    });
    assert!(matches!(Box::pin(changed).await.unwrap(), UpdateOutcome::Made(_)));
}

/// Makes it a day later: moves the latest round a day back.
pub(crate) async fn pass_a_day(ledger: &Ledger, sale: &str) {
    let id = latest_round(ledger, &sale.parse().unwrap()).await.id;
    let earlier = |terms: &mut Terms| {
        terms.opens_at_ms.0 -= DAY_MS;
        terms.closes_at_ms.0 -= DAY_MS;
    };
    change(ledger, &id, |round| earlier(&mut round.terms)).await;
    let request = request(&Uuid::now_v7().to_string());
    let passed = ledger.update_offer(&id, &request, |mut offer| {
        earlier(&mut offer.terms);
        let recurrence = offer.recurrence.clone();
        offer.hours = Offer::draft(offer.id.clone(), offer.terms.clone(), recurrence).hours;
        Ok(offer)
    });
    assert!(matches!(passed.await.unwrap(), UpdateOutcome::Made(_)));
}

/// Terms of a round that opens and closes this many seconds from now.
pub(crate) fn from_to(opens_in_s: i64, closes_in_s: i64, terms: Terms) -> Terms {
    let now = now().0;
    let (opens_at_ms, closes_at_ms) = (EpochMs(now + opens_in_s * 1000), EpochMs(now + closes_in_s * 1000));
    Terms { opens_at_ms, closes_at_ms, ..terms }
}
