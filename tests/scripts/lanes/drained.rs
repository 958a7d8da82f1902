//! Rounds that sell to their last unit.

use tests::round;

use super::reserve_at_last;
use crate::prelude::*;

/// A hundred rounds of 10,000 units in eight lanes, with 64 buyers at a time in four processes, half of them at home in one lane:
/// everything is sold, and no buyer is refused before that. Prints how many transfers that took.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "takes minutes: a million units"]
async fn a_hundred_rounds_are_sold_to_the_last_unit() {
    const UNITS: u32 = 10_000;
    const LANES: u16 = 8;
    const AT_ONCE: usize = 64;
    let server = TestRound::start_empty();
    let stocks: Vec<_> = (0..4).map(|_| stock::Stock::new(&server.valkey.url()).unwrap()).collect();
    let (mut all_transfers, mut most) = (0, 0);
    for number in 0..100 {
        let (id, terms) = (round("lamp", number + 1), Terms { lanes: LANES, ..terms(UNITS, 1) });
        let (epoch_ms, taken) = (EpochMs(1), Vec::new());
        let load = RoundLoad { epoch_ms, taken, ..unsold(terms) };
        assert!(stocks[0].round_in(&id, LANES).load_lanes(&load, UNITS).await.unwrap());
        let skewed = (number % u32::from(LANES)) as u16;
        let sold = std::sync::atomic::AtomicU32::new(0);
        let units = std::sync::Mutex::new(BTreeSet::new());
        let buyers = (0..AT_ONCE).map(|who| {
            let (stock, id, sold, units) = (&stocks[who % stocks.len()], &id, &sold, &units);
            async move {
                for at in 0.. {
                    let candidates = (0..).map(|k| user(format!("user-{who}-{at}-{k}")));
                    let is_one = |user: &UserId| who % 2 == 0 || Lane::home_of(user, LANES).index() == skewed;
                    let buyer = candidates.into_iter().find(is_one).unwrap();
                    let uuid = fresh_id(id).uuid;
                    match reserve_at_last(stock.round_in(id, LANES), uuid, &buyer).await {
                        Reserve::Reserved(reservation) => {
                            assert!(units.lock().unwrap().insert(reservation.unit), "{:?} twice", reservation.unit);
                            sold.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
                        }
                        Reserve::SoldOut(_) => return,
                        other => panic!("{other:?}"),
                    }
                }
            }
        });
        join_all(buyers).await;
        // Only after all buyers have stopped, since a win counts once its buyer hears of it.
        let (sold, units) = (sold.into_inner(), units.into_inner().unwrap().len());
        assert_eq!((sold, units), (UNITS, UNITS as usize), "round {number}");
        let counters = stocks[0].round_in(&id, LANES).counters().await.unwrap().unwrap();
        assert_eq!(counters.free(), 0);
        let transfers = stocks[0].round_in(&id, LANES).transfers_given().await.unwrap();
        (all_transfers, most) = (all_transfers + transfers, most.max(transfers));
        let mut redis = server.redis().await;
        let _: () = redis::cmd("FLUSHALL").query_async(&mut redis).await.unwrap();
    }
    println!("100 rounds of {UNITS} units in {LANES} lanes: {all_transfers} transfers, at most {most} in a round");
}
