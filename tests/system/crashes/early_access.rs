//! Early access: the list, admission, and units that are set aside.

use sale::{Claim, OrderState};
use serde_json::json;
use tests::user;

use super::flow::{Flow, at_rest, repeat};
use super::purchase::{all_end_as, ask, cancel};
use super::steering::operate;
use crate::admission::{answer_request, enter, read_picture};
use crate::ask::Ask;
use crate::early_access::{USERS, amend, now, with_set_aside};
use crate::lab::{Lab, SALE};

pub(super) const FLOWS: &[Flow] = &[
    Flow {
        name: "list of members",
        effects: &["BatchWriteItem"],
        prepare: |lab| Box::pin(with_sale(lab)),
        run: |_, world, _| Box::pin(operate(world, list())),
        again: |lab, _| Box::pin(repeat(lab, list())),
        end: |lab, _| {
            Box::pin(async {
                let group = ["members".parse().unwrap()];
                for name in members() {
                    assert_eq!(lab.ledger.groups_of(&user(name), &group).await.unwrap(), group);
                }
                the_moment_comes(lab).await;
            })
        },
    },
    Flow {
        name: "member at the door",
        effects: &["BatchGetItem", "EVALSHA admit"],
        prepare: |lab| Box::pin(with_sale(lab)),
        run: |lab, world, _| {
            Box::pin(async {
                let (id, sum) = read_picture(lab, "alice").await;
                admission::handle(&world.start(admission::Deps::new), answer_request("alice", &id, &sum).request())
                    .await;
            })
        },
        again: |lab, _| {
            Box::pin(async {
                enter(lab, "alice").await.expect(201);
                the_moment_comes(lab).await;
            })
        },
        end: at_rest,
    },
    Flow {
        name: "reserve of a member",
        effects: &["EVALSHA reserve", "SendMessage"],
        prepare: |lab| Box::pin(with_sale(lab)),
        run: |lab, world, _| Box::pin(async { ask(world, by_alice(lab).await).await }),
        again: |lab, _| {
            Box::pin(async {
                lab.answer(&by_alice(lab).await).await.expect(202);
            })
        },
        end: |lab, _| {
            Box::pin(async {
                assert_eq!(lab.clean_audit().await, (2, 0, 1), "once");
                is_set_aside(lab, SET_ASIDE - 1).await;
            })
        },
    },
    Flow {
        name: "cancel of a member",
        effects: &["TransactWriteItems", "EVALSHA release"],
        prepare: |lab| Box::pin(with_one_bought(lab)),
        run: |_, world, reserved| Box::pin(ask(world, cancel(&reserved[0]))),
        again: |lab, reserved| Box::pin(repeat(lab, cancel(&reserved[0]))),
        end: |lab, reserved| {
            Box::pin(async {
                all_end_as(lab, reserved, OrderState::Cancelled).await;
                is_set_aside(lab, SET_ASIDE).await;
            })
        },
    },
];

/// Units set aside, of three.
const SET_ASIDE: u32 = 2;

/// More than fit into one batch.
fn members() -> impl Iterator<Item = String> {
    (0..30).map(|number| format!("member-{number}"))
}

fn list() -> Ask {
    Ask::post(USERS).by_operator().json(&json!({ "users": members().collect::<Vec<_>>() }))
}

/// Alice is the only member.
async fn with_sale(lab: &Lab) -> Vec<Claim> {
    lab.publish(SALE, &with_set_aside(SET_ASIDE)).await;
    lab.load(SALE).await;
    lab.ledger.add_to_group(&"members".parse().unwrap(), &[user("alice")]).await.unwrap();
    Vec::new()
}

/// The same request, with a new pass.
async fn by_alice(lab: &Lab) -> Ask {
    let path = enter(lab, "alice").await.expect(201).text("reserve_path").to_owned();
    Ask::post(path).by("alice").header("idempotency-key", "early")
}

async fn with_one_bought(lab: &Lab) -> Vec<Claim> {
    with_sale(lab).await;
    let reserved = lab.answer(&by_alice(lab).await).await.expect(202);
    let claim = lab.claim_of(reserved.text("reservation_id"), "alice").await;
    assert!(lab.deliver(&[&claim]).await.batch_item_failures.is_empty());
    vec![claim]
}

/// Checks that this many units are still set aside, then moves on to when everyone may buy them.
async fn is_set_aside(lab: &Lab, units: u32) {
    let counters = lab.stock.round(&lab.round().await.id).counters().await.unwrap().unwrap();
    assert_eq!(counters.set_aside, units);
    the_moment_comes(lab).await;
}

async fn the_moment_comes(lab: &Lab) {
    amend(lab, |terms| terms.opens_at_ms = sale::EpochMs(now().0 - 661_000)).await;
}
