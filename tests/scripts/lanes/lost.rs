//! Lanes that Redis loses, or that do not answer, while units move.

use stock::StockError;

use super::{BUYER, Lanes, wait};
use crate::prelude::*;

/// A process with a lane's transfer freezes. Redis loses the lane, others load it with the transfer's units, and then the process goes on.
#[tokio::test]
async fn what_a_lost_lane_gave_comes_too_late() {
    for again in [false, true] {
        let mut lanes = Lanes::start(9, 3).await;
        let late = lanes.give(0, 1).await;
        let to_the_lost = lanes.give(2, 0).await;
        lanes.lose(0).await;
        assert!(lanes.load(&[]).await.unwrap());
        if again {
            lanes.lose(0).await;
            assert!(lanes.load(&[]).await.unwrap());
        }
        assert_eq!(lanes.places().await.0.len(), 9);
        let buyer = lanes.user_of(1, 0);
        let won = lanes.stock().accept(&late, fresh_id(&lanes.id).uuid, &buyer, BuyerClass::EVERYONE).await.unwrap();
        assert!(matches!(won, Reserve::Reserved(_)));
        for transfer in [&late, &to_the_lost] {
            assert!(lanes.stock().finish(transfer).await.unwrap());
            assert_eq!(lanes.places().await.0.len(), 8);
        }
        // Its transfers from now on count.
        let next = lanes.give(0, 1).await;
        assert!(next.id > late.id);
        assert!(lanes.stock().finish(&next).await.unwrap());
        assert_eq!(lanes.places().await.0.len(), 8);
        assert!(lanes.short().await.is_empty());
    }
}

#[tokio::test]
async fn what_a_lost_lane_gave_to_a_lost_lane_comes_too_late() {
    for lost in [vec![0, 1], vec![0, 1, 2]] {
        let mut lanes = Lanes::start(9, 3).await;
        let late = lanes.give(0, 1).await;
        for index in &lost {
            lanes.lose(*index).await;
        }
        assert!(lanes.load(&[]).await.unwrap());
        assert!(lanes.stock().take_in(&late).await.unwrap());
        assert_eq!(lanes.places().await.0.len(), 9, "{lost:?}");
        assert!(lanes.stock().finish(&lanes.give(0, 1).await).await.unwrap());
        assert_eq!(lanes.places().await.0.len(), 9, "{lost:?}");
    }
}

/// Slower loads change nothing, or fail.
#[tokio::test]
async fn many_load_the_lost_lanes_beside_each_other() {
    let mut lanes = Lanes::start(40, 4).await;
    // Each number of lost lanes twice.
    for round in 0..6u16 {
        // Units of each lane are in others.
        for (from, to) in [(0, 1), (1, 2), (2, 3), (3, 0)] {
            lanes.stock().finish(&lanes.give(from, to).await).await.unwrap();
        }
        for index in 0..=round % 3 {
            lanes.lose((index + round) % 4).await;
        }
        let stocks: Vec<_> = (0..3).map(|_| lanes.another_process()).collect();
        let loads: Vec<RoundLoad> = stocks.iter().map(|_| lanes.next_load(&[])).collect();
        let loading = stocks.iter().zip(&loads).map(|(stock, load)| stock.round_in(&lanes.id, 4).load_lanes(load, 40));
        for loaded in join_all(loading).await {
            assert!(matches!(loaded, Ok(_) | Err(StockError::OnTheWay)), "{loaded:?}");
        }
        while !lanes.stock().is_loaded().await.unwrap() {
            let _overtaken = lanes.load(&[]).await;
        }
        // Where loads disturbed each other, a lane lacks units until an audit finds them.
        if !lanes.short().await.is_empty() {
            lanes.repair().await;
            lanes.stock().note_complete(&lanes.stock().view().await.unwrap().unwrap().counters).await.unwrap();
        }
        assert_eq!(lanes.places().await.0.len(), 40);
    }
}

