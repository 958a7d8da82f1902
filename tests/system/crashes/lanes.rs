//! Units in transit between lanes.

use super::flow::{Flow, flow, repeat};
use super::purchase::{all_end_as, deliver};
use super::repairing::{warm_up, warm_up_again};
use crate::lanes::at_home_in;
use crate::prelude::*;

pub(super) const FLOWS: &[Flow] = &[
    flow!(
        "reserve a unit of another lane",
        [
            "EVALSHA reserve",
            "EVALSHA availability",
            "EVALSHA donate",
            "EVALSHA accept",
            "EVALSHA close_transfer",
            "SendMessage",
        ],
        prepare = |lab| with_a_dry_lane(lab),
        run = |_, world, _| world.ask(reserve_with_key()),
        again = |lab, _| repeat(lab, reserve_with_key()),
        end = |lab, _| async { assert_eq!(lab.clean_audit().await, (1, 0, 3), "once") },
    ),
    flow!(
        "order whose unit is another's, with none left in its lane",
        ["EVALSHA reseat", "EVALSHA availability", "EVALSHA donate", "EVALSHA take_in", "EVALSHA close_transfer"],
        prepare = |lab| with_unit_sold_twice(lab),
        run = |_, world, reserved| deliver(world, reserved),
        end = |lab, reserved| all_end_as(lab, reserved, OrderState::Pending),
    ),
    flow!(
        "load a lane that was lost",
        ["Query", "EVALSHA load", "EVALSHA fence"],
        prepare = |lab| with_a_lane_lost(lab),
        run = |_, world, _| warm_up(world),
        again = |lab, _| warm_up_again(lab, 1),
    ),
];

const LANES: u16 = 2;

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
    lab.lose_lane(0).await;
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
    lab.lose_lane(0).await;
    reserved
}
