//! Operators who hear nothing and ask again, with the same key.

use std::sync::LazyLock;

use sale::{Claim, SaleState};
use serde_json::{Value, json};
use tests::terms;

use super::flow::{Flow, open, repeat};
use super::world::World;
use crate::ask::Ask;
use crate::lab::{Lab, SALE};
use crate::shop::new_sale;

/// What a sale's version is once it is published.
const PUBLISHED: u32 = 2;

pub(super) const FLOWS: &[Flow] = &[
    Flow {
        name: "create",
        effects: &["PutItem"],
        prepare: |_| Box::pin(async { Vec::new() }),
        run: |_, world, _| Box::pin(operate(world, create())),
        again: |lab, _| {
            Box::pin(async {
                let answer = lab.answer(&create()).await;
                assert!(matches!(answer.status, 200 | 201), "{answer:?}");
            })
        },
        end: |lab, _| {
            Box::pin(async {
                let sale = lab.sale().await;
                assert_eq!((sale.state, sale.version, sale.terms.total), (SaleState::Draft, 1, 4));
                repeat(lab, ask("publish")).await;
                lab.load(SALE).await;
            })
        },
    },
    Flow {
        name: "publish",
        effects: &["UpdateItem"],
        prepare: |lab| {
            Box::pin(async {
                lab.ledger.create_sale(&SALE.parse().unwrap(), &terms(4, 1), None).await.unwrap();
                Vec::new()
            })
        },
        run: |_, world, _| Box::pin(operate(world, ask("publish"))),
        again: |lab, _| Box::pin(repeat(lab, ask("publish"))),
        end: |lab, _| {
            Box::pin(async {
                let sale = lab.sale().await;
                assert_eq!((sale.state, sale.version), (SaleState::Published, PUBLISHED));
            })
        },
    },
    Flow {
        name: "pause",
        effects: &["GetItem", "PutItem", "EVALSHA amend"],
        prepare: |lab| Box::pin(with_sale_that_runs(lab)),
        run: |_, world, _| Box::pin(operate(world, ask("pause"))),
        again: |lab, _| Box::pin(repeat(lab, ask("pause"))),
        end: |lab, _| {
            Box::pin(async {
                let sale = lab.sale().await;
                assert_eq!((sale.paused, sale.version), (true, PUBLISHED + 1));
            })
        },
    },
    Flow {
        name: "resume",
        effects: &["GetItem", "PutItem", "EVALSHA amend"],
        prepare: |lab| {
            Box::pin(async {
                let reserved = with_sale_that_runs(lab).await;
                repeat(lab, ask("pause")).await;
                reserved
            })
        },
        run: |_, world, _| Box::pin(operate(world, ask("resume"))),
        again: |lab, _| Box::pin(repeat(lab, ask("resume"))),
        end: |lab, _| {
            Box::pin(async {
                let sale = lab.sale().await;
                assert_eq!((sale.paused, sale.version), (false, PUBLISHED + 2));
            })
        },
    },
    Flow {
        name: "close",
        effects: &["GetItem", "PutItem", "EVALSHA amend"],
        prepare: |lab| Box::pin(with_sale_that_runs(lab)),
        run: |_, world, _| Box::pin(operate(world, ask("close"))),
        again: |lab, _| Box::pin(repeat(lab, ask("close"))),
        end: |lab, _| {
            Box::pin(async {
                let sale = lab.sale().await;
                let now = runtime::Clock::system().now();
                assert!(sale.terms.closes_at_ms <= now, "{sale:?}");
                assert_eq!(sale.version, PUBLISHED + 1);
            })
        },
    },
    Flow {
        name: "end recurrence",
        effects: &["GetItem", "PutItem", "EVALSHA amend"],
        prepare: |lab| Box::pin(with_sale_that_runs(lab)),
        run: |_, world, _| Box::pin(operate(world, ask("end_recurrence"))),
        again: |lab, _| Box::pin(repeat(lab, ask("end_recurrence"))),
        end: |lab, _| {
            Box::pin(async {
                let sale = lab.sale().await;
                assert_eq!((sale.recurrence, sale.version), (None, PUBLISHED + 1));
            })
        },
    },
    Flow {
        name: "restock",
        effects: &["GetItem", "PutItem", "EVALSHA amend"],
        prepare: |lab| Box::pin(with_sale_that_runs(lab)),
        run: |_, world, _| Box::pin(operate(world, restock())),
        again: |lab, _| Box::pin(repeat(lab, restock())),
        end: |lab, _| {
            Box::pin(async {
                let sale = lab.sale().await;
                assert_eq!((sale.terms.total, sale.version), (6, PUBLISHED + 1));
                assert_eq!(lab.clean_audit().await, (4, 0, 2));
            })
        },
    },
];

/// The body of every request to create the sale: one that is sent again is the same to the byte.
static NEW_SALE: LazyLock<Value> = LazyLock::new(|| new_sale(SALE, &json!({ "total": 4, "per_user_limit": 1 })));

fn create() -> Ask {
    Ask::post("/v1/admin/sales").by_operator().json(&NEW_SALE)
}

/// What an operator asks of the sale's first round, under the same key each time. Publishing takes no body.
pub(super) fn ask(what: &str) -> Ask {
    let path = format!("/v1/admin/sales/{SALE}/{what}");
    let ask = Ask::post(path).by_operator().header("idempotency-key", format!("key-{what}"));
    if what == "publish" { ask } else { ask.json(&json!({ "round": 1 })) }
}

fn restock() -> Ask {
    ask("restock").body(json!({ "round": 1, "units": 2 }).to_string())
}

async fn operate(world: &World, ask: Ask) {
    admin::handle(&world.start(admin::Deps::new), ask.request()).await;
}

/// Alice has an order, and bob's message is on its way.
async fn with_sale_that_runs(lab: &Lab) -> Vec<Claim> {
    open(lab).await;
    vec![lab.buy("alice").await, lab.reserve("bob").await]
}