/// Units keep moving between two lanes while a third is loaded. Its own are in no place: nobody may hear "sold out".
#[tokio::test]
async fn a_load_that_never_holds_still_says_what_it_lacks() {
    let mut lanes = Lanes::start(9, 3).await;
    let mover = lanes.another_process();
    let id = lanes.id.clone();
    for attempt in 0.. {
        assert!(attempt < 100, "the lanes held still each time");
        lanes.lose(0).await;
        let load = lanes.next_load(&[]);
        let loading = std::pin::pin!(lanes.stock().load_lanes(&load, 9));
        let moving = std::pin::pin!(async {
            let round = mover.round_in(&id, 3);
            loop {
                for (from, to) in [(1, 2), (2, 1)] {
                    let given = round.donate(Lane::new(from, 3), Lane::new(to, 3), BUYER).await.unwrap();
                    let Donated::Units(transfer) = given else { panic!("{given:?}") };
                    assert!(round.finish(&transfer).await.unwrap());
                }
            }
        });
        match futures::future::select(loading, moving).await {
            futures::future::Either::Left((loaded, _)) => assert!(loaded.unwrap()),
            futures::future::Either::Right(_) => unreachable!("units move for ever"),
        }
        for transfer in lanes.stock().open_transfers().await.unwrap() {
            lanes.stock().finish(&transfer).await.unwrap();
        }
        if lanes.short().await == [0] {
            break;
        }
    }
    let mut reservations = Vec::new();
    for number in 0..6 {
        reservations.push(lanes.buy(&lanes.user_of(0, number)).await);
    }
    let (late, class) = (lanes.user_of(1, 0), BuyerClass::EVERYONE);
    let asked = lanes.stock().reserve(fresh_id(&lanes.id).uuid, &late, class).await;
    assert!(matches!(asked, Err(StockError::OnTheWay)), "{asked:?}");
    let reseated = lanes.stock().reseat(&reservations[0], stock::Refused::Unit).await;
    assert!(matches!(reseated, Err(StockError::OnTheWay)), "{reseated:?}");

    assert_eq!(lanes.repair().await, 3);
    wait(&mut lanes).await;
    reservations.push(lanes.buy(&late).await);
    let view = lanes.stock().view().await.unwrap().unwrap();
    assert!(view.held_still && view.counters.short.is_some());
    lanes.stock().note_complete(&view.counters).await.unwrap();
    assert!(lanes.short().await.is_empty());
    for number in 1..3 {
        reservations.push(lanes.buy(&lanes.user_of(1, number)).await);
    }
    assert!(matches!(lanes.reserve(&lanes.user_of(2, 0)).await, Reserve::SoldOut(_)));
    assert_eq!(lanes.stock().reseat(&reservations[0], stock::Refused::Unit).await.unwrap(), Reseated::NoUnit);
    lanes.places().await;
}

/// A shard does not answer while another shard's lane is loaded. Once it answers, the units of both are repaired.
#[tokio::test]
async fn a_lane_is_loaded_while_another_one_does_not_answer() {
    let mut lanes = Lanes::start(12, 3).await;
    let late = lanes.give(0, 2).await;
    lanes.silence(2).await;
    lanes.lose(0).await;
    assert!(!lanes.stock().is_loaded().await.unwrap());
    assert!(lanes.load(&[]).await.unwrap());
    assert!(lanes.stock().is_loaded().await.is_err() || lanes.stock().is_loaded().await.unwrap());
    assert_eq!(lanes.buy(&lanes.user_of(1, 0)).await.lane, lanes.lane(1));
    let view = lanes.stock().view_of_reachable().await.unwrap().unwrap();
    assert_eq!((view.unreachable, view.held_still), (vec![lanes.lane(2)], false));
    assert!(lanes.stock().view().await.is_err());

    lanes.wake(2).await;
    assert_eq!(lanes.short().await, [0]);
    assert_eq!(lanes.repair().await, 4);
    lanes.stock().note_complete(&lanes.stock().view().await.unwrap().unwrap().counters).await.unwrap();
    assert_eq!(lanes.places().await.0.len(), 11);
    assert!(lanes.stock().take_in(&late).await.unwrap());
    assert_eq!(lanes.places().await.0.len(), 11, "its units were given back before");
}

