use crate::prelude::*;

#[tokio::test]
async fn every_key_leaves_with_the_round() {
    let (round, reservation) = alice_bought(3, 1).await;
    round.buy(&user("bob")).await;
    round.release(&reservation).await;
    let mut redis = round.redis().await;
    let expires_at = round.view().await.counters.expires_at_ms.0;
    let keys = keys_like(&round, "*").await;
    assert_eq!(keys.len(), 4, "{keys:?}");
    for key in keys {
        let expires: i64 = redis.pexpire_time(&key).await.unwrap();
        assert_eq!(expires, expires_at, "{key}");
    }
}

/// Longer than a function waits, and no longer than a busy machine may hold a server up.
const HELD_UP: Duration = Duration::from_millis(1500);

/// Otherwise tests of the scripts would fail on a busy machine.
#[tokio::test]
async fn a_test_waits_for_a_redis_that_is_held_up() {
    let round = TestRound::start(terms(1, 1)).await;
    let mut redis = round.redis().await;
    round.valkey.stop().unwrap();
    let going_on = async {
        tokio::time::sleep(HELD_UP).await;
        round.valkey.resume().unwrap();
    };
    let alice = user("alice");
    let reserving = round.stock().reserve(Uuid::now_v7(), &alice, sale::BuyerClass::EVERYONE);
    let (answer, asked, ()) = tokio::join!(reserving, redis.exists::<_, bool>("sale:{lamp:1:0}"), going_on);
    assert!(matches!(answer, Ok(Reserve::Reserved(_))), "{answer:?}");
    assert_eq!(asked, Ok(true));
}

/// The old connection is lost. The first call notices and reconnects.
#[tokio::test]
async fn a_redis_that_was_replaced_answers_the_next_call() {
    let mut round = TestRound::start(terms(3, 1)).await;
    round.buy(&user("alice")).await;
    round.valkey.kill_and_restart().unwrap();
    assert_eq!(round.reserve(&user("bob")).await, Reserve::UnknownSale);
    let nobody = Stock::new("redis://127.0.0.1:1").unwrap();
    let asked = nobody.round(&round.id).reserve(Uuid::now_v7(), &user("bob"), BuyerClass::EVERYONE).await;
    assert!(asked.is_err(), "no Redis is no answer: {asked:?}");
}

/// A failover can leave the count of returned units above what the set has.
#[tokio::test]
async fn a_count_that_is_too_high_stops_nobody() {
    let round = TestRound::start(terms(2, 1)).await;
    round.release(&round.buy(&user("alice")).await).await;
    let () = round.redis().await.del("free:{lamp:1:0}").await.unwrap();
    assert_eq!(round.buy(&user("bob")).await.unit, Unit(2));
    assert!(matches!(round.reserve(&user("carol")).await, Reserve::SoldOut(_)));
    assert_eq!(round.view().await.counters.returned, 0);
}
