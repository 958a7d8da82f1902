//! Admission and counters of a round with several lanes.

use stock::RoundStock;

use crate::prelude::*;
use crate::sequences::clock;

const LANES: u16 = 4;
/// One, and then one an hour.
const ONE: GcraLimit = GcraLimit { emission_interval_us: 3_600_000_000, burst: 1 };
const FREE: GcraLimit = GcraLimit { emission_interval_us: 1, burst: 1000 };

/// A round with one unit in each lane.
async fn start() -> TestRound {
    let server = TestRound::start_empty();
    let terms = Terms { lanes: LANES, ..terms(LANES.into(), 20) };
    let (epoch_ms, taken, blocked) = (EpochMs(1), Vec::new(), Vec::new());
    let load = RoundLoad { terms, paused: false, version: 1, epoch_ms, taken, blocked };
    assert!(server.server.round_in(&server.id, LANES).load_lanes(&load, LANES.into()).await.unwrap());
    server
}

fn user_of(index: u16, number: usize) -> UserId {
    let users = (0..).map(|at| user(format!("user-{at}")));
    users.filter(|user| Lane::home_of(user, LANES).index() == index).nth(number).unwrap()
}

async fn buy(round: RoundStock<'_>, id: &RoundId, user: &UserId) {
    let reserved = round.reserve(fresh_id(id).uuid, user, BuyerClass::EVERYONE).await.unwrap();
    assert!(matches!(reserved, Reserve::Reserved(_)), "{reserved:?}");
}

async fn admit(round: RoundStock<'_>, user: &UserId, per_user: GcraLimit) -> Admit {
    let applicant = Applicant { user, ip: "192.0.2.1", per_user, per_ip: FREE };
    let (id, class) = (Uuid::now_v7(), BuyerClass::EVERYONE);
    round.admit(&AdmitRequest { applicant, id, answer: None, per_sale: None, class }).await.unwrap()
}

/// A user of an empty lane is admitted for another lane's units, and charged once for the two calls that this takes.
#[tokio::test]
async fn who_is_let_in_for_another_lane_is_charged_once() {
    let server = start().await;
    let round = server.server.round_in(&server.id, LANES);
    buy(round, &server.id, &user_of(0, 0)).await;
    // A process without any knowledge of the lanes.
    let door = Stock::new(&server.valkey.url()).unwrap();
    let door = door.round_in(&server.id, LANES);
    let late = user_of(0, 1);
    assert!(matches!(admit(door, &late, ONE).await, Admit::Admitted(_)));
    assert!(matches!(admit(door, &late, ONE).await, Admit::RateLimited(_)), "the user's limit is used up");
    let others = join_all((2..20).map(async |number| admit(door, &user_of(0, number), ONE).await)).await;
    assert!(others.iter().all(|admit| matches!(admit, Admit::Admitted(_))), "{others:?}");
    for index in 1..LANES {
        buy(round, &server.id, &user_of(index, 0)).await;
    }
    let door = Stock::new(&server.valkey.url()).unwrap();
    let door = door.round_in(&server.id, LANES);
    let late = join_all((20..40).map(async |number| admit(door, &user_of(0, number), ONE).await)).await;
    assert!(late.iter().all(|admit| matches!(admit, Admit::SoldOut(_))), "{late:?}");
    for index in 1..LANES {
        let late = admit(door, &user_of(index, 9), ONE).await;
        assert!(matches!(late, Admit::SoldOut(_)), "lane {index}: {late:?}");
    }
    let buyer = admit(door, &user_of(1, 0), ONE).await;
    assert!(matches!(buyer, Admit::Admitted(_)), "who has a unit comes in though all is sold: {buyer:?}");
}

#[tokio::test]
async fn the_last_win_of_a_round_is_a_moment() {
    let server = start().await;
    let round = server.server.round_in(&server.id, LANES);
    for index in [2, 0] {
        buy(round, &server.id, &user_of(index, 0)).await;
    }
    let counters = round.counters().await.unwrap().unwrap();
    let of_lanes = counters.lanes.iter().map(|lane| lane.last_won_at_ms).max();
    assert_eq!(Some(counters.last_won_at_ms), of_lanes);
    assert_eq!(counters.last_won_at_ms, counters.lanes[0].last_won_at_ms, "lane 0 had the last win");
    assert!(counters.last_won_at_ms <= clock().plus_s(1), "times of different lanes are not added up");
}

/// Units keep moving between lanes during reads. There is always one free.
#[tokio::test(flavor = "multi_thread")]
async fn counters_never_say_that_nothing_is_left_while_a_unit_is() {
    let server = start().await;
    let round = server.server.round_in(&server.id, LANES);
    for index in 1..LANES {
        buy(round, &server.id, &user_of(index, 0)).await;
    }
    let (stock, id) = (server.server.clone(), server.id.clone());
    let moving = tokio::spawn(async move {
        let round = stock.round_in(&id, LANES);
        let reseat = stock::DonateFor::Reseat;
        for step in 0..600u16 {
            let (from, to) = (Lane::new(step % LANES, LANES), Lane::new((step + 1) % LANES, LANES));
            let stock::Donated::Units(transfer) = round.donate(from, to, reseat).await.unwrap() else {
                panic!("{step}")
            };
            assert!(round.finish(&transfer).await.unwrap());
        }
    });
    let mut readings = 0;
    while !moving.is_finished() {
        let known = round.partial_counters().await;
        if let Ok(known) = known {
            assert_ne!(known.counters.unwrap().free(), 0, "after {readings} readings");
            readings += 1;
        }
    }
    moving.await.unwrap();
    assert!(readings > 0);
}
