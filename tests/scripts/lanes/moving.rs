//! Units move between the lanes of a round, and none is sold twice or withheld from a buyer.

use stock::Transfer;

use super::{BUYER, Lanes, reserve_at_last, wait};
use crate::prelude::*;

#[tokio::test]
async fn each_lane_has_its_part_and_sells_it_for_one_call() {
    let mut lanes = Lanes::start(10, 3).await;
    assert!(!lanes.load(&[]).await.unwrap(), "loaded once");
    let counters = lanes.stock().counters().await.unwrap().unwrap();
    assert_eq!((counters.total(), counters.free()), (10, 10));
    let parts: Vec<(u32, u32)> = counters.lanes.iter().map(|lane| (lane.next_unit, lane.last_unit)).collect();
    assert_eq!(parts, [(1, 3), (4, 6), (7, 10)]);
    for index in 0..3 {
        let buyer = lanes.user_of(index, 0);
        let reservation = lanes.buy(&buyer).await;
        assert_eq!((reservation.lane, reservation.unit.0), (lanes.lane(index), parts[usize::from(index)].0));
        let found = lanes.stock().reservation(reservation.id.uuid, &buyer).await.unwrap().unwrap();
        assert_eq!(found.reservation, reservation);
        assert!(lanes.stock().confirm(&reservation).await.unwrap());
    }
    assert_eq!(lanes.places().await.0.len(), 7);
}

/// Many users at once, most of them at home in one lane.
#[tokio::test]
async fn nobody_is_refused_while_a_unit_is_free() {
    const UNITS: u32 = 400;
    let lanes = Lanes::start(UNITS, 8).await;
    // Separate stocks, as in separate processes.
    let stocks: Vec<_> = (0..4).map(|_| stock::Stock::new(&lanes.server.valkey.url()).unwrap()).collect();
    let buyers: Vec<UserId> = (0..2 * UNITS as usize)
        .map(|number| if number % 4 == 0 { user(format!("any-{number}")) } else { lanes.user_of(5, number) })
        .collect();
    let asked = buyers.iter().enumerate().map(|(number, buyer)| {
        let (id, round) = (fresh_id(&lanes.id), stocks[number % stocks.len()].round_in(&lanes.id, 8));
        reserve_at_last(round, id.uuid, buyer)
    });
    let answers = join_all(asked).await;
    let won = answers.iter().filter(|answer| matches!(answer, Reserve::Reserved(_))).count();
    let refused = answers.iter().filter(|answer| matches!(answer, Reserve::SoldOut(_))).count();
    assert_eq!((won, refused), (UNITS as usize, UNITS as usize));
    let (free, held) = lanes.places().await;
    assert_eq!((free.len(), held.len()), (0, UNITS as usize));
}

#[tokio::test]
async fn a_transfer_is_accepted_once_however_often_it_comes() {
    let lanes = Lanes::start(16, 2).await;
    let (stock, buyer) = (lanes.stock(), lanes.user_of(1, 0));
    let first = lanes.give(0, 1).await;
    assert_eq!(first.ranges, [5..=8], "half of the units, from the end");
    assert_eq!(lanes.give(0, 1).await, first, "only one transfer is open at a time");
    lanes.places().await;
    for _ in 0..2 {
        assert!(stock.take_in(&first).await.unwrap());
        lanes.places().await;
    }
    // A repeated request gets no second unit.
    let id = fresh_id(&lanes.id).uuid;
    assert!(matches!(stock.accept(&first, id, &buyer, BuyerClass::EVERYONE).await.unwrap(), Reserve::Reserved(_)));
    assert!(matches!(stock.accept(&first, id, &buyer, BuyerClass::EVERYONE).await.unwrap(), Reserve::Replayed(_)));
    lanes.places().await;
    for _ in 0..2 {
        stock.close_transfer(&first).await.unwrap();
        lanes.places().await;
    }
    let second = lanes.give(0, 1).await;
    assert!(second.id > first.id && second.ranges == [3..=4]);
    // A late call belongs to a finished transfer.
    stock.close_transfer(&first).await.unwrap();
    assert!(stock.take_in(&second).await.unwrap());
    assert!(stock.take_in(&first).await.unwrap());
    lanes.places().await;
    stock.close_transfer(&second).await.unwrap();
    lanes.places().await;
}

