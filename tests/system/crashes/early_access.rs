//! Early access: the list of members, and admission.

use super::flow::{Flow, flow, repeat};
use crate::admission::{answer_request, enter, read_picture};
use crate::early_access::{USERS, amend, with_quota};
use crate::prelude::*;

pub(super) const FLOWS: &[Flow] = &[
    flow!(
        "list of members",
        ["BatchWriteItem"],
        prepare = |lab| with_sale(lab),
        run = |_, world, _| world.ask(list()),
        again = |lab, _| repeat(lab, list()),
        end = |lab, _| async {
            let group = ["members".parse().unwrap()];
            for name in members() {
                assert_eq!(lab.ledger.groups_of(&user(name), &group).await.unwrap(), group);
            }
            the_moment_comes(lab).await;
        },
    ),
    flow!(
        "member at the door",
        ["BatchGetItem", "EVALSHA admit"],
        prepare = |lab| with_sale(lab),
        run = |lab, world, _| async {
            let (id, sum) = read_picture(lab, "alice").await;
            world.ask(answer_request("alice", &id, &sum)).await;
        },
        again = |lab, _| async {
            enter(lab, "alice").await.expect(201);
            the_moment_comes(lab).await;
        },
    ),
];

/// More than fit into one batch.
fn members() -> impl Iterator<Item = String> {
    (0..30).map(|number| format!("member-{number}"))
}

fn list() -> Ask {
    Ask::post(USERS).by_operator().json(&json!({ "users": members().collect::<Vec<_>>() }))
}

/// Alice is the only member.
async fn with_sale(lab: &Lab) -> Vec<Reservation> {
    lab.open(SALE, &with_quota(2)).await;
    lab.ledger.add_to_group(&"members".parse().unwrap(), &[user("alice")]).await.unwrap();
    Vec::new()
}

async fn the_moment_comes(lab: &Lab) {
    amend(lab, |terms| terms.opens_at_ms = sale::EpochMs(now().0 - 661_000)).await;
}
