//! Rounds whose units become available over time.

use crate::catalog::shown;
use crate::prelude::*;

/// Seconds from now to the next drop: longer than a test takes.
const LATER_S: u32 = 3000;

fn moment(answer: &Answer) -> EpochMs {
    let at: jiff::Timestamp = answer.text("next_release_at").parse().expect("a moment");
    at.into()
}

#[tokio::test]
async fn who_comes_between_two_drops_hears_when_and_gets_a_unit_then() {
    // It opened a minute ago, with one of its three units.
    let drops = vec![RainDrop { after_s: 60 + LATER_S, units: 1 }];
    let rain = Some(Rain { at_once: 1, drops, ..Rain::default() });
    let lab = Lab::selling(Terms { rain, ..terms(3, 1) }).await;
    let drop_at = lab.round().await.terms.opens_at_ms.plus_s(60 + LATER_S);
    let alice = lab.buy("alice").await;
    let told = lab.answer(&Ask::reserve(SALE, "bob")).await.problem(409, "sold_out");
    assert_eq!(moment(&told), drop_at);
    let in_s: u32 = told.header("retry-after").parse().unwrap();
    assert!((1..=LATER_S).contains(&in_s), "{in_s} s");
    let card = shown(&lab.catalog(), &format!("/v1/sales/{SALE}")).await;
    assert_eq!((card.text("availability"), moment(&card)), ("sold_out", drop_at));
    assert_eq!(card.body["rain"], json!({ "units": 3, "dropped": 1 }));
    let live = lab.read_sale("live").await;
    assert_eq!((&live["units"]["free"], &live["units"]["to_drop"]), (&json!(2), &json!(2)));

    // The drop is over if the round opened so much earlier. Redis's clock cannot be set, so it loads the round again.
    let earlier = |round: &mut Round| round.terms.opens_at_ms = round.terms.opens_at_ms.minus_s(LATER_S);
    rounds::change(&lab.ledger, &round(SALE, 1), earlier).await;
    lab.refresh_snapshots().await;
    lab.redis(&["FLUSHALL"]).await;
    lab.load(SALE).await;
    assert_eq!(lab.buy("bob").await.unit.0, alice.unit.0 + 1);
    let last = lab.answer(&Ask::reserve(SALE, "carol")).await.problem(409, "sold_out");
    assert_eq!(last.body.get("next_release_at"), None, "nothing more drops");
    let card = shown(&lab.catalog(), &format!("/v1/sales/{SALE}")).await;
    assert_eq!((&card.body["rain"], card.body.get("next_release_at")), (&json!({ "units": 3, "dropped": 2 }), None));
    assert_eq!(lab.clean_audit().await, (1, 0, 2), "a unit that never drops is free");
}