/// A process died between the two lanes. The next buyer gets a unit of its transfer, from whatever home lane.
#[tokio::test]
async fn what_a_dead_process_left_on_the_way_is_sold() {
    for (from, to, buyer) in [(0, 1, 1), (0, 1, 0), (0, 1, 2)] {
        let lanes = Lanes::start(3, 3).await;
        for index in 1..3 {
            lanes.buy(&lanes.user_of(index, 0)).await;
        }
        assert_eq!(lanes.give(from, to).await.ranges, [1..=1]);
        let reservation = lanes.buy(&lanes.user_of(buyer, 1)).await;
        assert_eq!((reservation.unit, reservation.lane), (Unit(1), lanes.lane(buyer)));
        assert!(matches!(lanes.reserve(&lanes.user_of(2, 2)).await, Reserve::SoldOut(_)));
        lanes.places().await;
    }
}

/// A reservation needs another unit, its process moves one in cooldown, and dies on the way. The unit stays in cooldown
/// for all others.
#[tokio::test]
async fn what_is_in_cooldown_stays_so_on_the_way() {
    let lanes = Lanes::start(1, 2).await;
    let reservation = lanes.buy(&lanes.user_of(1, 0)).await;
    let late = lanes.user_of(0, 0);
    assert!(matches!(lanes.reserve(&late).await, Reserve::SoldOut(_)));
    lanes.stock().release(&reservation, None, false).await.unwrap();
    lanes.cooldown_for_an_hour(1).await;
    let transfer = lanes.give_for(1, 0, DonateFor::Reseat).await;
    assert!(transfer.in_cooldown);
    let before = clock();
    assert!(lanes.stock().finish(&transfer).await.unwrap());
    let counters = lanes.stock().counters().await.unwrap().unwrap();
    assert!(counters.lanes[0].free() == 1 && counters.lanes[0].cooldown_until_ms.0 >= before.0 + 1500);
    lanes.cooldown_for_an_hour(0).await;
    assert!(matches!(lanes.reserve(&late).await, Reserve::SoldOut(_)));
}

/// A unit that comes back is not sold before every process has forgotten that the round was sold out.
#[tokio::test]
async fn what_comes_back_is_in_cooldown_for_every_lane() {
    let mut lanes = Lanes::start(2, 2).await;
    let first = lanes.buy(&lanes.user_of(0, 0)).await;
    lanes.buy(&lanes.user_of(1, 0)).await;
    let late = lanes.user_of(1, 1);
    let Reserve::SoldOut(told) = lanes.reserve(&late).await else { panic!("it is sold out") };
    assert!(told.lasts <= Duration::from_millis(1500));
    let before = clock();
    lanes.stock().release(&first, None, false).await.unwrap();
    let counters = lanes.stock().counters().await.unwrap().unwrap();
    assert!(counters.lanes[0].cooldown_until_ms.0 >= before.0 + 1500);
    lanes.cooldown_for_an_hour(0).await;
    let Donated::Nothing(told) = lanes.stock().donate(lanes.lane(0), lanes.lane(1), BUYER).await.unwrap() else {
        panic!("the unit is in cooldown")
    };
    assert!(told.lasts > Duration::ZERO);
    assert!(matches!(lanes.reserve(&late).await, Reserve::SoldOut(_)));
    wait(&mut lanes).await;
    let reservation = lanes.buy(&late).await;
    assert_eq!((reservation.unit, reservation.lane), (first.unit, lanes.lane(1)));
}

/// Lanes learn of versions late, twice, in any order or never.
#[tokio::test]
async fn each_new_unit_is_dealt_once() {
    let mut lanes = Lanes::start(9, 3).await;
    let version = |version, total| {
        let first = Round::new(lanes.id.clone(), Terms { total, ..lanes.terms.clone() });
        Round { version, ..first }
    };
    let (second, third) = (version(2, 20), version(3, 31));
    let stock = lanes.server.server.round_in(&lanes.id, 3);
    for (lane, heard) in stock.each_lane().zip([vec![&second, &third, &second], vec![&third], vec![&second]]) {
        for round in heard {
            lane.amend(round).await.unwrap();
        }
    }
    let counters = stock.counters().await.unwrap().unwrap();
    assert_eq!((counters.total(), counters.free(), counters.version), (31, 31, 2));
    stock.amend(&third).await.unwrap();
    assert_eq!(lanes.places().await.0.len(), 31);
    // One lane is loaded again, by a process that knows of more units than the first lane does.
    lanes.lose(1).await;
    lanes.terms.total = 40;
    assert!(lanes.load(&[]).await.unwrap());
    assert_eq!(lanes.places().await.0.len(), 31);
    lanes.stock().amend(&Round { version: 4, ..Round::new(lanes.id.clone(), lanes.terms.clone()) }).await.unwrap();
    assert_eq!(lanes.places().await.0.len(), 40);
}

