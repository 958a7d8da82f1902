//! Lanes that disagree, or that do not answer.

use super::Lanes;
use crate::prelude::*;

/// A lane's own returned units are in cooldown, but not those that another lane sells.
#[tokio::test]
async fn a_lane_in_cooldown_sells_what_other_lanes_have() {
    let lanes = Lanes::start(4, 2).await;
    let mut reservations = Vec::new();
    for number in 0..2 {
        reservations.push(lanes.buy(&lanes.user_of(0, number)).await);
    }
    lanes.stock().release(&reservations[0], None, false).await.unwrap();
    lanes.cooldown_for_an_hour(0).await;
    assert_eq!(lanes.stock().counters().await.unwrap().unwrap().lanes[0].free(), 1);
    for number in 2..5 {
        lanes.buy(&lanes.user_of(0, number)).await;
    }
    assert!(matches!(lanes.reserve(&lanes.user_of(0, 5)).await, Reserve::SoldOut(_)));
    lanes.places().await;
}

/// Without the lane it is unknown whether a unit is left, so the answer has to be that the sale is unknown.
#[tokio::test]
async fn a_reservation_of_a_round_that_lost_a_lane_is_told_so() {
    let lanes = Lanes::start(2, 2).await;
    let reservation = lanes.buy(&lanes.user_of(0, 0)).await;
    lanes.buy(&lanes.user_of(1, 0)).await;
    lanes.lose(1).await;
    assert_eq!(lanes.stock().reseat(&reservation, stock::Refused::Unit).await.unwrap(), Reseated::UnknownSale);
}

/// Lanes learn of new terms one after the other; here only one of them has.
#[tokio::test]
async fn a_lane_that_is_closed_does_not_answer_for_the_others() {
    for paused in [false, true] {
        let lanes = Lanes::start(9, 3).await;
        for number in 0..3 {
            assert_eq!(lanes.buy(&lanes.user_of(0, number)).await.unit.0, 1 + number as u32);
        }
        // The lane with the most units is asked first.
        lanes.buy(&lanes.user_of(2, 0)).await;
        let terms = Terms { closes_at_ms: EpochMs(lanes.terms.opens_at_ms.0 + 1), ..lanes.terms.clone() };
        let terms = if paused { lanes.terms.clone() } else { terms };
        let other = Round { version: 2, paused, ..Round::new(lanes.id.clone(), terms) };
        lanes.stock().each_lane().nth(1).unwrap().amend(&other).await.unwrap();
        assert_eq!(lanes.buy(&lanes.user_of(0, 3)).await.unit.0, 9);
        lanes.buy(&lanes.user_of(2, 1)).await;
        assert_eq!(lanes.reserve(&lanes.user_of(0, 4)).await, if paused { Reserve::Paused } else { Reserve::Closed });
    }
}

/// A unit was free in two lanes when they were read, but has been in only one since then.
#[tokio::test]
async fn units_are_excluded_only_as_long_as_none_has_moved() {
    let lanes = Lanes::start(6, 2).await;
    let view = lanes.stock().view().await.unwrap().unwrap();
    assert!(lanes.stock().finish(&lanes.give(0, 1).await).await.unwrap());
    lanes.stock().exclude(&[Unit(3), Unit(5)], &view.counters).await.unwrap();
    assert_eq!(lanes.places().await.0.len(), 6);
}

/// The order has ended, and another lane has its unit.
#[tokio::test]
async fn an_order_that_ended_takes_no_unit_out() {
    let lanes = Lanes::start(4, 2).await;
    let reservation = lanes.buy(&lanes.user_of(0, 0)).await;
    lanes.stock().release(&reservation, None, false).await.unwrap();
    let transfer = loop {
        let transfer = lanes.give_for(0, 1, DonateFor::Reseat).await;
        assert!(lanes.stock().finish(&transfer).await.unwrap());
        if transfer.ranges.contains(&(reservation.unit.0..=reservation.unit.0)) {
            break transfer;
        }
    };
    assert_eq!(transfer.to, lanes.lane(1));
    assert!(!lanes.stock().adopt(&reservation).await.unwrap());
    assert_eq!(lanes.places().await.0.len(), 4);
}

#[tokio::test]
async fn blocks_are_noted_beside_a_lane_that_does_not_answer() {
    let lanes = Lanes::start(8, 4).await;
    let until = EpochMs(lanes.terms.closes_at_ms.0);
    let blocked: Vec<_> = (0..4).map(|index| (lanes.user_of(index, 0), Some(until))).collect();
    lanes.silence(0).await;
    assert!(lanes.stock().note_blocks(&blocked).await.is_err());
    lanes.wake(0).await;
    assert_eq!(lanes.stock().noted_blocks().await.unwrap().len(), 3);
    for (index, (user, _)) in blocked.iter().enumerate().skip(1) {
        assert_eq!(lanes.reserve(user).await, Reserve::Blocked, "lane {index}");
    }
    assert!(lanes.stock().note_blocks(&blocked).await.unwrap());
    assert_eq!(lanes.reserve(&blocked[0].0).await, Reserve::Blocked);
}

/// Reconciliation finishes what it can see.
#[tokio::test]
async fn open_transfers_are_found_beside_a_lane_that_does_not_answer() {
    let lanes = Lanes::start(9, 3).await;
    let stock = lanes.stock();
    let (first, second) = (lanes.give(0, 1).await, lanes.give(2, 1).await);
    assert_eq!(stock.open_transfers().await.unwrap(), [first.clone(), second]);
    lanes.silence(2).await;
    assert_eq!(stock.open_transfers().await.unwrap(), [first]);
}

#[tokio::test]
async fn buyers_of_all_lanes_are_counted() {
    let lanes = Lanes::start(9, 3).await;
    for (index, number) in [(0, 0), (0, 1), (1, 0)] {
        lanes.buy(&lanes.user_of(index, number)).await;
    }
    assert_eq!(lanes.stock().buyers_count().await.unwrap(), 3);
}

/// A throttled sale goes on with another shard's lane, and stays with it while the first one may be coming and going.
#[tokio::test]
async fn leases_come_from_the_last_lane_that_answered() {
    let lanes = Lanes::start(8, 4).await;
    let mut redis = lanes.server.redis().await;
    let mut lease_from = async |silent: &[u16]| {
        let tags = (0..4).map(|index| lanes.stock().tag(lanes.lane(index)));
        let keys: Vec<String> = tags.map(|tag| format!("lease:{tag}:reserve")).collect();
        // A count is gone after two seconds, perhaps before it is looked at.
        loop {
            let _: u32 = redis::cmd("DEL").arg(&keys).query_async(&mut redis).await.unwrap();
            for index in silent {
                let mut push = redis::cmd("LPUSH");
                let _: u32 = push.arg(&keys[usize::from(*index)]).arg("silent").query_async(&mut redis).await.unwrap();
            }
            assert_eq!(lanes.stock().lease("reserve", 10, 4).await.unwrap().count, 4);
            for (index, key) in (0..4).zip(&keys) {
                let kind: String = redis::cmd("TYPE").arg(key).query_async(&mut redis).await.unwrap();
                if !silent.contains(&index) && kind != "none" {
                    return index;
                }
            }
        }
    };
    assert_eq!(lease_from(&[]).await, 0);
    let began = std::time::Instant::now();
    assert_eq!(lease_from(&[0]).await, 2);
    let again = lease_from(&[]).await;
    assert!(again == 2 || began.elapsed() >= Duration::from_secs(30), "for half a minute, and not {again}");
    assert_eq!(lease_from(&[0, 2]).await, 3, "the last lane");
}
