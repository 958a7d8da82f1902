//! Units in transit between lanes.

use super::flow::{Flow, accepted, at_rest, nobody};
use super::purchase::{all_end_as, ask, deliver};
use super::repairing::{warm_up, warm_up_again};
use crate::prelude::*;

pub(super) const FLOWS: &[Flow] = &[
    Flow {
        name: "reserve a unit of another lane",
        effects: &[
            "EVALSHA reserve",
            "EVALSHA availability",
            "EVALSHA donate",
            "EVALSHA accept",
            "EVALSHA close_transfer",
            "SendMessage",
        ],
        prepare: |lab| Box::pin(with_a_dry_lane(lab)),
        run: |_, world, _| Box::pin(ask(world, reserve_with_key())),
        again: |lab, _| Box::pin(accepted(lab, reserve_with_key())),
        end: |lab, _| Box::pin(async { assert_eq!(lab.clean_audit().await, (1, 0, 3), "once") }),
    },
    Flow {
        name: "order whose unit is another's, with none left in its lane",
        effects: &[
            "EVALSHA reseat",
            "EVALSHA availability",
            "EVALSHA donate",
            "EVALSHA take_in",
            "EVALSHA close_transfer",
        ],
        prepare: |lab| Box::pin(with_unit_sold_twice(lab)),
        run: |_, world, reserved| Box::pin(deliver(world, reserved)),
        again: nobody,
        end: |lab, reserved| Box::pin(all_end_as(lab, reserved, OrderState::Pending)),
    },
    Flow {
        name: "load a lane that was lost",
        effects: &["Query", "EVALSHA load", "EVALSHA fence"],
        prepare: |lab| Box::pin(with_a_lane_lost(lab)),
        run: |_, world, _| Box::pin(warm_up(world)),
        again: |lab, _| Box::pin(warm_up_again(lab, 1)),
        end: at_rest,
    },
];

const LANES: u16 = 2;

pub(crate) fn at_home_in(index: u16, lanes: u16, number: usize) -> UserId {
    let users = (0..).map(|at| user(format!("user-{at}")));
    users.filter(|user| Lane::home_of(user, lanes).index() == index).nth(number).unwrap()
}

fn reserve_with_key() -> Ask {
    Ask::reserve(SALE, at_home_in(0, LANES, 2).as_str()).header("idempotency-key", "key-1")
}

/// Two units in each of two lanes; the first lane's are sold.
async fn with_a_dry_lane(lab: &Lab) -> Vec<Reservation> {
    lab.open(SALE, &Terms { lanes: LANES, ..terms(4, 1) }).await;
    let mut bought = Vec::new();
    for number in 0..2 {
        bought.push(lab.buy(at_home_in(0, LANES, number).as_str()).await);
    }
    bought
}

/// Redis lost the first lane, it was reloaded as if unsold, and its units were sold again.
async fn with_unit_sold_twice(lab: &Lab) -> Vec<Reservation> {
    with_a_dry_lane(lab).await;
    lose_first_lane(lab).await;
    let mut round = lab.round().await;
    round.terms.total = 4;
    let load = stock::RoundLoad { version: round.version, epoch_ms: now(), ..tests::unsold(round.terms.clone()) };
    assert!(lab.stock.of(&round).load_lanes(&load, 4).await.unwrap());
    let mut again = Vec::new();
    for number in 2..4 {
        again.push(lab.reserve(at_home_in(0, LANES, number).as_str()).await);
    }
    again
}

/// Two orders, and one reservation in each lane.
async fn with_a_lane_lost(lab: &Lab) -> Vec<Reservation> {
    lab.open(SALE, &Terms { lanes: LANES, ..terms(8, 1) }).await;
    let mut reserved = Vec::new();
    for index in 0..LANES {
        lab.buy(at_home_in(index, LANES, 0).as_str()).await;
        reserved.push(lab.reserve(at_home_in(index, LANES, 1).as_str()).await);
    }
    lose_first_lane(lab).await;
    reserved
}

async fn lose_first_lane(lab: &Lab) {
    let id = round(SALE, 1);
    let tag = lab.stock.round_in(&id, LANES).tag(Lane::new(0, LANES));
    let keys =
        ["sale", "buyers", "free", "outbox", "transfers", "answers", "blocked"].map(|kind| format!("{kind}:{tag}"));
    let mut del = vec!["DEL"];
    del.extend(keys.iter().map(String::as_str));
    lab.redis(&del).await;
}
