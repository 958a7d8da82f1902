use std::collections::HashSet;
use std::sync::Arc;

use crate::prelude::*;

const CLIENTS: usize = 64;

/// 64 clients, each with its own connection, and many more requests than units. Redis forgets its scripts again and
/// again meanwhile, as a replica that takes over may not have them.
#[tokio::test(flavor = "multi_thread")]
async fn a_hundred_units_for_64_clients_three_each() {
    let round = Arc::new(TestRound::start(terms(100, 3)).await);
    let clients = (0..CLIENTS).map(|client| {
        let round = Arc::clone(&round);
        tokio::spawn(async move {
            let stock = Stock::at(&round.valkey.url(), runtime::Clock::system().patient()).unwrap();
            let mut redis = round.redis().await;
            let mut won = Vec::new();
            for attempt in 0..30 {
                if attempt % 4 == 0 {
                    let () = redis::cmd("SCRIPT").arg("FLUSH").query_async(&mut redis).await.unwrap();
                }
                // Fewer users than requests, so that clients also compete for one user's slots.
                let user = user((client * 7 + attempt) % 40);
                if let Reserve::Reserved(reservation) =
                    stock.round(&round.id).reserve(Uuid::now_v7(), &user, sale::BuyerClass::EVERYONE).await.unwrap()
                {
                    assert!(stock.round(&round.id).confirm(&reservation).await.unwrap());
                    won.push(reservation);
                }
            }
            won
        })
    });
    let won: Vec<_> = join_all(clients).await.into_iter().flat_map(Result::unwrap).collect();
    let units: HashSet<_> = won.iter().map(|reservation| reservation.unit).collect();
    assert_eq!((won.len(), units.len()), (100, 100));
    assert!(units.iter().all(|unit| (1..=100).contains(&unit.0)));
    let slots: HashSet<_> = won.iter().map(|reservation| (&reservation.user, reservation.slot)).collect();
    assert_eq!(slots.len(), 100, "no slot is used twice");
    assert!(won.iter().all(|reservation| reservation.slot.0 < 3));
    assert_eq!(round.view().await.counters.free(), 0);
}