#[tokio::test]
async fn all_lanes_are_paused_and_closed() {
    let lanes = Lanes::start(4, 4).await;
    let paused = Round { version: 2, paused: true, ..Round::new(lanes.id.clone(), lanes.terms.clone()) };
    lanes.stock().amend(&paused).await.unwrap();
    assert!(lanes.stock().counters().await.unwrap().unwrap().paused);
    for index in 0..4 {
        assert_eq!(lanes.reserve(&lanes.user_of(index, 0)).await, Reserve::Paused);
    }
    let closed = Terms { closes_at_ms: EpochMs(lanes.terms.opens_at_ms.0 + 1), ..lanes.terms.clone() };
    let closed = Round { version: 3, ..Round::new(lanes.id.clone(), closed) };
    lanes.stock().amend(&closed).await.unwrap();
    for index in 0..4 {
        assert_eq!(lanes.reserve(&lanes.user_of(index, 0)).await, Reserve::Closed);
    }
}

/// A lane without units always answers `sold_out`, but its users hear when the sale opens.
#[tokio::test]
async fn a_lane_without_units_tells_its_users_when_it_opens() {
    let mut lanes = Lanes::start(1, 2).await;
    lanes.lose(0).await;
    lanes.lose(1).await;
    lanes.terms.opens_at_ms = EpochMs(lanes.terms.opens_at_ms.0 + 1_800_000);
    assert!(lanes.load(&[]).await.unwrap());
    for index in 0..2 {
        assert_eq!(lanes.reserve(&lanes.user_of(index, 0)).await, Reserve::NotOpen(lanes.terms.opens_at_ms));
    }
    assert_eq!(lanes.stock().open_transfers().await.unwrap(), []);
}

#[tokio::test]
async fn a_reservation_gets_another_unit_from_any_lane() {
    let lanes = Lanes::start(3, 3).await;
    let reservations = [lanes.buy(&lanes.user_of(0, 0)).await, lanes.buy(&lanes.user_of(1, 0)).await];
    let Reseated::To(reservation) = lanes.stock().reseat(&reservations[0], stock::Refused::Unit).await.unwrap() else {
        panic!("unit 3 is free")
    };
    assert_eq!((reservation.unit, reservation.lane), (Unit(3), lanes.lane(0)));
    let reseat = async |at: usize| lanes.stock().reseat(&reservations[at], stock::Refused::Unit).await.unwrap();
    assert_eq!(reseat(0).await, Reseated::To(reservation), "it keeps that unit");
    assert_eq!(reseat(1).await, Reseated::NoUnit, "no unit is left in any lane");
}

/// An order has a unit that is free in another lane.
#[tokio::test]
async fn the_unit_of_an_adopted_order_is_free_in_no_lane() {
    let lanes = Lanes::start(12, 3).await;
    let buyer = lanes.user_of(2, 0);
    let mut order = tests::fresh_reservation(&lanes.id, &buyer, 2, 0);
    order.lane = lanes.lane(2);
    assert!(lanes.stock().adopt(&order).await.unwrap());
    assert!(!lanes.stock().adopt(&order).await.unwrap());
    let (free, held) = lanes.places().await;
    assert_eq!((free.len(), held), (11, BTreeMap::from([(2, buyer)])));
}

#[tokio::test]
async fn units_that_two_lanes_have_are_taken_out_and_restored() {
    let lanes = Lanes::start(6, 2).await;
    assert_eq!(lanes.stock().view().await.unwrap().unwrap().free_twice(10), []);
    // A transfer that its lane does not know, as after a failover that lost it.
    let (from, to) = (lanes.lane(0), lanes.lane(1));
    let unknown = Transfer { from, to, id: 1 << 52, ranges: vec![2..=3], in_cooldown: false };
    assert!(lanes.stock().take_in(&unknown).await.unwrap());
    let view = lanes.stock().view().await.unwrap().unwrap();
    assert_eq!(view.free_twice(10), [Unit(2), Unit(3)]);
    lanes.stock().exclude(&view.free_twice(10), &view.counters).await.unwrap();
    let view = lanes.stock().view().await.unwrap().unwrap();
    assert_eq!(view.free.iter().cloned().flatten().collect::<BTreeSet<u32>>(), [1, 4, 5, 6].into());
    let nowhere = [Unit(2), Unit(3)];
    assert!(lanes.stock().restore(&nowhere, &view.counters).await.unwrap());
    assert!(!lanes.stock().restore(&nowhere, &view.counters).await.unwrap(), "units have moved since");
    assert_eq!(lanes.places().await.0.len(), 6);
}
