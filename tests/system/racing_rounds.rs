//! Every conditional write of offers and rounds, each with another write that comes in between.

use ledger::{Begun, Latest, UpdateOutcome};

use crate::packets::{packet, table_of};
use crate::prelude::*;
use crate::rounds::request;

fn units(total: u32) -> Edit {
    Edit { total: Some(total), ..Edit::default() }
}

async fn edit_round(ledger: &Ledger, key: &str, edit: &Edit) -> UpdateOutcome {
    let edited = |round, offer: &Offer| offer.edit_round(round, edit, now());
    ledger.update_round(&round(SALE, 1), &request(key), edited).await.unwrap()
}

async fn end_recurrence(ledger: &Ledger) -> UpdateOutcome {
    ledger.update_offer(&round(SALE, 1), &request("end"), Offer::end_recurrence).await.unwrap()
}

#[track_caller]
fn made(outcome: UpdateOutcome) -> Latest {
    let UpdateOutcome::Made(latest) = outcome else { panic!("{outcome:?}") };
    *latest
}

/// A sale that recurs daily, whose first round is over.
async fn over() -> Lab {
    let lab = Lab::new().await;
    rounds::publish_daily(&lab.ledger, SALE, &rounds::from_to(-7200, -3600, terms(5, 1))).await;
    lab
}

#[tokio::test(flavor = "multi_thread")]
async fn of_two_operators_at_once_each_sees_what_the_other_did() {
    let lab = Lab::publishing(terms(5, 1)).await;
    let ledger = lab.meanwhile("TransactWriteItems", |ledger| async move {
        drop(made(edit_round(&ledger, "more", &units(8)).await));
    });
    let paused = ledger.update_round(&round(SALE, 1), &request("pause"), |round, _| Ok(round.pause())).await.unwrap();
    let round = made(paused).round.unwrap();
    assert_eq!((round.paused, round.terms.total, round.version), (true, 8, 3));
    let keys: Vec<&str> = round.log.entries().iter().map(|entry| entry.key.as_str()).collect();
    assert_eq!(keys, ["more", "pause"]);
    assert_eq!(lab.round().await, round);
}

