//! Operators who get no answer and ask again with the same key.

use super::flow::{Flow, flow, open, repeat};
use crate::prelude::*;

/// An offer's version once it is published; its round starts at version 1.
pub(super) const PUBLISHED: u32 = 2;

pub(super) const FLOWS: &[Flow] = &[
    flow!(
        "create",
        ["PutItem"],
        prepare = |_| async { Vec::new() },
        run = |_, world, _| world.ask(create()),
        again = |lab, _| repeat(lab, create()),
        end = |lab, _| async {
            let offer = lab.offer().await;
            assert_eq!((offer.state, offer.version, offer.terms.total), (SaleState::Draft, 1, 4));
            repeat(lab, ask("publish")).await;
            lab.load(SALE).await;
        },
    ),
    flow!(
        "end recurrence",
        ["GetItem", "PutItem"],
        prepare = |lab| async {
            rounds::publish_daily(&lab.ledger, SALE, &terms(4, 1)).await;
            lab.refresh_snapshots().await;
            lab.load(SALE).await;
            vec![lab.buy("alice").await, lab.reserve("bob").await]
        },
        run = |_, world, _| world.ask(ask("end_recurrence")),
        again = |lab, _| repeat(lab, ask("end_recurrence")),
        end = |lab, _| async {
            let offer = lab.offer().await;
            assert_eq!((offer.recurrence, offer.version), (None, PUBLISHED + 1));
        },
    ),
    flow!(
        "restock",
        ["GetItem", "TransactWriteItems", "EVALSHA amend"],
        prepare = |lab| open(lab, terms(4, 1), &["alice"], &["bob"]),
        run = |_, world, _| world.ask(restock()),
        again = |lab, _| repeat(lab, restock()),
        end = |lab, _| async {
            let round = lab.round().await;
            assert_eq!((round.terms.total, round.version), (6, 2));
            assert_eq!(lab.clean_audit().await, (4, 0, 2));
        },
    ),
    flow!(
        "rain",
        ["GetItem", "TransactWriteItems", "EVALSHA amend"],
        prepare = |lab| async {
            let steady = Some(Steady { units: 1, every_s: 3600 });
            let rain = Some(Rain { at_once: 2, steady, ..Rain::default() });
            open(lab, Terms { rain, ..terms(4, 1) }, &["alice"], &["bob"]).await
        },
        run = |_, world, _| world.ask(rain()),
        again = |lab, _| repeat(lab, rain()),
        end = |lab, _| async {
            let round = lab.round().await;
            assert_eq!((round.terms.rain.as_ref().unwrap().at_once, round.version), (3, 2));
            let counters = lab.counters().await;
            assert_eq!(counters.plan, round.terms.rain_plan());
            assert_eq!((counters.last_unit, lab.clean_audit().await), (3, (2, 0, 2)));
        },
    ),
];

/// The body of every request to create the sale, so that a repeat is identical to the byte.
static NEW_SALE: LazyLock<Value> = LazyLock::new(|| new_sale(SALE, &json!({ "total": 4, "per_user_limit": 1 })));

fn create() -> Ask {
    Ask::post("/v1/admin/sales").by_operator().json(&NEW_SALE)
}

/// An operator's request for the sale's first round, with the same key each time. Publishing takes no body.
pub(super) fn ask(what: &str) -> Ask {
    let path = format!("/v1/admin/sales/{SALE}/{what}");
    let ask = Ask::post(path).by_operator().header("idempotency-key", format!("key-{what}"));
    if what == "publish" { ask } else { ask.json(&json!({ "round": 1 })) }
}

fn restock() -> Ask {
    ask("restock").body(json!({ "round": 1, "units": 2 }).to_string())
}

/// Releases one more unit at once and none after it.
fn rain() -> Ask {
    ask("rain").body(json!({ "round": 1, "rain": { "at_once": 1 } }).to_string())
}