/// Two transfers were left half done. The one to a lane that does not answer waits; the other one's unit is sold at once.
#[tokio::test]
async fn a_lane_that_is_away_keeps_nothing_from_the_others() {
    // The order of looking at the two is random.
    for _ in 0..4 {
        let lanes = Lanes::start(9, 3).await;
        lanes.buy(&lanes.user_of(0, 0)).await;
        for number in 0..3 {
            lanes.buy(&lanes.user_of(2, number)).await;
        }
        lanes.give(0, 1).await;
        let left = lanes.give(0, 2).await;
        lanes.silence(1).await;
        let reservation = lanes.buy(&lanes.user_of(2, 3)).await;
        assert!(left.ranges.contains(&(reservation.unit.0..=reservation.unit.0)), "{reservation:?}");
        let late = lanes.stock().reserve(fresh_id(&lanes.id).uuid, &lanes.user_of(2, 4), BuyerClass::EVERYONE).await;
        assert!(matches!(&late, Err(error) if error.is_away()), "{late:?}");
        lanes.wake(1).await;
        assert_eq!(lanes.places().await.0.len(), 4);
    }
}

/// After a load a lane's transfer ids are ahead of the clocks. A replica takes over that missed one, and gives others.
#[tokio::test]
async fn what_a_lane_gives_after_a_failover_is_not_taken_for_what_it_gave_before() {
    let mut lanes = Lanes::start(2, 2).await;
    lanes.lose(0).await;
    assert!(lanes.load(&[]).await.unwrap());
    let more = Round { version: 2, ..Round::new(lanes.id.clone(), Terms { total: 4, ..lanes.terms.clone() }) };
    lanes.stock().amend(&more).await.unwrap();
    let replica = lanes.replicate().await;
    let sold: BTreeSet<u32> = [lanes.buy(&lanes.user_of(1, 0)).await, lanes.buy(&lanes.user_of(1, 1)).await]
        .map(|reservation| reservation.unit.0)
        .into();
    lanes.fail_over(0, &replica).await;
    let view = lanes.stock().view().await.unwrap().unwrap();
    let twice: Vec<Unit> = view.free.into_iter().flatten().filter(|unit| sold.contains(unit)).map(Unit).collect();
    lanes.stock().exclude(&twice, &view.counters).await.unwrap();
    wait(&mut lanes).await;
    for number in 2..4 {
        lanes.buy(&lanes.user_of(1, number)).await;
    }
    assert_eq!(lanes.places().await.0.len(), 0);
}

/// A lane took units of another one before it was lost, and the process that brought them freezes. While it is loaded the other one
/// does not answer; its ids are ahead of the clocks, since it was loaded a moment ago.
#[tokio::test]
async fn what_a_lane_that_is_away_gave_before_comes_too_late() {
    let mut lanes = Lanes::start(12, 3).await;
    lanes.lose(2).await;
    assert!(lanes.load(&[]).await.unwrap());
    let late = lanes.give(2, 0).await;
    assert!(lanes.stock().finish(&late).await.unwrap());
    let mut sold = Vec::new();
    for number in 0..6 {
        let reservation = lanes.buy(&lanes.user_of(0, number)).await;
        assert!(lanes.stock().confirm(&reservation).await.unwrap());
        sold.push(reservation);
    }
    lanes.silence(2).await;
    lanes.lose(0).await;
    assert!(lanes.load(&sold).await.unwrap());
    lanes.wake(2).await;
    assert!(lanes.stock().take_in(&late).await.unwrap());
    assert_eq!(lanes.repair().await, 0);
    assert_eq!(lanes.places().await.0.len(), 6);
    // What it gives from now on counts.
    assert!(lanes.stock().finish(&lanes.give(2, 0).await).await.unwrap());
    assert_eq!(lanes.places().await.0.len(), 6);
}