#[tokio::test]
async fn a_crowd_of_operators_adds_each_of_its_units_once() {
    let lab = Lab::publishing(terms(5, 1)).await;
    let id = round(SALE, 1);
    let restock = async |key: &str| {
        let (request, now) = (LogEntry { parameters: "1".to_owned(), ..request(key) }, now());
        lab.ledger.update_round(&id, &request, |round, _| round.restock(1, now)).await
    };
    // Of three concurrent writers with five attempts each, none can lose them all.
    for copies in [["a", "a", "b"], ["b", "c", "c"], ["a", "d", "c"]] {
        for answer in join_all(copies.iter().map(|key| restock(key))).await {
            made(answer.unwrap());
        }
    }
    let after = lab.round().await;
    assert_eq!((after.terms.total, after.version, after.log.entries().len()), (9, 5, 4));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_round_that_is_paused_as_the_next_one_begins_has_a_paused_successor() {
    let lab = over().await;
    let ledger = lab.meanwhile("TransactWriteItems", |ledger| async move {
        rounds::change(&ledger, &round(SALE, 1), |round| round.paused = true).await;
    });
    let begun = ledger.begin_next(&round(SALE, 1), now()).await.unwrap();
    let Begun::Now(next) = begun else { panic!("{begun:?}") };
    assert_eq!((next.id.clone(), next.paused, next.version), (round(SALE, 2), true, 1));
    assert_eq!(lab.round().await, *next);
    let first = lab.ledger.round(&round(SALE, 1)).await.unwrap().unwrap();
    assert_eq!((first.paused, first.version), (true, 3));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_recurrence_that_is_ended_as_the_next_round_begins_has_none() {
    let lab = over().await;
    let ledger = lab.meanwhile("TransactWriteItems", |ledger| async move {
        drop(made(end_recurrence(&ledger).await));
    });
    assert_eq!(ledger.begin_next(&round(SALE, 1), now()).await.unwrap(), Begun::Not);
    assert_eq!((lab.offer().await.recurrence, lab.round().await.id), (None, round(SALE, 1)));
    assert_eq!(lab.ledger.round(&round(SALE, 2)).await.unwrap(), None);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_recurrence_is_not_ended_by_who_decided_so_before_the_next_round_began() {
    let lab = over().await;
    let ledger = lab.meanwhile("PutItem", |ledger| async move {
        assert!(matches!(ledger.begin_next(&round(SALE, 1), now()).await.unwrap(), Begun::Now(_)));
    });
    assert_eq!(end_recurrence(&ledger).await, UpdateOutcome::RoundChanged(RoundNumber(2)));
    assert!(lab.offer().await.recurrence.is_some());
}

/// Operators see the round as not loaded, but it is by the time they take units away.
#[tokio::test(flavor = "multi_thread")]
async fn units_are_not_taken_from_a_round_that_is_loaded_meanwhile() {
    let lab = Lab::publishing(terms(5, 1)).await;
    let now = now();
    let ledger = lab.meanwhile("TransactWriteItems", move |ledger| async move {
        assert!(ledger.mark_loaded(&round(SALE, 1), now).await.unwrap().is_some());
    });
    assert_eq!(edit_round(&ledger, "fewer", &units(3)).await, UpdateOutcome::Refused(Refusal::FewerUnits(5)));
    let after = lab.round().await;
    assert_eq!((after.terms.total, after.loaded_at_ms, after.version), (5, Some(now), 1));
    made(edit_round(&ledger, "more", &units(6)).await);
    assert_eq!((lab.round().await.terms.total, lab.round().await.loaded_at_ms), (6, Some(now)));
    let later = lab.ledger.mark_loaded(&round(SALE, 1), now.plus_s(60)).await.unwrap().unwrap();
    assert_eq!((later.loaded_at_ms, later.terms.total), (Some(now), 6), "the time of the first load stays");
}

/// The reverse: what warmup read is out of date when it loads.
#[tokio::test(flavor = "multi_thread")]
async fn a_round_is_loaded_with_the_units_that_it_has_by_then() {
    let lab = Lab::publishing(terms(5, 1)).await;
    let read = lab.round().await;
    let ledger = lab.meanwhile("UpdateItem", |ledger| async move {
        drop(made(edit_round(&ledger, "fewer", &units(3)).await));
    });
    fulfilment::load_round(&lab.stock, &ledger, &read, now()).await.unwrap();
    let counters = lab.counters().await;
    assert_eq!((counters.last_unit, counters.version), (3, 2));
    assert_eq!(edit_round(&lab.ledger, "none", &units(2)).await, UpdateOutcome::Refused(Refusal::FewerUnits(3)));
    assert_eq!(lab.clean_audit().await, (3, 0, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_draft_that_is_edited_as_it_is_published_is_published_as_edited() {
    let lab = Lab::new().await;
    rounds::draft(&lab.ledger, SALE, &terms(5, 1), None).await;
    let ledger = lab.meanwhile("TransactWriteItems", |ledger| async move {
        let edit = units(9);
        made(ledger.update_offer(&round(SALE, 1), &request("nine"), |offer| offer.edit(&edit)).await.unwrap());
    });
    let published = ledger.publish(&SALE.parse().unwrap(), &request("")).await.unwrap().unwrap();
    assert_eq!((published.offer.version, published.offer.terms.total), (3, 9));
    assert_eq!(published.round.unwrap().terms.total, 9);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_two_operators_publish_is_published_once() {
    let lab = Lab::new().await;
    rounds::draft(&lab.ledger, SALE, &packet(5), None).await;
    let ledger = lab.meanwhile("TransactWriteItems", |ledger| async move {
        rounds::publish(&ledger, SALE).await;
        rounds::change(&ledger, &round(SALE, 1), |round| round.paused = true).await;
    });
    for _ in 0..2 {
        let published = ledger.publish(&SALE.parse().unwrap(), &request("")).await.unwrap().unwrap();
        assert_eq!((published.offer.state, published.offer.version), (SaleState::Published, 2));
        let Round { version, paused, .. } = published.round.unwrap();
        assert_eq!((version, paused), (2, true), "the round includes the updates since");
        table_of(&lab, &round(SALE, 1)).await;
    }
    assert_eq!(lab.offer().await.log.entries().len(), 1);
}

/// Nothing else is written to the last round as the next one begins.
#[tokio::test(flavor = "multi_thread")]
async fn a_round_is_not_updated_by_who_decided_so_before_the_next_one_began() {
    let lab = over().await;
    let ledger = lab.meanwhile("TransactWriteItems", |ledger| async move {
        assert!(matches!(ledger.begin_next(&round(SALE, 1), now()).await.unwrap(), Begun::Now(_)));
    });
    let paused = ledger.update_round(&round(SALE, 1), &request("pause"), |round, _| Ok(round.pause())).await.unwrap();
    assert_eq!(paused, UpdateOutcome::RoundChanged(RoundNumber(2)));
    let ledger = &lab.ledger;
    let both = [1, 2].map(|number| async move { ledger.round(&round(SALE, number)).await.unwrap().unwrap().paused });
    assert_eq!(join_all(both).await, [false, false]);
}
