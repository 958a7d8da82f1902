//! Admission and counters of a round with several lanes.

use super::Lanes;
use crate::prelude::*;

const LANES: u16 = 4;

async fn admit(round: RoundStock<'_>, user: &UserId) -> Admit {
    Visitor { per_user: ONE, ..Visitor::at(round, user.clone()) }.admit(Uuid::now_v7(), None).await
}

/// A user of an empty lane is admitted for another lane's units, and charged once for the two calls that this takes.
#[tokio::test]
async fn who_is_let_in_for_another_lane_is_charged_once() {
    // One unit in each lane.
    let lanes = Lanes::start(LANES.into(), LANES).await;
    lanes.buy(&lanes.user_of(0, 0)).await;
    // A process without any knowledge of the lanes.
    let door = lanes.another_process();
    let door = door.round_in(&lanes.id, LANES);
    let late = lanes.user_of(0, 1);
    assert!(matches!(admit(door, &late).await, Admit::Admitted(_)));
    assert!(matches!(admit(door, &late).await, Admit::RateLimited(_)), "the user's limit is used up");
    let others = join_all((2..20).map(async |number| admit(door, &lanes.user_of(0, number)).await)).await;
    assert!(others.iter().all(|admit| matches!(admit, Admit::Admitted(_))), "{others:?}");
    for index in 1..LANES {
        lanes.buy(&lanes.user_of(index, 0)).await;
    }
    let door = lanes.another_process();
    let door = door.round_in(&lanes.id, LANES);
    let late = join_all((20..40).map(async |number| admit(door, &lanes.user_of(0, number)).await)).await;
    assert!(late.iter().all(|admit| matches!(admit, Admit::SoldOut(_))), "{late:?}");
    for index in 1..LANES {
        let late = admit(door, &lanes.user_of(index, 9)).await;
        assert!(matches!(late, Admit::SoldOut(_)), "lane {index}: {late:?}");
    }
    let buyer = admit(door, &lanes.user_of(1, 0)).await;
    assert!(matches!(buyer, Admit::Admitted(_)), "who has a unit comes in though all is sold: {buyer:?}");
}

#[tokio::test]
async fn the_last_win_of_a_round_is_a_moment() {
    // One unit in each lane.
    let lanes = Lanes::start(LANES.into(), LANES).await;
    for index in [2, 0] {
        lanes.buy(&lanes.user_of(index, 0)).await;
    }
    let counters = lanes.stock().counters().await.unwrap().unwrap();
    assert_eq!(Some(counters.last_won_at_ms), counters.lanes.iter().map(|lane| lane.last_won_at_ms).max());
    assert_eq!(counters.last_won_at_ms, counters.lanes[0].last_won_at_ms, "lane 0 had the last win");
    assert!(counters.last_won_at_ms <= clock().plus_s(1), "times of different lanes are not added up");
}

/// Units keep moving between lanes during reads. There is always one free.
#[tokio::test(flavor = "multi_thread")]
async fn counters_never_say_that_nothing_is_left_while_a_unit_is() {
    // One unit in each lane.
    let lanes = Lanes::start(LANES.into(), LANES).await;
    for index in 1..LANES {
        lanes.buy(&lanes.user_of(index, 0)).await;
    }
    let (stock, id) = (lanes.server.server.clone(), lanes.id.clone());
    let moving = tokio::spawn(async move {
        let round = stock.round_in(&id, LANES);
        for step in 0..600u16 {
            let (from, to) = (Lane::new(step % LANES, LANES), Lane::new((step + 1) % LANES, LANES));
            let Donated::Units(transfer) = round.donate(from, to, DonateFor::Reseat).await.unwrap() else {
                panic!("{step}")
            };
            assert!(round.finish(&transfer).await.unwrap());
        }
    });
    let mut readings = 0;
    while !moving.is_finished() {
        let known = lanes.stock().partial_counters().await;
        if let Ok(known) = known {
            assert_ne!(known.counters.unwrap().free(), 0, "after {readings} readings");
            readings += 1;
        }
    }
    moving.await.unwrap();
    assert!(readings > 0);
}
